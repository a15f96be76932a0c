/** The sandbox as a person starts it: a process of its own, seen through its output, its signals and its files. */

/** A started process. */
export interface SandboxProcess {
  /** Resolves with the output so far when the sandbox says that it is ready; rejects when it ends before. */
  readonly ready: Promise<string>;
  readonly ended: Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>;
  kill(signal: Deno.Signal): void;
}

const main = new URL("../../src/sandbox/main.ts", import.meta.url).pathname;
const config = new URL("../../deno.json", import.meta.url).pathname;

/** Starts `src/sandbox/main.ts` with the permissions of `deno task start`. */
export function startSandbox(
  env: {
    readonly SANDBOX_DIR: string;
    readonly SANDBOX_PORT: string;
    readonly PLATFORM_KEEP_CASES_DAYS?: string;
  },
): SandboxProcess {
  const permissions = [
    "--allow-net",
    "--allow-read",
    "--allow-write",
    "--allow-env",
    "--allow-sys=hostname,uid",
  ];
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-prompt", "--no-check", ...permissions, "--config", config, main],
    env: { ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const ready = Promise.withResolvers<string>();
  ready.promise.catch(() => {}); // a test that expects the process to end does not await `ready`
  const ended = watch(child, ready);
  return { ready: ready.promise, ended, kill: (signal) => child.kill(signal) };
}

async function watch(child: Deno.ChildProcess, ready: PromiseWithResolvers<string>): SandboxProcess["ended"] {
  const [stdout, stderr, status] = await Promise.all([
    readUntilEnd(child.stdout, (text) => text.includes("Press Ctrl-C") && ready.resolve(text)),
    readUntilEnd(child.stderr, () => {}),
    child.status,
  ]);
  ready.reject(new Error(`the sandbox ended with ${status.code}: ${stderr}`));
  return { code: status.code, stdout, stderr };
}

async function readUntilEnd(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  progress: (text: string) => unknown,
): Promise<string> {
  let text = "";
  for await (const part of stream.pipeThrough(new TextDecoderStream())) {
    text += part;
    progress(text);
  }
  return text;
}
