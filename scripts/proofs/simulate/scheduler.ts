/**
 * The simulated time and everything that waits in it: a queue of events by time. One event runs, then everything that
 * follows from it without waiting, then the next one. Latencies are drawn from the seed, so the seed decides which of
 * several pending operations proceeds first.
 */
import { setImmediate } from "node:timers";

/** A pending event. */
interface Event {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
  cancelled: boolean;
}

/** Simulated time and its events. Times and delays are milliseconds. */
export interface Scheduler {
  /** True time, milliseconds since the Unix epoch. Clocks of parties may differ from it. */
  now(): number;
  /** Runs `run` after a delay; the result cancels it. */
  after(delay: number, run: () => void): () => void;
  /** Resolves after a delay. */
  sleep(delay: number): Promise<void>;
  /** Runs events until none is left, `isDone` holds, or the limit of steps is reached. */
  run(isDone: () => boolean, maxSteps: number): Promise<void>;
  /** How many events have run. */
  steps(): number;
  /** Forgets every pending event. */
  clear(): void;
}

const afterMicrotasks = setImmediate; // the real one: `install` replaces the global timers

/** A scheduler whose time begins at `start`. */
export function openScheduler(start: number): Scheduler {
  const queue: Event[] = [];
  let time = start;
  let order = 0;
  let steps = 0;
  const scheduler: Scheduler = {
    now: () => time,
    after(delay, run) {
      const event: Event = { at: time + Math.max(0, delay), order: order++, run, cancelled: false };
      push(queue, event);
      return () => void (event.cancelled = true);
    },
    sleep: (delay) => new Promise((resolve) => void scheduler.after(delay, resolve)),
    async run(isDone, maxSteps) {
      await settled();
      while (!isDone() && steps < maxSteps) {
        const event = pop(queue);
        if (event === undefined) return;
        if (event.cancelled) continue;
        time = Math.max(time, event.at);
        steps++;
        event.run();
        await settled();
      }
    },
    steps: () => steps,
    clear: () => void (queue.length = 0),
  };
  return scheduler;
}

/** Resolves when no microtask is left: everything that could go on without waiting has done so. */
function settled(): Promise<void> {
  return new Promise((resolve) => void afterMicrotasks(resolve));
}

function isBefore(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function push(heap: Event[], event: Event): void {
  let at = heap.length;
  heap.push(event);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || isBefore(above, event)) break;
    heap[at] = above;
    heap[at = parent] = event;
  }
}

function pop(heap: Event[]): Event | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return first;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    let least = heap[child];
    const right = heap[child + 1];
    if (least !== undefined && right !== undefined && isBefore(right, least)) {
      [least, child] = [right, child + 1];
    }
    if (least === undefined || isBefore(last, least)) break;
    heap[at] = least;
    at = child;
  }
  heap[at] = last;
  return first;
}
