/** A process that has test files loaded and runs single tests of them on request, with a change or without. */
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { ANSWER, type TestRequest, type TestResult } from "./mutation_tests.ts";
import { TEST_RIGHTS } from "./tree.ts";

/** What came of a request: its results, or why there are none. */
export type Ran = readonly TestResult[] | "hangs" | "ended" | "not loaded";

/** Restarts itself after a test that hangs or ends the process. */
export interface TestProcess extends AsyncDisposable {
  run(request: TestRequest, maxMs: number): Promise<Ran>;
  /** Ends the process; the next request begins a new one. */
  restart(): Promise<void>;
}

interface Running {
  readonly child: Deno.ChildProcess;
  readonly writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly lines: AsyncIterator<string>;
}

/** @param folder the tree whose tests it runs */
export function testProcess(folder: string): TestProcess {
  let running: Running | undefined;
  const restart = async (): Promise<void> => {
    const { child } = running ?? {};
    running = undefined;
    if (child === undefined) return;
    try {
      child.kill("SIGKILL");
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // it has ended
    }
    await child.status;
  };
  return {
    async run(request, maxMs) {
      running ??= startProcess(folder);
      const line = new TextEncoder().encode(`${JSON.stringify(request)}\n`);
      await running.writer.write(line).catch(() => {}); // it has ended: so has its output
      const answered = await within(maxMs, readAnswer(running.lines));
      if (typeof answered === "string") await restart();
      return answered;
    },
    restart,
    [Symbol.asyncDispose]: restart,
  };
}

function startProcess(folder: string): Running {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-check", "--no-prompt", ...TEST_RIGHTS, PROGRAM],
    cwd: folder,
    env: { NO_COLOR: "1", __IS_WSL_TEST__: "1" },
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const lines = createInterface({ input: Readable.fromWeb(child.stdout) })[Symbol.asyncIterator]();
  return { child, writer: child.stdin.getWriter(), lines };
}

const PROGRAM = "scripts/proofs/mutants/mutation_tests.ts";

async function readAnswer(lines: AsyncIterator<string>): Promise<Ran> {
  for (;;) {
    const { value, done } = await lines.next();
    if (done === true) return "ended";
    if (!value.startsWith(ANSWER)) continue;
    const answer = JSON.parse(value.slice(ANSWER.length)) as readonly TestResult[] | string;
    return typeof answer === "string" ? "not loaded" : answer;
  }
}

async function within(maxMs: number, answer: Promise<Ran>): Promise<Ran> {
  const { promise, resolve } = Promise.withResolvers<Ran>();
  const timer = setTimeout(() => resolve("hangs"), maxMs);
  try {
    return await Promise.race([answer, promise]);
  } finally {
    clearTimeout(timer);
  }
}
