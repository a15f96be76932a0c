/** Two changes of one consent that were decided on the same reading: one of them is committed [M2, CT16]. */
import { assertEquals } from "@std/assert";
import { present } from "testing/answers.ts";
import { commitIfUnchanged, transact, type Transaction } from "../../../../src/base/store/transaction.ts";
import { asConsentId, type ConsentId } from "../../../../src/base/kernel/identifiers.ts";
import { type ConsentStore, openConsentStore } from "../../../../src/platform/core/consents/consent_store.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { clientToken, createConsent } from "testing/flows.ts";
import { historyOf } from "testing/histories.ts";

const DAY_MS = 86_400_000;

async function openConsent(env: Environment): Promise<{ id: ConsentId; consents: ConsentStore }> {
  const { Data } = await createConsent(env, await clientToken(env, env.tpp));
  const id = present(asConsentId(Data.ConsentId));
  return { id, consents: openConsentStore(env.store, DAY_MS, () => {}, () => {}) };
}

Deno.test("a change of a consent is committed only if the consent is as it was read [M2, CT16]", async () => {
  await using env = await openEnvironment();
  const { id, consents } = await openConsent(env);
  const read = present(await consents.find(env.store, id));
  const deps = { store: env.store, clock: () => env.now };
  const cause = { actor: "clock", reason: "not authorised in time" };
  const erased = { ...read.value, personalData: { state: "erased", scope: "case", at: env.now } as const };
  const changes: readonly ((tx: Transaction) => void)[] = [
    (tx) => consents.stageChange(tx, read, { ...read.value, status: "Rejected" }, cause, env.now),
    (tx) => consents.stageErased(tx, read, erased, cause),
    (tx) => consents.stageCustomerErased(tx, read, erased, [], true),
  ];
  assertEquals(await commitIfUnchanged(deps, present(changes[0])), true);
  for (const change of changes) assertEquals(await commitIfUnchanged(deps, change), false);
  assertEquals((await historyOf(env.store, id)).length, 2);
});

Deno.test("a note in a consent's history is committed only behind the entry that was its newest [M2]", async () => {
  await using env = await openEnvironment();
  const { id, consents } = await openConsent(env);
  const deps = { store: env.store, clock: () => env.now };
  const note = { at: env.now, event: "consent.evidence_deleted", actor: "clock", reason: "a test" };
  let attempts = 0;
  await transact(deps, { what: "a note" }, async (tx) => {
    await consents.stageNote(tx, id, note);
    attempts += 1;
    if (attempts > 1) return;
    await transact(deps, { what: "another" }, (other) => consents.stageNote(other, id, note));
  });
  assertEquals(attempts, 2);
  assertEquals((await env.store.list({ prefix: ["audit", id], limit: 10 })).length, 3);
});
