/** A sandbox's process, killed and started again on the same folder and ports. */
import { readEndpoints, type SandboxEndpoints } from "../../../src/sandbox/shop/sandbox_endpoints.ts";

export interface SandboxProcess {
  readonly endpoints: SandboxEndpoints;
  /** Resolves as soon as it answers. */
  ready(): Promise<void>;
  /** `kill -9`, then a start on the same folder. Kills wait for each other. */
  killAndRestart(): Promise<void>;
  /** Ends it in good order. Its files stay. */
  stop(): Promise<void>;
  /** Ends it in any case. */
  end(): Promise<void>;
}

export interface SandboxProcessOptions {
  readonly dir: string;
  /** First of its six ports. */
  readonly port: number;
  /** Another configuration file than the project's. */
  readonly denoConfig?: string | undefined;
  /** More variables. */
  readonly env?: Readonly<Record<string, string>>;
}

const ROOT = new URL("../../../", import.meta.url).pathname;
const PERMISSIONS = [
  "--allow-net",
  "--allow-read",
  "--allow-write",
  "--allow-env",
  "--allow-sys=hostname,uid",
];
const START_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 20;

/** Starts it. @throws {Error} if it does not answer within a minute */
export async function startSandboxProcess(options: SandboxProcessOptions): Promise<SandboxProcess> {
  const { dir } = options;
  let child = spawn(options);
  let up: Promise<unknown> = untilReady(dir, child);
  try {
    await up;
  } catch (error) {
    await end(child, "SIGKILL");
    throw error;
  }
  async function restart(): Promise<void> {
    await end(child, "SIGKILL");
    await removeEndpoints(dir); // left by the killed process: the next one writes it when it answers
    child = spawn(options);
    await untilReady(dir, child);
  }
  return {
    endpoints: await endpointsOf(dir),
    ready: async () => void await up,
    async killAndRestart(): Promise<void> {
      const before = up;
      const next = (async () => {
        await before;
        await restart();
      })();
      up = next;
      await next;
    },
    stop: () => end(child, "SIGTERM"),
    end: () => end(child, "SIGKILL"),
  };
}

function spawn(
  { dir, port, denoConfig = `${ROOT}deno.json`, env = {} }: SandboxProcessOptions,
): Deno.ChildProcess {
  const main = `${ROOT}src/sandbox/main.ts`;
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-prompt", "--no-check", ...PERMISSIONS, "--config", denoConfig, main],
    env: { ...env, SANDBOX_DIR: dir, SANDBOX_PORT: String(port) },
    stdin: "null",
    stdout: "null",
    stderr: "inherit",
  }).spawn();
}

/** @throws {Error} when it ends, or takes too long */
async function untilReady(dir: string, child: Deno.ChildProcess): Promise<void> {
  let ended: number | undefined;
  child.status.then(({ code }) => ended = code);
  for (let waited = 0; waited < START_WITHIN_MS; waited += LOOK_EVERY_MS) {
    if (await readEndpoints(dir) !== undefined) return;
    if (ended !== undefined) throw new Error(`the sandbox ended with ${ended}`);
    await new Promise((done) => setTimeout(done, LOOK_EVERY_MS));
  }
  throw new Error("the sandbox did not start");
}

async function endpointsOf(dir: string): Promise<SandboxEndpoints> {
  const endpoints = await readEndpoints(dir);
  if (endpoints === undefined) throw new Error("the sandbox has no endpoints.json");
  return endpoints;
}

async function removeEndpoints(dir: string): Promise<void> {
  try {
    await Deno.remove(`${dir}/endpoints.json`);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

async function end(child: Deno.ChildProcess, signal: Deno.Signal): Promise<void> {
  try {
    child.kill(signal);
  } catch {
    // it has ended
  }
  await child.status;
}
