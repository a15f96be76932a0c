/**
 * Bounds the pushes under way, per bank and in total. A free slot goes to the waiting bank with the fewest pushes
 * under way, so that slow banks cannot delay another bank: a push ends within 5 s, and a bank with none is next.
 */
import type { BankCode } from "../../base/kernel/identifiers.ts";

/** Limits of one process. A bank that takes a second for each order still gets 100 orders a second. */
export const MAX_PUSHES = { perBank: 100, total: 400 };

export interface PushSlots {
  /**
   * Waits for a slot.
   *
   * @returns the function that frees it
   */
  take(bank: BankCode): Promise<() => void>;
  /** Takes a slot if one is free now. */
  takeFree(bank: BankCode): (() => void) | undefined;
}

export function openPushSlots(max: { readonly perBank: number; readonly total: number }): PushSlots {
  const inUse = new Map<BankCode, number>();
  const waiting = new Map<BankCode, (() => void)[]>();
  let total = 0;
  const usedBy = (bank: BankCode): number => inUse.get(bank) ?? 0;
  const grant = (): void => {
    if (total >= max.total) return;
    const [bank] = [...waiting.keys()].filter((waiter) => usedBy(waiter) < max.perBank)
      .sort((one, other) => usedBy(one) - usedBy(other));
    if (bank === undefined) return;
    const [first, ...others] = waiting.get(bank) ?? [];
    waiting.delete(bank); // moves the bank behind banks with as many pushes
    if (others.length > 0) waiting.set(bank, others);
    inUse.set(bank, usedBy(bank) + 1);
    total++;
    first?.();
  };
  const free = (bank: BankCode): void => {
    total--;
    if (usedBy(bank) > 1) inUse.set(bank, usedBy(bank) - 1);
    else inUse.delete(bank);
    grant();
  };
  return {
    async take(bank) {
      const granted = Promise.withResolvers<void>();
      waiting.set(bank, [...waiting.get(bank) ?? [], granted.resolve]);
      grant();
      await granted.promise;
      return () => free(bank);
    },
    takeFree(bank) {
      if (total >= max.total || usedBy(bank) >= max.perBank) return undefined;
      inUse.set(bank, usedBy(bank) + 1);
      total++;
      return () => free(bank);
    },
  };
}
