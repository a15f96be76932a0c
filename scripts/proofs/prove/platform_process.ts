/** One of the platform's processes, killed and started again by its service manager. */
import { printError } from "../../command_line/print.ts";
import { type ServedPlatform, startPlatform } from "../../testing/served_platform.ts";
import { pause } from "./calls.ts";

export interface PlatformProcess {
  /** `kill -9`, then a start. Kills wait for each other. */
  kill(): Promise<void>;
  /** Ends it in good order. */
  stop(): Promise<void>;
  /** Ends it in any case. */
  end(): Promise<void>;
}

const START_WITHIN_MS = 60_000;
const PAUSE_MS = 500;

/** Starts it. @throws {Error} with its words if it does not listen within a minute */
export async function startPlatformProcess(
  dir: string,
  env: Readonly<Record<string, string>>,
): Promise<PlatformProcess> {
  let running = await start(dir, env);
  let restarting: Promise<void> = Promise.resolve();
  const end = async (signal: Deno.Signal): Promise<void> => {
    await restarting;
    running.kill(signal);
    await running.ended;
  };
  const restart = async (): Promise<void> => {
    await end("SIGKILL");
    running = await start(dir, env);
  };
  return { kill: () => restarting = restart(), stop: () => end("SIGTERM"), end: () => end("SIGKILL") };
}

/** A process that finds no primary ends, and is started again. The first fault of its own that it logs is printed. */
async function start(dir: string, env: Readonly<Record<string, string>>): Promise<ServedPlatform> {
  for (const startedAt = Date.now();;) {
    const started = await startPlatform(dir, env);
    try {
      await started.ready;
      void started.logged("request.failed").then((line) => printError(JSON.stringify(line)));
      return started;
    } catch (error) {
      if (Date.now() - startedAt > START_WITHIN_MS) throw error;
    }
    await pause(PAUSE_MS);
  }
}
