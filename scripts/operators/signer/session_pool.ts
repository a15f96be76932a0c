/**
 * The sessions of a token. A session does one operation at a time. Callers wait for a free one, in order, and no longer
 * than the deadline, which counts the operation too. A session whose operation does not return stays in use, so that a
 * token that hangs takes at most `sessions` threads.
 */

/** The token has not done an operation in time, or has too much to do. */
export class TokenBusy extends Error {
  override readonly name = "TokenBusy";
}

export interface PoolBounds {
  readonly sessions: number;
  /** Callers that wait for a session. */
  readonly waiting: number;
  readonly deadlineMs: number;
}

/** Runs an operation with a session. @throws {TokenBusy}, or what the operation throws */
export type WithSession<Session> = <T>(operate: (session: Slot<Session>) => Promise<T>) => Promise<T>;

/** The place of a session, which an operation may replace by a new one. */
export interface Slot<Session> {
  session: Session | undefined;
}

/** Opens a pool. Its slots are empty at first. */
export function openSessionPool<Session>(bounds: PoolBounds): WithSession<Session> {
  const free: Slot<Session>[] = Array.from({ length: bounds.sessions }, () => ({ session: undefined }));
  const waiting: ((slot: Slot<Session>) => void)[] = [];
  const release = (slot: Slot<Session>): void => {
    const next = waiting.shift();
    if (next === undefined) free.push(slot);
    else next(slot);
  };
  return async (operate) => {
    const { promise: late, reject } = Promise.withResolvers<never>();
    late.catch(() => {}); // nobody awaits it if the operation is in time
    let leave = (): void => {};
    const timer = setTimeout(() => {
      leave();
      reject(new TokenBusy(`the token has not answered within ${bounds.deadlineMs} ms`));
    }, bounds.deadlineMs);
    const slotOf = (): Promise<Slot<Session>> | Slot<Session> => {
      const slot = free.pop();
      if (slot !== undefined) return slot;
      if (waiting.length >= bounds.waiting) throw new TokenBusy("too many requests wait for the token");
      const { promise, resolve } = Promise.withResolvers<Slot<Session>>();
      waiting.push(resolve);
      leave = () => void waiting.splice(waiting.indexOf(resolve), waiting.includes(resolve) ? 1 : 0);
      return promise;
    };
    const work = async (): ReturnType<typeof operate> => {
      const slot = await slotOf();
      return await operate(slot).finally(() => release(slot));
    };
    try {
      const done = work();
      done.catch(() => {}); // it may fail after the deadline
      return await Promise.race([done, late]);
    } finally {
      clearTimeout(timer);
    }
  };
}
