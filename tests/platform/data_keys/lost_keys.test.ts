/** A data key store that was restored from a copy lacks keys: what they sealed is lost, and everything else goes on. */
import { assertEquals, assertRejects } from "@std/assert";
import { caseIdOf } from "../../../src/platform/data_keys/case_id.ts";
import { dataKeyKey } from "../../../src/platform/data_keys/case_keys.ts";
import { storeCopyKey } from "../../../src/base/store/copy_mark.ts";
import { toBank } from "testing/authorization_flow.ts";
import type { Environment } from "testing/environment.ts";
import { call, clientToken } from "testing/flows.ts";
import { openBookEnvironment } from "support/bank_books.ts";
import { down, later, outboxOrder, paid } from "support/orders.ts";
import { copyOf, restore } from "support/restored_store.ts";
import { elapse, openRetaining, settled } from "support/retention.ts";

/** Takes the keys of these cases out of the data key store, as a copy from before them would lack them. */
async function loseKeys({ vault }: Environment, ...ids: readonly string[]): Promise<void> {
  const keys = ids.map((id) => dataKeyKey(caseIdOf(id) ?? ""));
  await vault.commit({ checks: [], writes: keys.map((key) => ({ kind: "delete", key })) });
}

/** Marks the data key store as a copy, as `deno task store backup` does, and starts the platform on it. */
async function startOnCopy(env: Environment, ...lost: readonly string[]): Promise<void> {
  await loseKeys(env, ...lost);
  const value = { id: crypto.randomUUID(), takenAt: env.now };
  await env.vault.commit({ checks: [], writes: [{ kind: "set", key: storeCopyKey, value }] });
  env.logged.length = 0;
  await env.restart();
}

const lostCases = ({ logged }: Environment): readonly unknown[] =>
  logged.map((line) => JSON.parse(line) as { event: string; caseId?: string })
    .filter(({ event }) => event === "data_keys.lost").map(({ caseId }) => caseId);

Deno.test("a case whose data key was lost with a restore does not exist any more, and nothing else stops [P3]", async () => {
  await using env = await openRetaining();
  const kept = await settled(env);
  const lost = await toBank(env);
  await startOnCopy(env, lost.consentId);
  const read = async (path: string): Promise<number> => {
    const token = await clientToken(env, env.tpp);
    return (await call(env, env.tpp, token, `/BANKA/domestic-payment-consents/v1${path}`)).status;
  };
  assertEquals([await read(`/${lost.consentId}`), await read(`/${kept.consentId}`)], [400, 200]);
  assertEquals(await read(""), 200);
  for (const job of ["fillLists", "sweepConsents", "retireCases", "forgetConsents"] as const) {
    await elapse(env, 90_000_000);
    await env.platform[job]();
  }
  assertEquals(lostCases(env), [caseIdOf(lost.consentId)], "told once");
  await env.restart();
  assertEquals([await read(`/${lost.consentId}`), await read(`/${kept.consentId}`)], [400, 200]);
  assertEquals(env.logged.filter((line) => line.includes('"level":"error"')).length, 1);
});

Deno.test("the store's copy may be younger than the one of the data keys: the platform starts [P3, G9]", async () => {
  await using env = await openBookEnvironment();
  const lost = await toBank(env);
  const copy = await copyOf(env);
  const { DomesticPaymentId: late } = await paid(env);
  await loseKeys(env, lost.consentId, late);
  await assertRejects(() => restore(env, copy), Error, "deno task store restored");
  await startOnCopy(env);
  assertEquals(lostCases(env), [caseIdOf(lost.consentId)]);
  const [status, { Data }] = await env.operate("/operations/order-holds/BANKA/reconcile", "");
  assertEquals([status, Data.State, Data.Recovered], [200, "released", 1], JSON.stringify(Data));
});

Deno.test("an order whose data key was lost is given up, and an operator closes it [P3, O3]", async () => {
  await using env = await openBookEnvironment();
  env.answer = down;
  const { DomesticPaymentId: id } = await paid(env);
  await startOnCopy(env, id);
  env.pushes.length = 0;
  for (let times = 0; times < 5; times++) await later(env, 5_000);
  const order = await outboxOrder(env, id);
  assertEquals([order?.dead, order?.lastFailure], [true, "its personal data was erased or lost"]);
  assertEquals(env.pushes.length, 0);
});
