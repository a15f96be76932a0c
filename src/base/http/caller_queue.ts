/** Requests that wait for a place, by caller. Callers take turns, so that a long queue of one delays no other. */

/** A caller with requests in work or waiting. */
export interface Caller {
  readonly name: string;
  /** Requests that have entered and not left. */
  open: number;
  readonly urgent: Waiting[];
  readonly ordinary: Waiting[];
}

/** A request that waits. */
export interface Waiting {
  readonly caller: Caller;
  readonly urgent: boolean;
  /** Ends the wait. */
  readonly grant: () => void;
}

/** The queue. */
export interface CallerQueue {
  caller(name: string): Caller;
  /** Resolves with whether the wait ended with a place; undefined if the queue is full for this caller. */
  add(caller: Caller, urgent: boolean, waitMs: number): Promise<boolean> | undefined;
  /** Takes out the next request: urgent ones of a caller first, and without `ordinaryToo` no others. */
  next(ordinaryToo: boolean): Waiting | undefined;
  /** Forgets a caller of whom nothing is open and nothing waits. */
  forgetIdle(caller: Caller): void;
  waiting(): number;
}

/** Urgent and ordinary requests of one caller, each. A burst that the rate limits allow fits in. */
const MAX_WAITING_A_CALLER = 256;
/** From so many on, a caller has at most one urgent and one ordinary request waiting. */
const MAX_WAITING = 1024;
/** Requests of one caller that are in work or wait for another party: bounds the memory that its slow bank can hold. */
export const MAX_OPEN_A_CALLER = 128;

/** Opens an empty queue. */
export function openCallerQueue(): CallerQueue {
  const callers = new Map<string, Caller>(); // in the order of their turns
  const counts = { waiting: 0 };
  return {
    caller(name) {
      const known = callers.get(name);
      if (known !== undefined) return known;
      const fresh: Caller = { name, open: 0, urgent: [], ordinary: [] };
      callers.set(name, fresh);
      return fresh;
    },
    add(caller, urgent, waitMs) {
      const line = urgent ? caller.urgent : caller.ordinary;
      if (line.length >= (counts.waiting < MAX_WAITING ? MAX_WAITING_A_CALLER : 1)) return undefined;
      callers.set(caller.name, caller); // a caller that gave up its only place was forgotten
      return waitIn(line, counts, { caller, urgent }, waitMs);
    },
    next(ordinaryToo) {
      if (counts.waiting === 0) return undefined;
      for (const caller of callers.values()) {
        if (caller.open >= MAX_OPEN_A_CALLER) continue;
        const found = caller.urgent.shift() ?? (ordinaryToo ? caller.ordinary.shift() : undefined);
        if (found === undefined) continue;
        counts.waiting -= 1;
        callers.delete(caller.name);
        callers.set(caller.name, caller); // its next turn comes after everybody else's
        return found;
      }
      return undefined;
    },
    forgetIdle({ name, open, urgent, ordinary }) {
      if (open + urgent.length + ordinary.length === 0) callers.delete(name);
    },
    waiting: () => counts.waiting,
  };
}

function waitIn(
  line: Waiting[],
  counts: { waiting: number },
  request: Omit<Waiting, "grant">,
  waitMs: number,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => {
    line.splice(line.indexOf(entry), 1);
    counts.waiting -= 1;
    resolve(false);
  }, waitMs);
  const grant = (): void => {
    clearTimeout(timer);
    resolve(true);
  };
  const entry: Waiting = { ...request, grant };
  line.push(entry);
  counts.waiting += 1;
  return promise;
}
