/**
 * Bounds the pushes under way, per receiver and in total. A free slot goes to the waiting receiver with the fewest pushes
 * under way, so that slow receivers cannot delay another one: a push ends within 5 s, and a receiver with none is next.
 */

export interface SlotLimits {
  readonly perReceiver: number;
  readonly total: number;
}

/** Limits of orders in one process. A receiver that takes a second for each order still gets 100 orders a second. */
export const MAX_PUSHES: SlotLimits = { perReceiver: 100, total: 400 };

export interface PushSlots<R extends string> {
  /**
   * Waits for a slot.
   *
   * @returns the function that frees it
   */
  take(receiver: R): Promise<() => void>;
  /** Takes a slot if one is free now. */
  takeFree(receiver: R): (() => void) | undefined;
}

export function openPushSlots<R extends string>(max: SlotLimits): PushSlots<R> {
  const inUse = new Map<R, number>();
  const waiting = new Map<R, (() => void)[]>();
  let total = 0;
  const usedBy = (receiver: R): number => inUse.get(receiver) ?? 0;
  const grant = (): void => {
    if (total >= max.total) return;
    const [receiver] = [...waiting.keys()].filter((waiter) => usedBy(waiter) < max.perReceiver)
      .sort((one, other) => usedBy(one) - usedBy(other));
    if (receiver === undefined) return;
    const [first, ...others] = waiting.get(receiver) ?? [];
    waiting.delete(receiver); // moves the receiver behind those with as many pushes
    if (others.length > 0) waiting.set(receiver, others);
    inUse.set(receiver, usedBy(receiver) + 1);
    total++;
    first?.();
  };
  const free = (receiver: R): void => {
    total--;
    if (usedBy(receiver) > 1) inUse.set(receiver, usedBy(receiver) - 1);
    else inUse.delete(receiver);
    grant();
  };
  return {
    async take(receiver) {
      const granted = Promise.withResolvers<void>();
      waiting.set(receiver, [...waiting.get(receiver) ?? [], granted.resolve]);
      grant();
      await granted.promise;
      return () => free(receiver);
    },
    takeFree(receiver) {
      if (total >= max.total || usedBy(receiver) >= max.perReceiver) return undefined;
      inUse.set(receiver, usedBy(receiver) + 1);
      total++;
      return () => free(receiver);
    },
  };
}
