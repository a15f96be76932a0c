/** When the platform's background work looks for something to do: time in which there is nothing costs nothing. */
import type { Simulation } from "./simulation.ts";

const EVERY_MS = 1000;
/** Between passes while no order is on its way. */
const IDLE_MS = 600_000;

/** Runs the next pass: after a second while there are orders to push, or when there is one; else much later. */
export function nextPass({ database, scheduler, onOrder }: Simulation, run: () => void): () => void {
  const [waiting] = database.list({ prefix: ["outbox"], limit: 1 });
  if (waiting !== undefined) return scheduler.after(EVERY_MS, run);
  let cancel = scheduler.after(IDLE_MS, () => {
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
