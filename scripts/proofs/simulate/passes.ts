/** When background work looks for something to do, and when a process pushes events: idle time costs nothing. */
import type { Simulation } from "./simulation.ts";
import type { Platform } from "../../../src/platform/process/compose.ts";
import { INJECTED } from "./plan.ts";
import type { PlatformProcess } from "./platform_process.ts";
import { eventsToPush } from "./receiver.ts";

const EVERY_MS = 1000;
/** Between passes while no order is on its way; the longer no party has sent anything, the rarer they become. */
const IDLE_MS = 600_000;
const LONGEST_IDLE_MS = 1_800_000;

/** Runs the next pass: a second after the next order falls due, or after an order is written; else much later. */
export function nextPass(simulation: Simulation, run: () => void): () => void {
  const { database, scheduler, onOrder } = simulation;
  const queued = database.list({ prefix: ["outbox_queue"], limit: 100 });
  const nextDue = Math.min(...queued.map(({ key }) => Number(key[2]) - scheduler.now()));
  const quiet = scheduler.now() - simulation.lastRequestAt();
  const idle = Math.min(Math.max(IDLE_MS, quiet), LONGEST_IDLE_MS);
  const wait = Math.min(idle, Math.max(0, nextDue) + EVERY_MS);
  let cancel = scheduler.after(wait, () => {
    onOrder.delete(wake);
    run();
  });
  function wake(): void {
    onOrder.delete(wake);
    cancel();
    cancel = scheduler.after(EVERY_MS, run);
  }
  onOrder.add(wake);
  return () => {
    onOrder.delete(wake);
    cancel();
  };
}

/** Between passes that push nothing, such as those of a process whose clock is behind. */
const MAX_PAUSE_MS = 60_000;

/** Pushes what is due until the process dies. */
export async function pushEvents(
  simulation: Simulation,
  process: PlatformProcess,
  { deliverEvents }: Platform,
): Promise<void> {
  for (let pause = EVERY_MS; process.isAlive();) {
    const isNew = await untilDue(simulation, pause);
    if (!process.isAlive()) return;
    const pushed = await deliverEvents().catch((error) => {
      if (!String(error).includes(INJECTED)) simulation.violated("no unexpected error", String(error));
      return 0;
    });
    pause = isNew || pushed > 0 ? EVERY_MS : Math.min(2 * pause, MAX_PAUSE_MS);
  }
}

/** Resolves with true if an event was stored meanwhile. */
function untilDue({ database, scheduler, onEvent }: Simulation, pause: number): Promise<boolean> {
  const dueAt = Math.min(...eventsToPush(database).map(({ value }) => dueAtOf(value)));
  return new Promise((resolve) => {
    const cancel = dueAt === Infinity
      ? (): void => {}
      : scheduler.after(Math.max(pause, dueAt - scheduler.now()), () => {
        onEvent.delete(wake);
        resolve(false);
      });
    function wake(): void {
      cancel();
      onEvent.delete(wake);
      scheduler.after(EVERY_MS, () => resolve(true));
    }
    onEvent.add(wake);
  });
}

function dueAtOf(value: unknown): number {
  const { push } = value as { readonly push?: { readonly dueAt: number; readonly dead: boolean } };
  return push === undefined ? 0 : push.dead ? Infinity : push.dueAt;
}
