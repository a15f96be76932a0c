/** What a hold says of a comparison, and from when on the bank must state its orders. */
import { assertEquals } from "@std/assert";
import { asBankCode, asPaymentId } from "../../../../src/base/kernel/identifiers.ts";
import {
  countFinding,
  type Hold,
  NOTHING_COMPARED,
} from "../../../../src/platform/operations/recovery/hold.ts";
import {
  findHold,
  holdHistoryOf,
  lastOfHolds,
  listHolds,
  orderHoldRecord,
  stageHold,
  stageRelease,
} from "../../../../src/platform/operations/recovery/hold_store.ts";
import { commitIfUnchanged } from "../../../../src/base/store/transaction.ts";
import { down, openPushEnvironment, paid } from "support/orders.ts";
import { historyOf } from "testing/histories.ts";
import { openTestStore } from "testing/test_store.ts";
import { copyOf, restore } from "support/restored_store.ts";

Deno.test("a comparison counts each finding once, and keeps the first 100 disagreements [G9]", () => {
  let comparison = NOTHING_COMPARED;
  for (const finding of ["recovered", "updated", "agreed", "agreed"] as const) {
    comparison = countFinding(comparison, finding);
  }
  assertEquals(comparison, { recovered: 1, updated: 1, agreed: 2, disagreements: [] });
  const ids = Array.from({ length: 101 }, () => asPaymentId(crypto.randomUUID()));
  for (const paymentId of ids) {
    if (paymentId !== undefined) comparison = countFinding(comparison, { paymentId, why: "another amount" });
  }
  assertEquals(comparison.disagreements.map(({ paymentId }) => paymentId), ids.slice(0, 100));
});

Deno.test("of two processes that begin a hold at once, one does, and the history goes on from its entry [G9, M2]", async () => {
  await using store = await openTestStore();
  const bank = asBankCode("BANKA");
  if (bank === undefined) throw new Error("no bank");
  const began = { bank, epoch: "epoch", restoredAt: 1, since: 0 };
  const begin = async (): Promise<(at: number) => Promise<boolean>> => {
    const last = await lastOfHolds(store, bank);
    const deps = { store, clock: (): number => 0 };
    return (at) => commitIfUnchanged(deps, (tx) => stageHold(tx, last, began, at, "restored"));
  };
  const [first, second, third] = [await begin(), await begin(), await begin()];
  assertEquals([await first(1), await second(1), await third(2)], [true, false, false]);
  const next = await begin();
  assertEquals(await next(1), true);
  assertEquals((await historyOf(store, holdHistoryOf(bank))).map(({ sequence }) => sequence), [1, 2]);
});

Deno.test("a bank states its orders from an hour before the copy, or before its oldest order in the copy [G9]", async () => {
  await using env = await openPushEnvironment(down);
  const orderedAt = env.now;
  await paid(env);
  env.now += 7_200_000;
  await paid(env);
  env.now += 7_200_000;
  const takenAt = env.now;
  const copy = await copyOf(env);
  env.now += 60_000;
  await restore(env, copy);
  const sinceOf = async (bank: string) => (await env.store.get<Hold>(["order_hold", bank]))?.value.since;
  assertEquals([await sinceOf("BANKA"), await sinceOf("BANKB")], [
    orderedAt - 3_600_000,
    takenAt - 3_600_000,
  ]);
});

Deno.test("of two changes of a hold one commits, also if the other is its release [G9]", async () => {
  await using env = await openPushEnvironment(down);
  await restore(env, await copyOf(env));
  const deps = { store: env.store, clock: () => env.now };
  const bank = asBankCode("BANKA");
  const found = bank === undefined ? null : await findHold(env.store, bank);
  if (found === null) throw new Error("no hold");
  const change = () =>
    commitIfUnchanged(deps, (tx) => orderHoldRecord.replace(tx, found.key, found, found.value));
  assertEquals([await change(), await change()], [true, false]);
  const release = { actor: "operator maria", reason: "asked for", at: env.now };
  assertEquals(await commitIfUnchanged(deps, (tx) => stageRelease(tx, found, release)), false);
  assertEquals((await listHolds(env.store)).length, 2);
});

Deno.test("the holds of a bank after each of two restores are one history [G9] [M2]", async () => {
  await using env = await openPushEnvironment(down);
  const bank = asBankCode("BANKA");
  const deps = { store: env.store, clock: () => env.now };
  for (const _ of [1, 2]) {
    await restore(env, await copyOf(env));
    const held = bank === undefined ? null : await findHold(env.store, bank);
    if (held === null) throw new Error("no hold");
    const release = { actor: "operator maria", reason: "asked for", at: env.now };
    assertEquals(await commitIfUnchanged(deps, (tx) => stageRelease(tx, held, release)), true);
  }
  assertEquals((await historyOf(env.store, "order hold BANKA")).map(({ event }) => event), [
    "order_hold.begun",
    "order_hold.released",
    "order_hold.begun",
    "order_hold.released",
  ]);
});
