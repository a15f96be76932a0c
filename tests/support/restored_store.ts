/** A store as it is after a restore: the entries of an earlier moment, with the mark that a backup carries. */
import type { Entry } from "../../src/base/store/store.ts";
import type { Environment } from "testing/environment.ts";
import { forgetSharedTokens } from "testing/shared_token.ts";

/** Everything in the store at one moment, sealed as it is. */
export interface Copy {
  readonly takenAt: number;
  readonly entries: readonly Entry<unknown>[];
}

/** The moment's copy. */
export async function copyOf({ raw, now }: Environment): Promise<Copy> {
  return { takenAt: now, entries: await raw.list<unknown>({ prefix: [], limit: 10_000 }) };
}

const PIECE = 10;

/** Replaces the store's content by the copy, without a mark: an undetected restore. */
export async function goBackTo({ raw }: Environment, { entries }: Copy): Promise<void> {
  const nameOf = ({ key }: Entry<unknown>): string => JSON.stringify(key);
  const known = new Set(entries.map(nameOf));
  const now = await raw.list<unknown>({ prefix: [], limit: 10_000 });
  const later = now.filter((entry) => !known.has(nameOf(entry)));
  const writes = [
    ...later.map(({ key }) => ({ kind: "delete", key }) as const),
    ...entries.map(({ key, value }) => ({ kind: "set", key, value }) as const),
  ];
  for (let at = 0; at < writes.length; at += PIECE) { // a commit of Deno KV holds 800 KB
    await raw.commit({ checks: [], writes: writes.slice(at, at + PIECE) });
  }
}

/** Restores the copy as the operator does: the platform ends, the marked copy takes the store's place, it starts. */
export async function restore(env: Environment, copy: Copy): Promise<void> {
  forgetSharedTokens(env);
  await goBackTo(env, copy);
  const value = { id: crypto.randomUUID(), takenAt: copy.takenAt };
  await env.store.commit({ checks: [], writes: [{ kind: "set", key: ["store_copy"], value }] });
  await env.restart();
}

/** Ends the holds as a reconciliation of every bank does, for tests of what comes after it. */
export async function endHolds({ store }: Environment): Promise<void> {
  const holds = await store.list({ prefix: ["order_hold"], limit: 100 });
  await store.commit({ checks: [], writes: holds.map(({ key }) => ({ kind: "delete", key }) as const) });
}
