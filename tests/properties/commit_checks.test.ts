/**
 * Of two changes that were decided on the same reading, one is committed: every stage of a store checks what it replaces
 * (contract FAPI-G19). A stage that does not would lose what a parallel request has decided.
 */
import { assertEquals } from "@std/assert";
import { present } from "testing/answers.ts";
import { asBankCode, asClientId, asConsentId, asPaymentId } from "../../src/base/kernel/identifiers.ts";
import type { Entry } from "../../src/base/store/store.ts";
import { commitIfUnchanged, type Transaction } from "../../src/base/store/transaction.ts";
import { caseErasureKey, outboxKey, outboxQueueKey } from "../../src/platform/config/store_keys.ts";
import { withoutSession, withSession } from "../../src/platform/core/consents/consent.ts";
import { openConsentStore } from "../../src/platform/core/consents/consent_store.ts";
import {
  findSession,
  stageSession,
  stageSessionChange,
} from "../../src/platform/core/frontchannel/authorization_session_store.ts";
import { findCode, stageCodeChange } from "../../src/platform/core/oauth/authorization_code_store.ts";
import {
  findPushedRequest,
  stageCompletion,
  stageSessionCount,
} from "../../src/platform/core/oauth/pushed_request_store.ts";
import { openOrderOutboxStore } from "../../src/platform/core/payments/order_outbox_store.ts";
import { openOrder } from "../../src/platform/core/payments/payment_order.ts";
import { openPaymentStore } from "../../src/platform/core/payments/payment_store.ts";
import { openClientStore } from "../../src/platform/core/registration/client_store.ts";
import { openEventStore } from "../../src/platform/events/event_store.ts";
import { findNotified, stageNotified } from "../../src/platform/events/notify_expiries.ts";
import {
  findSubscription,
  stageSubscription,
  stageSubscriptionEnd,
} from "../../src/platform/events/subscription_store.ts";
import {
  controlsIn,
  readControls,
  stageControlEvent,
  stageControls,
} from "../../src/platform/guards/security/controls_store.ts";
import {
  findHold,
  orderHoldRecord,
  stageHold,
  stageRelease,
} from "../../src/platform/operations/recovery/hold_store.ts";
import { scanOf, stageCaseGone, stageScan } from "../../src/platform/operations/cases/retention_store.ts";
import { clientToken, createConsent } from "testing/flows.ts";
import { type Environment } from "testing/environment.ts";
import { authorise, authorised, codeOf, toBank } from "testing/authorization_flow.ts";
import { steps } from "support/steps.ts";
import { test } from "support/environment_test.ts";

/** Stages a change that was decided on a reading of the past. */
type Stage = (tx: Transaction) => void;

/** Makes the change, and then the others of the same reading, of which each must find that it comes too late. */
async function oneCommits(env: Environment, first: Stage, ...others: readonly Stage[]): Promise<void> {
  const deps = { store: env.store, clock: () => env.now };
  assertEquals(await commitIfUnchanged(deps, first), true);
  for (const [at, change] of [first, ...others].entries()) {
    assertEquals(await commitIfUnchanged(deps, change), false, `change ${at}`);
  }
}

/** Of two changes that read what they change, one commits. */
async function oneOfTwo(
  { store }: Environment,
  stage: (tx: Transaction, which: number) => Promise<unknown>,
): Promise<void> {
  const staged = [1, 2].map((which) => ({ which, get: store.get, checks: [], writes: [], onCommit: [] }));
  for (const tx of staged) await stage(tx, tx.which);
  const committed = [];
  for (const tx of staged) committed.push(await store.commit(tx));
  assertEquals(committed, [true, false]);
}

/** The only entry of a record, as it is read. */
async function only<T>(
  env: Environment,
  name: string,
  find: (rest: readonly string[]) => Promise<Entry<T> | null>,
): Promise<Entry<T>> {
  const [entry, ...others] = await env.store.list({ prefix: [name], limit: 2 });
  assertEquals(others.length, 0, name);
  return present(await find(present(entry).key.slice(1)));
}

const BANK = present(asBankCode("BANKA"));

test("an authorization session, its pushed request, its place at the bank and its code are changed only as they were read [FAPI-G19]", async ({ env, t }) => {
  const { store } = env;
  const flow = await toBank(env);
  const consentId = present(asConsentId(flow.consentId));
  const correlationId = flow.handover.correlation_id;
  const later = { correlationId: crypto.randomUUID(), expiresAt: env.now + 1000 };
  const consents = openConsentStore(store, 1, () => {}, () => {});
  await steps(t, {
    "the place at the bank": async () => {
      const read = present(await consents.find(store, consentId));
      await oneCommits(
        env,
        (tx) => consents.stageAtBank(tx, read, withoutSession(read.value, later.correlationId)),
        (tx) => consents.stageAtBank(tx, read, withSession(read.value, later, env.now)),
      );
    },
    "the pushed request": async () => {
      const read = await only(env, "pushed_request", ([hash = ""]) => findPushedRequest(store, hash));
      await oneCommits(
        env,
        (tx) => stageSessionCount(tx, read),
        (tx) => stageCompletion(tx, read),
      );
    },
    "the session": async () => {
      const read = present(await findSession(store, correlationId));
      await oneCommits(
        env,
        (tx) => stageSessionChange(tx, read, read.value),
        (tx) => stageSession(tx, read.value),
      );
    },
    "the code": async () => {
      codeOf(await authorise(env, flow));
      const read = await only(env, "authorization_code", ([hash = ""]) => findCode(store, hash));
      await oneCommits(env, (tx) => stageCodeChange(tx, read, read.value));
    },
  }, (judge) => judge());
});

test("a consent and a payment are opened once, and what deletes a consent is put off once [FAPI-G19] [CT16] [D1]", async ({ env, t }) => {
  const { store } = env;
  const flow = await authorised(env);
  const consents = openConsentStore(store, 1, () => {}, () => {});
  const payments = openPaymentStore(store, () => {}, () => {});
  const cause = { actor: "clock", reason: "a test" };
  const id = present(asConsentId(flow.consentId));
  const consent = present(await consents.find(store, id)).value;
  await steps(t, {
    "the consent": async () => {
      const other = { ...consent, id: present(asConsentId(crypto.randomUUID())) };
      await oneCommits(env, (tx) => consents.stageCreation(tx, other, cause));
    },
    "the payment that does not exist yet": async () => {
      const paymentId = present(asPaymentId(crypto.randomUUID()));
      const key = outboxQueueKey(BANK, env.now, paymentId);
      await oneCommits(env, (tx) => {
        payments.stageAbsence(tx, paymentId);
        tx.writes.push({ kind: "set", key: ["payment", paymentId], value: key });
      });
    },
    "what deletes the consent": async () => {
      const put = { kind: "set", key: ["consent_erasure", "000", id], value: { consentId: id } } as const;
      await store.commit({ checks: [], writes: [put] });
      const deadline = { key: put.key, consentId: id };
      await oneOfTwo(env, (tx, which) => consents.stageErasureLater(tx, deadline, env.now + which));
    },
  }, (judge) => judge());
});

test("an order is queued once, and is leased, delivered or given up by one worker [FAPI-G19] [O1]", async ({ env }) => {
  const orders = openOrderOutboxStore(env.store);
  const order = openOrder(present(asPaymentId(crypto.randomUUID())), BANK, env.now);
  await oneCommits(env, (tx) => orders.stageOpening(tx, order));
  const read = present(await orders.find(env.store, order.paymentId));
  assertEquals(read.key, outboxKey(order.paymentId));
  await oneCommits(
    env,
    (tx) => orders.stageChange(tx, read, { ...order, state: "dead", diedAt: env.now }),
    (tx) => orders.stageDelivery(tx, read),
  );
});

test("a registration is changed and deleted only as it was read, and a bank's code has one client [FAPI-G19] [DC-N25]", async ({ env, t }) => {
  const { store } = env;
  const clients = openClientStore();
  const by = "directory";
  await steps(t, {
    "of a TPP": async () => {
      const tpp = present((await clients.list(store, undefined, 10)).find(({ role }) => role === "PISP"));
      const former = await clients.readRegistered(store, tpp.clientId, undefined);
      const registration = { client: tpp, softwareStatement: "a statement" };
      await oneCommits(
        env,
        (tx) => clients.stageRegistration(tx, registration, former, by),
        (tx) => clients.stageRegistration(tx, registration, { client: null, bank: null }, by),
      );
      const { client } = await clients.readRegistered(store, tpp.clientId, undefined);
      const proof = { clientId: tpp.clientId, certificate: "", method: "DELETE", target: env.config.baseUrl };
      await oneCommits(env, (tx) => clients.stageDeletion(tx, present(client), env.now, proof));
      const again = { client: null, bank: null };
      assertEquals(
        await commitIfUnchanged(
          { store, clock: () => env.now },
          (tx) => clients.stageRegistration(tx, registration, again, by),
        ),
        false,
        "another registration must read what the deletion has left",
      );
    },
    "of a bank": async () => {
      const [bank] = await clients.listBanks(store, 1);
      const former = await clients.readRegistered(store, present(bank).clientId, present(bank).code);
      const other = { ...former, bank: null };
      const registration = { client: present(former.client).value, softwareStatement: "a statement" };
      const deps = { store, clock: () => env.now };
      const commits = (one: typeof former): Promise<boolean> =>
        commitIfUnchanged(deps, (tx) => clients.stageRegistration(tx, registration, one, by));
      assertEquals([await commits(other), await commits(former)], [false, true]);
    },
  }, (judge) => judge());
});

test("subscriptions, told expiries, controls and holds are changed only as they were read [FAPI-G19] [EVT9]", async ({ env, t }) => {
  const { store } = env;
  const owner = { clientId: present(asClientId(env.tpp.clientId)), bank: BANK };
  await steps(t, {
    "a subscription": async () => {
      const value = { id: crypto.randomUUID(), ...owner, namesTypes: false, createdAt: 1, updatedAt: 1 };
      await oneCommits(env, (tx) => stageSubscription(tx, null, value));
      const read = present(await findSubscription(store, owner));
      await oneCommits(
        env,
        (tx) => stageSubscription(tx, read, value),
        (tx) => stageSubscriptionEnd(tx, read),
      );
    },
    "what a TPP was told of expiries": async () => {
      const told = [{
        name: "token",
        expiresAt: env.now + 1000,
        id: `t-${crypto.randomUUID()}` as const,
        days: 1,
        position: 1,
      }];
      await oneCommits(env, (tx) => stageNotified(tx, owner.clientId, null, told));
      const read = await findNotified(store, owner.clientId);
      await oneCommits(env, (tx) => stageNotified(tx, owner.clientId, read, told));
    },
    "the controls": async () => {
      const former = await readControls(store);
      await oneCommits(env, (tx) => stageControls(tx, former, controlsIn(former)));
    },
    "the history of a controlled party": async () => {
      const event = { at: env.now, event: "bank.released", actor: "operator maria", reason: "a test" };
      await oneOfTwo(env, (tx) => stageControlEvent(tx, "bank BANKA", event));
    },
    "the hold of a bank's orders": async () => {
      const hold = { bank: BANK, epoch: "an epoch", restoredAt: 1, since: 1 } as const;
      const none = { hold: null, ended: null };
      await oneCommits(env, (tx) => stageHold(tx, none, hold, env.now, "a test"));
      const read = present(await findHold(store, BANK));
      await oneCommits(
        env,
        (tx) => orderHoldRecord.replace(tx, read.key, read, read.value),
        (tx) => stageRelease(tx, read, { actor: "operator maria", reason: "a test", at: env.now }),
      );
    },
  }, (judge) => judge());
});

test("an event is changed only as it was read, and waits again once [FAPI-G19] [EVT12]", async ({ env }) => {
  await authorised(env);
  const events = openEventStore({
    store: env.store,
    clock: () => env.now,
    keepMs: 1000,
    baseUrl: env.config.baseUrl,
  });
  const owner = { clientId: present(asClientId(env.tpp.clientId)), bank: BANK };
  const { entry, position, resource } = present((await events.waiting(owner, 1))[0]);
  const again = { position, resource, value: entry.value };
  await oneCommits(
    env,
    (tx) => events.stageChange(tx, entry, { ...entry.value, failures: 1 }),
    (tx) => events.stageAgain(tx, owner, again),
  );
});

test("a case is deleted as it was read and unless it is being erased, and a search for cases goes on once [FAPI-G19] [EN11]", async ({ env }) => {
  const { store } = env;
  const { Data: { ConsentId } } = await createConsent(env, await clientToken(env, env.tpp));
  const id = present(asConsentId(ConsentId));
  const scan = { at: "old", beganAt: 1, anewAt: 1 } as const;
  await oneCommits(env, (tx) => stageScan(tx, "evidence", null, scan));
  const former = await scanOf(store, "evidence");
  await oneCommits(env, (tx) => stageScan(tx, "evidence", former, scan));
  const consent = present(await openConsentStore(store, 1, () => {}, () => {}).find(store, id));
  const gone = { consent, payment: null, caseId: present(asPaymentId(crypto.randomUUID())) };
  const deletion: Stage = (tx) => stageCaseGone(tx, gone, { subject: "retention", position: 1 });
  const erasing = { kind: "set", key: caseErasureKey(id), value: {} } as const;
  await store.commit({ checks: [], writes: [erasing] });
  assertEquals(await commitIfUnchanged({ store, clock: () => env.now }, deletion), false);
  await store.commit({ checks: [], writes: [{ kind: "delete", key: erasing.key }] });
  await oneCommits(env, deletion);
});
