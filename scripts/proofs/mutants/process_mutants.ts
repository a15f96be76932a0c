/** Faults in what a process does when its log or its database fails, and in what it keeps of its database in memory. */
import type { Mutant } from "./mutant.ts";

const QUEUE = "src/base/observability/log_queue.ts";
const QUEUE_TESTS = ["tests/base/observability/log_queue.test.ts"];
const CACHE = "src/base/store/entry_cache.ts";
const CACHE_TESTS = ["tests/base/store/entry_cache.test.ts"];

/** In the order of the source. */
export const PROCESS_MUTANTS: readonly Mutant[] = [
  {
    name: "log-queue-without-limit",
    file: QUEUE,
    from: "if (queued + line.length >= MAX_QUEUED) return void (dropped += 1);",
    to: "",
    tests: QUEUE_TESTS,
  },
  {
    name: "log-written-by-the-caller",
    file: "src/platform/process/main.ts",
    from: "write: (bytes) => Deno.stdout.write(bytes)",
    to: "write: (bytes) => Promise.resolve(Deno.stdout.writeSync(bytes))",
    tests: ["tests/platform/process/serve/log_output.test.ts"],
  },
  {
    name: "log-failure-thrown",
    file: QUEUE,
    from: "fault = error instanceof Error ? error.message : String(error);",
    to: "throw error;",
    tests: QUEUE_TESTS,
  },
  {
    name: "lost-log-lines-not-reported",
    file: QUEUE,
    from: "if (dropped > reported) {",
    to: "if (dropped < reported) {",
    tests: QUEUE_TESTS,
  },
  {
    name: "entry-kept-while-it-is-written",
    file: CACHE,
    from: "forget(state, name);",
    to: "",
    tests: CACHE_TESTS,
  },
  {
    name: "older-read-kept-after-a-commit",
    file: CACHE,
    from: "for (const reading of readings) if (reading.names.has(name)) reading.changed.add(name);",
    to: "",
    tests: CACHE_TESTS,
  },
  {
    name: "entry-of-an-unknown-last-commit-kept",
    file: CACHE,
    from: "isDisputed: former !== undefined }",
    to: "isDisputed: false }",
    tests: CACHE_TESTS,
  },
  {
    name: "entry-of-a-failed-commit-kept",
    file: CACHE,
    from: "if (version === undefined || isDisputed) continue;",
    to: "if (isDisputed) continue;",
    tests: CACHE_TESTS,
  },
];
