/**
 * A lane has a bounded number of requests in work, and a bounded queue in front of them in which callers take turns.
 * A caller that sends a thousand requests delays only its own: the next free place goes to the next waiting caller.
 */

export interface LaneBounds {
  /** Requests in work at once. */
  readonly places: number;
  /** The places that ordinary requests may take. The others are kept free for urgent requests. */
  readonly ordinaryPlaces: number;
  /** A request that has waited this long for a place is rejected, milliseconds. */
  readonly waitMs: number;
}

/** The current numbers of a lane. Rejected requests are counted since the start of the process. */
export interface LaneState {
  readonly places: number;
  readonly inWork: number;
  readonly waiting: number;
  /** Rejected because the queue was full. */
  readonly rejectedFull: number;
  /** Rejected because no place became free in time. */
  readonly rejectedLate: number;
}

interface Hold {
  readonly caller: Caller;
  urgent: boolean;
}

export class FairLane {
  readonly #bounds: LaneBounds;
  readonly #queue = openCallerQueue();
  /**
   * Admitted requests that have waited for another party and need a place again. They come before all queued
   * requests.
   */
  readonly #returning: { readonly hold: Hold; readonly resume: () => void }[] = [];
  #inWork = 0;
  #ordinary = 0;
  #rejectedFull = 0;
  #rejectedLate = 0;

  constructor(bounds: LaneBounds) {
    this.#bounds = bounds;
  }

  /** Returns a place, at once or after a wait, or undefined if the request is rejected. */
  enter(name: string, urgent: boolean): Place | Promise<Place | undefined> {
    const caller = this.#queue.caller(name);
    const free = this.#inWork < this.#bounds.places && this.#returning.length === 0;
    if (!free || !(urgent || this.#ordinaryFits()) || !mayOpen(caller)) {
      return this.wait(caller, urgent).then((granted) =>
        granted ? new Place(this, { caller, urgent }) : undefined
      );
    }
    const hold = { caller, urgent };
    caller.open += 1;
    this.#count(hold, 1);
    return new Place(this, hold);
  }

  state(): LaneState {
    return {
      places: this.#bounds.places,
      inWork: this.#inWork,
      waiting: this.#queue.waiting(),
      rejectedFull: this.#rejectedFull,
      rejectedLate: this.#rejectedLate,
    };
  }

  /** For {@link Place}: waits in the queue. */
  async wait(caller: Caller, urgent: boolean): Promise<boolean> {
    const waited = this.#queue.add(caller, urgent, this.#bounds.waitMs);
    if (waited === undefined) this.#rejectedFull += 1;
    this.#dispatch(); // a place may be free: a demoted request has just released one
    const granted = await waited ?? false;
    if (waited !== undefined && !granted) this.#rejectedLate += 1;
    if (!granted) this.#queue.forgetIdle(caller);
    return granted;
  }

  /** For {@link Place}: the request has released its place. */
  free(hold: Hold): void {
    this.#count(hold, -1);
    this.#dispatch();
  }

  /** For {@link Place}: the request needs a place again. */
  async reenter(hold: Hold): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#returning.push({ hold, resume: resolve });
    this.#dispatch();
    await promise;
  }

  /** For {@link Place}: the request has ended. */
  end({ caller }: Hold): void {
    caller.open -= 1;
    this.#queue.forgetIdle(caller);
    this.#dispatch();
  }

  #dispatch(): void {
    while (this.#inWork < this.#bounds.places) {
      const back = this.#returning.shift();
      if (back !== undefined) {
        this.#count(back.hold, 1);
        back.resume();
        continue;
      }
      const next = this.#queue.next(this.#ordinaryFits());
      if (next === undefined) return;
      next.caller.open += 1;
      this.#count(next, 1);
      next.grant();
    }
  }

  #ordinaryFits(): boolean {
    return this.#ordinary < this.#bounds.ordinaryPlaces;
  }

  #count({ urgent }: Hold, by: 1 | -1): void {
    this.#inWork += by;
    if (!urgent) this.#ordinary += by;
  }
}

export class Place {
  readonly #lane: FairLane;
  readonly #hold: Hold;
  #state: "in work" | "waiting" | "left" = "in work";
  /** A request may wait for several parties at once. */
  #waits = 0;
  /** Under way if the request waits for its place again: one place, however many of its waits have ended meanwhile. */
  #reentering: Promise<void> | undefined;

  constructor(lane: FairLane, hold: Hold) {
    this.#lane = lane;
    this.#hold = hold;
  }

  /** Frees the place while the request waits for another party, and takes one again afterwards. */
  async releaseWhile<T>(wait: () => Promise<T>): Promise<T> {
    this.#waits += 1;
    if (this.#state === "in work") {
      this.#state = "waiting";
      this.#lane.free(this.#hold);
    }
    try {
      return await wait();
    } finally {
      this.#waits -= 1;
      if (this.#waits === 0 && this.#state === "waiting") await (this.#reentering ??= this.#reenter());
    }
  }

  async #reenter(): Promise<void> {
    await this.#lane.reenter(this.#hold);
    this.#reentering = undefined;
    // The request may have ended before its wait, if the bank did not answer in time. It may also wait for another
    // party by now.
    if (this.#hasLeft() || this.#waits > 0) this.#lane.free(this.#hold);
    else this.#state = "in work";
  }

  /** Continues as an ordinary request as soon as a place is free. Returns false if none becomes free in time. */
  async demote(): Promise<boolean> {
    const { caller, urgent } = this.#hold;
    if (!urgent || this.#state !== "in work") return true;
    this.leave();
    if (!await this.#lane.wait(caller, false)) return false;
    this.#hold.urgent = false;
    this.#state = "in work";
    return true;
  }

  /** Frees the place for good. */
  leave(): void {
    const before = this.#state;
    if (before === "left") return;
    this.#state = "left";
    if (before === "in work") this.#lane.free(this.#hold);
    this.#lane.end(this.#hold);
  }

  #hasLeft(): boolean {
    return this.#state === "left";
  }
}

// Queues the requests that wait for a place, by caller. Callers take turns, so that one caller's long queue does not
// delay the others.

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
