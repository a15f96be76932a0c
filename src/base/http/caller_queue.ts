/**
 * Queues the requests that wait for a place, by caller. Callers take turns, so that one caller's long queue does not
 * delay the others.
 */

/** A caller with requests in work or waiting. */
export interface Caller {
  readonly name: string;
  /** Requests that have entered and not left. */
  open: number;
  readonly urgent: Waiting[];
  readonly ordinary: Waiting[];
}

export interface Waiting {
  readonly caller: Caller;
  readonly urgent: boolean;
  /** Ends the wait. */
  readonly grant: () => void;
}

export interface CallerQueue {
  caller(name: string): Caller;
  /**
   * Queues a request for at most `waitMs` milliseconds. Resolves with true if it gets a place in time. Returns
   * undefined if the queue is full for this caller.
   */
  add(caller: Caller, urgent: boolean, waitMs: number): Promise<boolean> | undefined;
  /**
   * Removes and returns the next request. A caller's urgent requests come first. Without `ordinaryToo`, only urgent
   * ones are considered.
   */
  next(ordinaryToo: boolean): Waiting | undefined;
  /** Removes a caller that has no open and no waiting request. */
  forgetIdle(caller: Caller): void;
  waiting(): number;
}

/** Limit of each of the two queues of one caller. A burst that the rate limits allow fits in. */
const MAX_WAITING_A_CALLER = 256;
/** If this many requests wait in total, a caller has at most one urgent and one ordinary request waiting. */
const MAX_WAITING = 1024;
/** Requests of one caller in work or waiting for another party. Bounds the memory that one slow bank can hold. */
const MAX_OPEN_A_CALLER = 128;
/** The common name of all callers that cannot be told apart. */
export const UNKNOWN_CALLER = "";

/**
 * Whether one more request of the caller may be in work. A bound on unknown callers would let a few block all others.
 */
export function mayOpen({ name, open }: Caller): boolean {
  return name === UNKNOWN_CALLER || open < MAX_OPEN_A_CALLER;
}

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
      callers.set(caller.name, caller); // forgetIdle may have removed the caller
      return waitIn(line, counts, { caller, urgent }, waitMs);
    },
    next(ordinaryToo) {
      if (counts.waiting === 0) return undefined;
      for (const caller of callers.values()) {
        if (!mayOpen(caller)) continue;
        const found = caller.urgent.shift() ?? (ordinaryToo ? caller.ordinary.shift() : undefined);
        if (found === undefined) continue;
        counts.waiting -= 1;
        callers.delete(caller.name);
        callers.set(caller.name, caller); // its next turn comes after those of all other callers
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
