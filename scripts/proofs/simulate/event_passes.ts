/**
 * When a process pushes events: a second after one was stored, and when one is due again. The passes of the background
 * work are rare while no order is on its way, and waking all of its jobs for an event would cost more than its push.
 */
import type { Platform } from "../../../src/platform/process/compose.ts";
import { INJECTED } from "./injected.ts";
import type { PlatformProcess } from "./platform_process.ts";
import { eventsToPush } from "./receiver.ts";
import type { Simulation } from "./simulation.ts";

const EVERY_MS = 1000;
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
