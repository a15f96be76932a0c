/** The floor's process, seen from the bench: runs a job and says what it cost. */
import type { FloorJob } from "./floor.ts";
import { cpuMilliseconds } from "./process.ts";
import type { Operations } from "./stages.ts";

/** A running floor. */
export interface Floor extends AsyncDisposable {
  /** Processor time of all requests together, milliseconds. */
  run(operations: Operations, count: number, concurrency: number): Promise<number>;
}

/** Starts it on a KV file of its own. */
export async function startFloor(): Promise<Floor> {
  const folder = await Deno.makeTempDir({ prefix: "floor-" });
  const root = new URL("../../../", import.meta.url).pathname;
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--no-check",
      "--no-prompt",
      "--allow-read",
      "--allow-write",
      "--config",
      `${root}deno.json`,
      `${root}scripts/proofs/bench/floor.ts`,
      `${folder}/floor.kv`,
    ],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  const reader = child.stdout.getReader();
  return {
    async run(operations, count, concurrency) {
      const job: FloorJob = { operations, count, concurrency };
      const before = await cpuMilliseconds(child.pid);
      await writer.write(new TextEncoder().encode(`${JSON.stringify(job)}\n`));
      if ((await reader.read()).done) throw new Error("the floor ended");
      return await cpuMilliseconds(child.pid) - before;
    },
    async [Symbol.asyncDispose]() {
      await writer.close();
      await child.status;
      await reader.cancel();
      await Deno.remove(folder, { recursive: true });
    },
  };
}
