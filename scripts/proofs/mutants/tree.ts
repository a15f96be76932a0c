/** A copy of the tree in a temporary folder: faults are planted there, never in the working tree. */
/** A change of one source file. */
export interface Fault {
  /** From the project's root. */
  readonly file: string;
  /** The text with the fault. @throws {Error} if it does not apply */
  plant(source: string): string;
}

/** The result of a test run. */
export type Verdict = "passed" | "failed" | "broken" | "timed out";

export interface TestRun {
  readonly verdict: Verdict;
  readonly seconds: number;
  /** Of the run, for the reader of a surprise. */
  readonly output: string;
}

/** A copied tree. Disposing removes it. */
export interface Tree extends AsyncDisposable {
  /** Where it is. */
  readonly folder: string;
  /** Runs test files on the tree as it is, or with one fault planted. @throws {Error} if it does not apply */
  test(files: readonly string[], fault?: Fault, maxMs?: number): Promise<TestRun>;
  /** Runs a program in it. @throws {Error} if it does not end */
  run(program: string, args: readonly string[]): Promise<{ readonly output: string }>;
}

/** The key pool of the tests takes a minute to make, so the copy gets the one that there is. */
const TEST_KEYS = ".data/test-keys.json";
const MAX_RUN_MS = 600_000;
/** As `deno task test`, without the types: `deno task check` has looked at the source, and a fault may not fit them. */
const TEST = ["test", "--no-check", "--no-prompt", "--fail-fast", "--parallel"];
export const TEST_RIGHTS: readonly string[] = ["net", "read", "write", "env", "run", "sys"].map((right) =>
  `--allow-${right}`
);

/** Copies every file of the tree at `root` that git tracks or would track, as it is now. */
export async function copyTree(root: string): Promise<Tree> {
  const folder = await Deno.makeTempDir({ prefix: "mutants-" });
  const listed = await command(root, "git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
  const paths = [...listed.output.split("\0").filter((name) => name !== ""), TEST_KEYS];
  await command(root, "cp", ["--parents", "-t", folder, ...paths]); // a deleted file is still listed, and left out
  const withFault = async ({ file, plant }: Fault, run: () => Promise<TestRun>): Promise<TestRun> => {
    const source = await Deno.readTextFile(`${folder}/${file}`);
    await Deno.writeTextFile(`${folder}/${file}`, plant(source));
    try {
      return await run();
    } finally {
      await Deno.writeTextFile(`${folder}/${file}`, source);
    }
  };
  // an unused name is no reason to discount a fault: whoever makes it removes the name too
  const config = await Deno.readTextFile(`${folder}/deno.json`);
  await Deno.writeTextFile(`${folder}/deno.json`, config.replaceAll(/"(noUnused\w+)": true/g, '"$1": false'));
  return {
    folder,
    async test(files, fault, maxMs = MAX_RUN_MS) {
      const run = (): Promise<TestRun> => runTests(folder, files, maxMs);
      return fault === undefined ? await run() : await withFault(fault, run);
    },
    async run(program, args) {
      const { code, output } = await command(folder, program, args);
      if (code === undefined) throw new Error(`${program} did not end within ${MAX_RUN_MS / 1000} s`);
      return { output };
    },
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

async function runTests(folder: string, files: readonly string[], maxMs: number): Promise<TestRun> {
  const startedAt = performance.now();
  const { code, output } = await command(folder, Deno.execPath(), [...TEST, ...TEST_RIGHTS, ...files], maxMs);
  return { verdict: verdictOf(code, output), seconds: (performance.now() - startedAt) / 1000, output };
}

/** Requires a failed test: a module that does not load proves no detection. */
function verdictOf(code: number | undefined, output: string): Verdict {
  if (code === undefined) return "timed out";
  if (code === 0) return "passed";
  return /\d+ passed.*[1-9]\d* failed/.test(output) && !output.includes("(uncaught error)")
    ? "failed"
    : "broken";
}

/** The program's exit status and output; no status if it took too long and was ended. */
async function command(
  cwd: string,
  program: string,
  args: readonly string[],
  maxMs = MAX_RUN_MS,
): Promise<{ readonly code: number | undefined; readonly output: string }> {
  const signal = AbortSignal.timeout(maxMs);
  const env = { NO_COLOR: "1", __IS_WSL_TEST__: "1" };
  const child = new Deno.Command(program, { args: [...args], cwd, env, signal, stdin: "null" });
  const { code, stdout, stderr } = await child.output();
  const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
  return { code: signal.aborted ? undefined : code, output: text(stdout) + text(stderr) };
}
