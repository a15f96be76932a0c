/**
 * The open connections of a listener. Their number is bounded, and so is the time that each may take to send a request
 * or to receive a response. A handler bounds its own time.
 */

/** Limits of the time that a connection may stay in a phase, in seconds. */
export interface ConnectionTimes {
  /** From the accept until the header of the first request is complete. */
  readonly header: number;
  /** From the end of a handler until the client has taken the response and sent the header of its next request. */
  readonly idle: number;
}

export interface ConnectionControl {
  /** Closes it after the client has received the current response. It cannot be cut afterwards. */
  close(): void;
  /** Closes it at once. */
  cut(): void;
}

/** Events of one connection. Over HTTP/2 several requests may be in work at once. */
export interface Connection {
  /** The header of a request is complete. */
  began(): void;
  /** The handler has made the response. The connection ends after it if it `closes`. */
  answered(closes: boolean): void;
  closed(): void;
}

export interface ConnectionTable {
  /** Adds a connection, in the place that {@link ConnectionTable.room} has reserved. */
  add(control: ConnectionControl): Connection;
  size(): number;
  /**
   * Resolves when one more connection may be opened, and reserves its place: the caller adds one connection. To make room
   * it cuts connections without a request.
   */
  room(): Promise<void>;
  /**
   * Cuts the connection without a request whose time ends first.
   *
   * @returns whether there was one
   */
  cutWaiting(): boolean;
  /** Resolves when no handler runs, including handlers of clients that have disconnected. */
  drained(): Promise<void>;
  /** Closes all connections. Resolves when all are closed, at the latest after {@link CLOSE_TICKS}. */
  closeAll(): Promise<void>;
}

/** Times are counted in ticks, so that a delay of the process itself is not charged to its clients. */
const TICK_MS = 1000;
/** Time for the last response to reach the client before its connection is cut. */
const CLOSE_TICKS = 2;

interface Entry {
  readonly control: ConnectionControl;
  /** Number of running handlers. */
  working: number;
  /** From this tick on it may be cut to make room, because the last response had time to reach the client. */
  cutFrom: number;
  /** The tick at which its time ends. */
  deadline: number;
}

interface State {
  readonly entries: Set<Entry>;
  readonly times: ConnectionTimes;
  /** Ticks since the start. */
  now: number;
  /** Number of running handlers, including those of closed connections. */
  working: number;
  /** Resolvers of all callers that wait for a change. */
  readonly waiting: (() => void)[];
  /** Places of connections that are not added yet. */
  reserved: number;
}

/** Opens an empty table. Its timer ends with `closeAll`. */
export function openConnectionTable(maxConnections: number, times: ConnectionTimes): ConnectionTable {
  const state: State = { entries: new Set(), times, now: 0, working: 0, waiting: [], reserved: 0 };
  const { entries } = state;
  const ticking = setInterval(() => endOverdue(state), TICK_MS);
  return {
    add: (control) => addConnection(state, control),
    size: () => entries.size,
    async room() {
      while (entries.size + state.reserved >= maxConnections) {
        if (!cutWaiting(state)) await change(state);
      }
      state.reserved += 1;
    },
    cutWaiting: () => cutWaiting(state),
    async drained() {
      while (state.working > 0) await change(state);
    },
    async closeAll() {
      for (const { control } of entries) control.close();
      const last = state.now + CLOSE_TICKS;
      while (entries.size > 0 && state.now <= last) await change(state);
      clearInterval(ticking);
    },
  };
}

function addConnection(state: State, control: ConnectionControl): Connection {
  const { entries, times } = state;
  const entry = { control, working: 0, cutFrom: state.now, deadline: state.now + 1 + times.header };
  entries.add(entry);
  state.reserved -= 1;
  return {
    began() {
      state.working += 1;
      entry.working += 1;
      entry.deadline = Infinity;
    },
    answered(closes) {
      state.working -= 1;
      entry.working -= 1;
      if (entry.working === 0) {
        entry.cutFrom = state.now + 2;
        entry.deadline = state.now + 1 + (closes ? CLOSE_TICKS : times.idle);
      }
      noteChange(state);
    },
    closed() {
      entries.delete(entry);
      noteChange(state);
    },
  };
}

function change(state: State): Promise<void> {
  return new Promise((resolve) => void state.waiting.push(resolve));
}

function noteChange(state: State): void {
  if (state.waiting.length === 0) return;
  for (const resolve of state.waiting.splice(0)) resolve();
}

function endOverdue(state: State): void {
  state.now += 1;
  for (const entry of state.entries) if (entry.deadline <= state.now) cut(state, entry);
  noteChange(state);
}

function cutWaiting(state: State): boolean {
  let first: Entry | undefined;
  for (const entry of state.entries) {
    const waits = entry.working === 0 && entry.cutFrom <= state.now;
    if (waits && entry.deadline < (first?.deadline ?? Infinity)) first = entry;
  }
  if (first !== undefined) cut(state, first);
  return first !== undefined;
}

function cut(state: State, entry: Entry): void {
  state.entries.delete(entry);
  entry.control.cut();
}
