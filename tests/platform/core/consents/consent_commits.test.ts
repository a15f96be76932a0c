/** Two changes of one consent that were decided on the same reading: one of them is committed [M2, CT16]. */
import { assertEquals, assertRejects } from "@std/assert";
import { present } from "testing/answers.ts";
import { openTestStore } from "testing/test_store.ts";
import type { Entry } from "../../../../src/base/store/store.ts";
import { commitIfUnchanged, transact, type Transaction } from "../../../../src/base/store/transaction.ts";
import {
  asBankCode,
  asClientId,
  asConsentId,
  type ConsentId,
  newConsentId,
} from "../../../../src/base/kernel/identifiers.ts";
import { consentKey } from "../../../../src/platform/config/store_keys.ts";
import {
  type Consent,
  type ErasedConsent,
  openConsent,
  type ReadableConsent,
} from "../../../../src/platform/core/consents/consent.ts";
import type { Initiation } from "../../../../src/platform/core/consents/initiation.ts";
import type { StatusChange } from "../../../../src/platform/events/event.ts";
import { type ConsentStore, openConsentStore } from "../../../../src/platform/core/consents/consent_store.ts";
import { type Environment } from "testing/environment.ts";
import { clientToken, createConsent } from "testing/flows.ts";
import { historyOf } from "testing/histories.ts";
import { test } from "support/environment_test.ts";

const DAY_MS = 86_400_000;

async function storedConsent(env: Environment): Promise<{ id: ConsentId; consents: ConsentStore }> {
  const { Data } = await createConsent(env, await clientToken(env, env.tpp));
  const id = present(asConsentId(Data.ConsentId));
  return { id, consents: openConsentStore(env.store, DAY_MS, () => {}, () => {}) };
}

test("a change of a consent is committed only if the consent is as it was read [M2, CT16]", async ({ env }) => {
  const { id, consents } = await storedConsent(env);
  const read = present(await consents.find(env.store, id));
  const deps = { store: env.store, clock: () => env.now };
  const cause = { actor: "clock", reason: "not authorised in time" };
  const erased = { ...read.value, personalData: { state: "erased", scope: "case", at: env.now } as const };
  const changes: readonly ((tx: Transaction) => void)[] = [
    (tx) => consents.stageChange(tx, read, { ...read.value, status: "Rejected" }, cause, env.now),
    (tx) => consents.stageErased(tx, read, erased, cause),
    (tx) => consents.stageCustomerErased(tx, read, erased, [], true),
    (tx) => consents.stageAtBank(tx, read, { sessionsAtBank: {} }),
  ];
  assertEquals(await commitIfUnchanged(deps, present(changes[0])), true);
  for (const change of changes) assertEquals(await commitIfUnchanged(deps, change), false);
  assertEquals((await historyOf(env.store, id)).length, 2);
});

test("a note in a consent's history is committed only behind the entry that was its newest [M2]", async ({ env }) => {
  const { id, consents } = await storedConsent(env);
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
  const orphan = newConsentId();
  await assertRejects(
    () => transact(deps, { what: "a note" }, (tx) => consents.stageNote(tx, orphan, note)),
    Error,
    "a history entry without its consent",
  );
});

const [CREATED, AT, KEEP_MS, HOUR_MS] = [1_800_000_000_000, 1_800_000_050_000, 30 * DAY_MS, 3_600_000];
const BY = CREATED + DAY_MS;

/** What a change of a consent stages, without the consent and its history, and what its commit causes. */
async function stagedBy(
  stage: (tx: Transaction, former: Entry<ReadableConsent>, consents: ConsentStore) => number | void,
  request: Partial<Initiation> = {},
): Promise<unknown> {
  const id = present(asConsentId("00000000-0000-7000-8000-000000000001"));
  const initiation = { instructedAmount: { amount: "4.20", currency: "EUR" }, ...request } as Initiation;
  const bank = present(asBankCode("BANKA"));
  const clientId = present(asClientId("SC-00000000-0000-4000-8000-000000000002"));
  const consent = openConsent({ id, clientId, bank, request: { initiation, risk: {} } }, CREATED);
  const [told, settled]: [StatusChange[], string[]] = [[], []];
  await using store = await openTestStore();
  const consents = openConsentStore(
    store,
    KEEP_MS,
    (_, change) => void told.push(change),
    (client) => void settled.push(client),
  );
  const tx: Transaction = { get: () => Promise.resolve(null), checks: [], writes: [], onCommit: [] };
  const position = stage(tx, { key: consentKey(id), value: consent, version: "1" }, consents);
  for (const done of tx.onCommit) done();
  const writes = tx.writes.filter(({ key }) => !["consent", "audit", "log_waiting"].includes(key[0] ?? ""));
  return {
    told: told.map(({ position: at, ...change }) => ({ ...change, isPlaced: at === position })),
    settled,
    writes: writes.map(({ kind, key, ...rest }) => [kind, ...key, "value" in rest ? rest.value : undefined]),
  };
}

const ID = "00000000-0000-7000-8000-000000000001";
const CLIENT = "SC-00000000-0000-4000-8000-000000000002";

Deno.test("each change of a status stages its event, its deadlines and when the customer's data ends [EVT1, EVT19, CT12, EN10, RL5]", async () => {
  const [waiting, atBank] = [{}, { sentToBank: true } as const];
  const authorised = { status: "Authorized", statusUpdatedAt: AT } as const;
  const rejected = { status: "Rejected", statusReasonCode: "DS24", statusUpdatedAt: AT } as const;
  const consumed = { status: "Consumed", statusUpdatedAt: AT } as const;
  type Row = readonly [
    former: Partial<Consent>,
    changed: Partial<Consent>,
    actor: string,
    type: string | undefined,
    deadlines: readonly string[],
    isForBank?: true | undefined,
    erasedAt?: number,
  ];
  const [first, second] = [`delete ${BY}`, `delete ${AT + HOUR_MS}`];
  const rows: readonly Row[] = [
    [waiting, { sessionsAtBank: {} }, "BANKA", undefined, []],
    [waiting, authorised, "customer", "consent-authorised", [first, `set ${AT + HOUR_MS}`]],
    [waiting, rejected, "customer", "consent-rejected", [first], undefined, AT + DAY_MS],
    [atBank, rejected, "customer", "consent-rejected", [first], true, AT + KEEP_MS],
    [waiting, rejected, "clock", "consent-expired", [first], undefined, AT + DAY_MS],
    [atBank, rejected, "clock", "consent-expired", [first], true, AT + KEEP_MS],
    [authorised, rejected, "clock", "consent-expired", [second], true],
    [authorised, rejected, "operator", "consent-rejected", [second], true],
    [{ ...atBank, ...authorised }, consumed, CLIENT, "consent-consumed", [second]],
    [rejected, consumed, "BANKA", "consent-consumed", []],
  ];
  for (const [former, changed, actor, type, deadlines, isForBank, erasedAt] of rows) {
    const found = await stagedBy((tx, entry, consents) => {
      const value = { ...entry.value, ...former };
      return consents.stageChange(tx, { ...entry, value }, { ...value, ...changed }, {
        actor,
        reason: "a test",
      }, AT);
    });
    const { status, statusReasonCode: reasonCode } = { ...former, ...changed };
    const change = {
      type,
      resource: ID,
      consentId: ID,
      clientId: CLIENT,
      bank: "BANKA",
      status,
      ...reasonCode && { reasonCode },
      at: AT,
      ...isForBank && { forBank: type },
      isPlaced: true,
    };
    const isSettled = former.status === undefined && status !== undefined;
    const expected = {
      told: type === undefined ? [] : [change],
      settled: isSettled ? [CLIENT] : [],
      writes: [...deadlines, ...erasedAt === undefined ? [] : [`erase ${erasedAt}`]],
    };
    const { writes, ...rest } = found as { readonly writes: readonly unknown[][] };
    const named = writes.map(([kind, record, time, id, value]) => {
      assertEquals(id, ID);
      if (record === "consent_erasure") assertEquals(value, { consentId: ID, v: 1 });
      return `${record === "consent_erasure" ? "erase" : kind} ${Number(time)}`;
    });
    assertEquals({ ...rest, writes: named }, expected, `${JSON.stringify(former)} ${status} ${actor}`);
  }
});

Deno.test("an erased consent is found in no list and by no id, and its data key goes with its last evidence [EN10, EN15]", async () => {
  const named = { endToEndIdentification: "ORDER-7" };
  const erased = (consent: ReadableConsent): ErasedConsent => ({
    ...consent,
    personalData: { state: "erased", scope: "consent", at: AT },
  });
  const whole = (tx: Transaction, entry: Entry<ReadableConsent>, consents: ConsentStore): void =>
    consents.stageErased(tx, entry, erased(entry.value), { actor: "clock", reason: "a test" });
  const customer = (isLast: boolean): typeof whole => (tx, entry, consents) =>
    consents.stageCustomerErased(tx, entry, erased(entry.value), ["a place"], isLast);
  const writesOf = async (stage: typeof whole, request?: Partial<Initiation>): Promise<readonly string[]> => {
    const { writes } = await stagedBy(stage, request) as { readonly writes: readonly unknown[][] };
    return writes.map((parts) => JSON.stringify(parts));
  };
  const reason = "never authorised; the time to keep its personal data has passed";
  const erasure = JSON.stringify(["set", "case_erasure", ID, {
    consentId: ID,
    actor: "clock",
    reason,
    at: AT,
    v: 1,
  }]);
  const unnamed = await writesOf(whole);
  const list = `["delete","listed","consent","BANKA","${CLIENT}","00${CREATED}-${ID}",null]`;
  assertEquals(unnamed, [list]);
  const found = await writesOf(whole, named);
  assertEquals(found.length, unnamed.length + 1);
  const evidence = [0, 1].map((piece) => `["delete","evidence","a place","${piece}",null]`);
  assertEquals(await writesOf(customer(false), named), [...evidence, ...found]);
  assertEquals(await writesOf(customer(true), named), [erasure, ...evidence, ...found]);
  assertEquals(await writesOf(customer(true)), [erasure, ...evidence, ...unnamed]);
});
