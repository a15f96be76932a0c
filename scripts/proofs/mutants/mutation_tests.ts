/**
 * Runs single tests of many files in one process, with a change of the source or without: started once, because loading
 * the platform takes longer than most tests. Reads requests from standard input and answers each on standard output, one
 * JSON line each.
 */
import process, { stdin } from "node:process";
import { createInterface } from "node:readline";
import { state } from "./mutation_switch.ts";

/** Runs tests of a file. */
export interface TestRequest {
  readonly file: string;
  /** The number of the change; 0 for none. */
  readonly chosen: number;
  /** The test to run; all of them without it. */
  readonly name?: string;
}

/** How a test ended. */
export interface TestResult {
  readonly file: string;
  readonly name: string;
  readonly passed: boolean;
  readonly ms: number;
  /** Of the processor, which is the same on a machine that does other work. */
  readonly cpuMs: number;
  /** The changes whose place it reached; only without a change. */
  readonly reached: readonly number[];
}

/** Before the JSON of an answer: tests may print too. */
export const ANSWER = "\u0001mutation ";

/** The name of the result for what a file does before its tests. */
export const LOADING = "(loading)";

type TestFunction = (context: Deno.TestContext) => void | Promise<void>;

interface RegisteredTest {
  readonly name: string;
  readonly fn: TestFunction;
}

const loaded = new Map<string, RegisteredTest[]>();
let registered: RegisteredTest[] = [];
const late: unknown[] = [];

/** Takes the place of `Deno.test`. */
function register(...given: readonly unknown[]): void {
  const options = Object.assign({}, ...given.filter((part) => typeof part === "object")) as Partial<
    Deno.TestDefinition
  >;
  const fn = given.find((part) => typeof part === "function") as TestFunction | undefined ?? options.fn;
  const name = given.find((part) => typeof part === "string") as string | undefined ?? options.name ??
    fn?.name;
  if (options.ignore === true || fn === undefined || options.permissions !== undefined) return;
  registered.push({ name: name ?? "", fn });
}

/** The tests of a file. The first time loads it. */
async function testsOf(file: string): Promise<readonly RegisteredTest[]> {
  const known = loaded.get(file);
  if (known !== undefined) return known;
  registered = [];
  await import(`${Deno.cwd()}/${file}`);
  loaded.set(file, registered);
  return registered;
}

async function run({ name, fn }: RegisteredTest): Promise<boolean> {
  late.length = 0;
  try {
    await fn(contextOf(name));
    await new Promise((resolve) => setTimeout(resolve, 0));
    return late.length === 0;
  } catch {
    return false;
  }
}

function contextOf(name: string): Deno.TestContext {
  const step = async (first: unknown, second?: unknown): Promise<boolean> => {
    const given = typeof first === "object" ? first as Deno.TestStepDefinition : undefined;
    if (given?.ignore === true) return false;
    const fn = given?.fn ?? (typeof first === "function" ? first : second) as TestFunction;
    await fn(contextOf(name));
    return true;
  };
  return { name, origin: "", step } as Deno.TestContext;
}

async function answer(request: TestRequest): Promise<readonly TestResult[]> {
  const { file, chosen, name } = request;
  const results: TestResult[] = [];
  const atLoad = state.reached = new Set<number>();
  const tests = await testsOf(file);
  if (name === undefined) {
    results.push({ file, name: LOADING, passed: true, ms: 0, cpuMs: 0, reached: [...atLoad] });
  }
  for (const test of tests) {
    if (name !== undefined && test.name !== name) continue;
    const reached = chosen === 0 ? new Set<number>() : undefined;
    Object.assign(state, { chosen, reached });
    const [startedAt, used] = [performance.now(), process.cpuUsage()];
    const passed = await run(test);
    Object.assign(state, { chosen: 0, reached: undefined });
    const ms = performance.now() - startedAt;
    const { user, system } = process.cpuUsage(used);
    const cpuMs = (user + system) / 1000;
    results.push({ file, name: test.name, passed, ms, cpuMs, reached: [...reached ?? []] });
  }
  return results;
}

function takeOver(): void {
  const noHook = (): void => {};
  const test = Object.assign(register, {
    ignore: noHook,
    only: register,
    beforeAll: noHook,
    afterAll: noHook,
    beforeEach: noHook,
    afterEach: noHook,
  });
  Object.defineProperty(Deno, "test", { value: test });
  Object.defineProperty(Deno, "exit", {
    value: () => {
      throw new Error("the program ends itself");
    },
  });
  for (const kind of ["unhandledrejection", "error"] as const) {
    globalThis.addEventListener(kind, (event) => {
      event.preventDefault();
      late.push(event);
    });
  }
}

async function main(): Promise<void> {
  takeOver();
  for await (const line of createInterface({ input: stdin })) {
    const results = await answer(JSON.parse(line) as TestRequest).catch((error: Error) => error.message);
    await Deno.stdout.write(new TextEncoder().encode(`\n${ANSWER}${JSON.stringify(results)}\n`));
  }
}

if (import.meta.main) await main();
