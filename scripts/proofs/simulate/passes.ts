/** When the platform's background work looks for something to do: time in which there is nothing costs nothing. */
import type { Simulation } from "./simulation.ts";

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
