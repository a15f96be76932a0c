/** `deno task serve` as an operator's service manager sees it: a process, its output, its signals, its exit status. */
import { present } from "./answers.ts";
import { otherRuntime } from "./other_runtime.ts";

/** A started process. */
export interface ServedPlatform {
  readonly pid: number;
  /** Resolves when it says that it listens; rejects with its words when it ends before. */
  readonly ready: Promise<void>;
  /** Its exit status, as soon as it ends. */
  readonly exited: Promise<number>;
  /** As {@link exited}, with all output read. */
  readonly ended: Promise<Ending>;
  /** The log lines so far, decoded. */
  readonly lines: readonly LogLine[];
  /** Has no effect if the process has ended. */
  kill(signal: Deno.Signal): void;
  /** Resolves with the first line of this event that the predicate accepts, from now or before. */
  logged(event: string, isWanted?: (line: LogLine) => boolean): Promise<LogLine>;
  /** Its standard output: a reader that stalls, goes on, or goes away. */
  readonly output: OutputReader;
}

/** How standard output is read. It is read from the start on. */
export interface OutputReader {
  stall(): void;
  resume(): void;
  /** Closes the pipe at this end: a write at the other end fails with EPIPE. */
  close(): Promise<void>;
}

/** A decoded log line. */
export type LogLine = Readonly<Record<string, string | number | boolean>>;

/** How it ended. */
export interface Ending {
  readonly code: number;
  readonly stderr: string;
}

const root = new URL("../../", import.meta.url).pathname;

/** Changes the command of a platform with these variables. */
export type Started = (
  command: readonly string[],
  env: Readonly<Record<string, string>>,
) => readonly string[];

/** A command that a shell runs as its `"$@"`, with limits of its own or another output. */
export function inShell(script: string): (command: readonly string[]) => readonly string[] {
  return (command) => ["sh", "-c", script, "sh", ...command];
}

/** The command of `serve` with a part of its own. */
export function serving(part?: string): (command: readonly string[]) => readonly string[] {
  return (command) => part === undefined ? command : [...command, "--only", part];
}

/** The tasks of `deno.json` that run a program. */
export interface DenoConfig {
  readonly tasks: Readonly<Record<string, { readonly command: string }>>;
}

/** The command of a task of `deno.json`, with absolute paths: it runs with the task's own permissions, anywhere. */
export async function taskCommand(name: string): Promise<string[]> {
  const config = JSON.parse(await Deno.readTextFile(`${root}deno.json`)) as DenoConfig;
  const words = present(config.tasks[name]).command.split(" ");
  return words.flatMap((word, index) => {
    if (index === 0) return [Deno.execPath()];
    if (index === 1) return [word, "--quiet", "--no-check", "--config", `${root}deno.json`];
    return [word.replace(/^(--lock=|(?=src\/|scripts\/))/, `$1${root}`)];
  });
}

/**
 * Starts the task in `folder`, with these variables and no others of this process but PATH and HOME.
 *
 * @param narrower takes the place of the task's own rights where an operator gives fewer
 * @param started by another program, such as one that limits what this one may use
 */
export async function startPlatform(
  folder: string,
  env: Readonly<Record<string, string>>,
  narrower: Readonly<Record<string, string>> = {},
  started: Started = (command) => command,
): Promise<ServedPlatform> {
  const runtime = otherRuntime(env);
  const command = runtime?.command ?? (await taskCommand("serve")).map((word) => narrower[word] ?? word);
  const variables = runtime?.env ?? env;
  return startCommand(started(command, variables), folder, variables, "platform.listening");
}

/** Starts a command in `folder`; it is ready when it logs this event. */
export function startCommand(
  [program = "", ...args]: readonly string[],
  folder: string,
  env: Readonly<Record<string, string>>,
  readyEvent: string,
): ServedPlatform {
  const inherited = Object.fromEntries(
    ["PATH", "HOME", "DENO_DIR"].flatMap((name) => {
      const value = Deno.env.get(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const child = new Deno.Command(program, {
    args,
    cwd: folder,
    clearEnv: true,
    env: { NO_COLOR: "1", ...inherited, ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  return watch(child, readyEvent);
}

function watch(child: Deno.ChildProcess, readyEvent: string): ServedPlatform {
  const lines: LogLine[] = [];
  const waiting = new Set<() => void>();
  const logged = (event: string, isWanted = (_: LogLine): boolean => true): Promise<LogLine> =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = lines.find((line) => line["event"] === event && isWanted(line));
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  const { reading, ...output } = readLines(child.stdout, (line) => {
    lines.push(JSON.parse(line) as LogLine);
    for (const look of [...waiting]) look();
  });
  const ended = Promise.all([child.status, new Response(child.stderr).text(), reading])
    .then(([{ code }, stderr]) => ({ code, stderr }));
  const ready = Promise.race([
    logged(readyEvent).then(() => {}),
    ended.then(({ code, stderr }) => {
      throw new Error(`the process ended with ${code}: ${stderr}`);
    }),
  ]);
  ready.catch(() => {}); // a test that expects the process to end does not await `ready`
  let running = true;
  const exited = child.status.then(({ code }) => code);
  void exited.then(() => running = false);
  const kill = (signal: Deno.Signal): void => {
    if (running) child.kill(signal);
    if (signal === "SIGKILL") output.resume(); // the last lines are read, however it was
  };
  return { pid: child.pid, ready, exited, ended, lines, logged, kill, output };
}

function readLines(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  take: (line: string) => void,
): OutputReader & { readonly reading: Promise<void> } {
  const reader = stream.getReader();
  let going = Promise.withResolvers<void>();
  going.resolve();
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    let rest = "";
    while (true) {
      await going.promise;
      const { done, value } = await reader.read();
      if (done) return;
      const whole = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = whole.pop() ?? "";
      for (const line of whole) take(line);
    }
  };
  return {
    reading: read(),
    stall: () => void (going = Promise.withResolvers<void>()),
    resume: () => going.resolve(),
    close: async () => await reader.cancel(),
  };
}
