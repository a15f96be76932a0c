/** `deno task serve` as an operator's service manager sees it: a process, its output, its signals, its exit status. */

/** A started process. */
export interface ServedPlatform {
  readonly pid: number;
  /** Resolves when it says that it listens; rejects with its words when it ends before. */
  readonly ready: Promise<void>;
  readonly ended: Promise<Ending>;
  /** The log lines so far, decoded. */
  readonly lines: readonly LogLine[];
  /** Does nothing where it has ended. */
  kill(signal: Deno.Signal): void;
  /** Resolves with the first line of this event, from now or before. */
  logged(event: string): Promise<LogLine>;
}

/** A decoded log line. */
export type LogLine = Readonly<Record<string, string | number | boolean>>;

/** How it ended. */
export interface Ending {
  readonly code: number;
  readonly stderr: string;
}

const root = new URL("../../", import.meta.url).pathname;

/** The command of a task of `deno.json`, with absolute paths: it runs with the task's own permissions, anywhere. */
export async function taskCommand(name: string): Promise<string[]> {
  const { tasks } = JSON.parse(await Deno.readTextFile(`${root}deno.json`));
  const words: string[] = tasks[name].command.split(" ");
  return words.flatMap((word, index) => {
    if (index === 0) return [Deno.execPath()];
    if (index === 1) return [word, "--quiet", "--no-check", "--config", `${root}deno.json`];
    return [word.startsWith("src/") || word.startsWith("scripts/") ? `${root}${word}` : word];
  });
}

/**
 * Starts the task in `folder`, with these variables and no others of this process but PATH and HOME.
 *
 * @param narrower takes the place of the task's own rights where an operator gives fewer
 */
export async function startPlatform(
  folder: string,
  env: Readonly<Record<string, string>>,
  narrower: Readonly<Record<string, string>> = {},
): Promise<ServedPlatform> {
  const [program = "", ...words] = await taskCommand("serve");
  const args = words.map((word) => narrower[word] ?? word);
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
  return watch(child);
}

function watch(child: Deno.ChildProcess): ServedPlatform {
  const lines: LogLine[] = [];
  const waiting = new Set<() => void>();
  const logged = (event: string): Promise<LogLine> =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = lines.find((line) => line["event"] === event);
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  const reading = readLines(child.stdout, (line) => {
    lines.push(JSON.parse(line));
    for (const look of [...waiting]) look();
  });
  const ended = Promise.all([child.status, new Response(child.stderr).text(), reading])
    .then(([{ code }, stderr]) => ({ code, stderr }));
  const ready = Promise.race([
    logged("platform.listening").then(() => {}),
    ended.then(({ code, stderr }) => {
      throw new Error(`the platform ended with ${code}: ${stderr}`);
    }),
  ]);
  ready.catch(() => {}); // whoever expects the end does not wait for it
  let running = true;
  void ended.then(() => running = false);
  const kill = (signal: Deno.Signal): void => running ? child.kill(signal) : undefined;
  return { pid: child.pid, ready, ended, lines, logged, kill };
}

async function readLines(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  take: (line: string) => void,
): Promise<void> {
  let rest = "";
  for await (const part of stream.pipeThrough(new TextDecoderStream())) {
    const whole = (rest + part).split("\n");
    rest = whole.pop() ?? "";
    for (const line of whole) take(line);
  }
}

/** A port that was free just now, below those that the system gives to outgoing connections of parallel tests. */
export function freePort(): number {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = 10_000 + Math.floor(Math.random() * 10_000);
    try {
      Deno.listen({ hostname: "127.0.0.1", port }).close();
      return port;
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    }
  }
  throw new Error("no free port");
}
