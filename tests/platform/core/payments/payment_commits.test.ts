/** What each change of a payment stages, and that of two on the same reading one is committed [M2]. */
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { present } from "testing/answers.ts";
import { openTestStore } from "testing/test_store.ts";
import { asBankCode, asClientId, asConsentId, asPaymentId } from "../../../../src/base/kernel/identifiers.ts";
import { RecordFault } from "../../../../src/base/store/record.ts";
import { paymentKey } from "../../../../src/platform/config/store_keys.ts";
import type { Payment } from "../../../../src/platform/core/payments/payment.ts";
import type { Initiation } from "../../../../src/platform/core/consents/initiation.ts";
import type { StatusChange } from "../../../../src/platform/events/event.ts";
import { commitIfUnchanged, transact, type Transaction } from "../../../../src/base/store/transaction.ts";
import {
  openPaymentStore,
  paymentRecord,
  type PaymentStore,
  stagePaymentGone,
  storedPayment,
} from "../../../../src/platform/core/payments/payment_store.ts";
import { historyOf } from "testing/histories.ts";
import { paid } from "support/orders.ts";
import { test } from "support/environment_test.ts";

test("a change of a payment is committed only if the payment is as it was read [M2]", async ({ env }) => {
  const id = present(asPaymentId((await paid(env)).DomesticPaymentId));
  const payments = openPaymentStore(env.store, () => {}, () => {});
  const read = present(await payments.find(env.store, id));
  const deps = { store: env.store, clock: () => env.now };
  const note = { at: env.now, event: "payment_order.redriven", actor: "operator maria", reason: "a test" };
  let attempts = 0;
  await transact(deps, { what: "a note" }, async (tx) => {
    await payments.stageNote(tx, id, note);
    attempts += 1;
    if (attempts === 1) {
      await transact(deps, { what: "another" }, (other) => payments.stageNote(other, id, note));
    }
  });
  assertEquals(attempts, 2);
  const cause = { actor: "operator maria", reason: "a test" };
  const changes: readonly ((tx: Transaction) => void)[] = [
    (tx) => payments.stageChange(tx, read, { ...read.value, status: "Rejected" }, cause, env.now),
    (tx) =>
      payments.stageErased(
        tx,
        read,
        { ...read.value, personalData: { state: "erased", scope: "case", at: env.now } },
        cause,
      ),
    (tx) => stagePaymentGone(tx, read),
  ];
  for (const change of changes) assertEquals(await commitIfUnchanged(deps, change), false);
  const events = (await historyOf(env.store, id)).map(({ event }) => event);
  assertEquals(events.slice(1), ["payment_order.redriven", "payment_order.redriven"]);
});

const [CREATED, AT] = [1_800_000_000_000, 1_800_000_050_000];
const ID = "00000000-0000-8000-8000-000000000001";
const PAYMENT: Payment = {
  id: present(asPaymentId(ID)),
  consentId: present(asConsentId("00000000-0000-7000-8000-000000000002")),
  clientId: present(asClientId("SC-00000000-0000-4000-8000-000000000003")),
  bank: present(asBankCode("BANKA")),
  initiation: { instructedAmount: { amount: "4.20", currency: "EUR" } } as Initiation,
  debtorAccount: { schemeName: "A", identification: "B" },
  readRefundAccount: false,
  status: "Pending",
  charges: [],
  createdAt: CREATED,
  statusUpdatedAt: CREATED,
  personalData: { state: "present" },
};

/** What a change of a payment stages, without the payment and its history, and what it causes. */
async function stagedBy(stage: (tx: Transaction, payments: PaymentStore) => unknown): Promise<unknown> {
  const [told, undecided]: [StatusChange[], string[]] = [[], []];
  await using store = await openTestStore();
  const payments = openPaymentStore(
    store,
    (_, change) => void told.push(change),
    (_, { status }) => void undecided.push(status),
  );
  const tx: Transaction = { get: () => Promise.resolve(null), checks: [], writes: [], onCommit: [] };
  stage(tx, payments);
  const others = tx.writes.filter(({ key }) => !["payment", "audit", "log_waiting"].includes(key[0] ?? ""));
  const audit = tx.writes.filter(({ key }) => key[0] === "audit").map(({ key }) => Number(key.at(-1)));
  return {
    told: told.map(({ position, ...change }) => ({ ...change, isPlaced: audit.includes(position) })),
    undecided,
    checks: tx.checks.map(({ key, version }) => [...key, version].join(" ")),
    writes: others.map(({ kind, key }) => [kind, ...key].join(" ")),
  };
}

Deno.test("each change of a payment stages its event, its lists and whether a bank still has to decide [EVT1, EVT19, LS1]", async () => {
  const { consentId, clientId, bank } = PAYMENT;
  const told = (status: string, at: number, more: object = {}): unknown => [{
    ...{ type: "payment-status-changed", resource: ID, consentId, clientId, bank, status, at },
    ...more,
    isPlaced: true,
  }];
  const place = `00${CREATED}-${ID}`;
  const created = {
    checks: [`payment ${ID} `],
    writes: [`set payment_order BANKA ${place}`, `set listed payment BANKA ${clientId} ${place}`],
  };
  const cause = { actor: "BANKA", reason: "a test" };
  const completed = { ...PAYMENT, status: "AcceptedSettlementCompleted" } as const;
  const create = (payment: Payment, entry?: object): Promise<unknown> =>
    stagedBy((tx, payments) => payments.stageCreation(tx, payment, cause, entry));
  assertEquals(await create(PAYMENT), { told: told("Pending", CREATED), undecided: [], ...created });
  const recovered = { told: told("Pending", CREATED), undecided: ["Pending"], ...created };
  assertEquals(await create(PAYMENT, { at: AT }), recovered);
  const decided = { told: told(completed.status, CREATED), undecided: [], ...created };
  assertEquals(await create(completed, { at: AT }), decided);
  const change = (former: Partial<Payment>, changed: Partial<Payment>): Promise<unknown> =>
    stagedBy((tx, payments) => {
      const entry = { key: paymentKey(PAYMENT.id), value: { ...PAYMENT, ...former }, version: "7" };
      payments.stageChange(tx, entry, { ...PAYMENT, ...changed, statusUpdatedAt: AT }, cause, AT);
    });
  const checked = { checks: [`payment ${ID} 7`], writes: [] };
  const inProcess = { status: "AcceptedSettlementInProcess" } as const;
  const taken = told(inProcess.status, AT);
  assertEquals(await change({}, inProcess), { told: taken, undecided: [], ...checked });
  const closedAt = AT - 1;
  assertEquals(await change({ closedAt }, inProcess), {
    told: taken,
    undecided: [inProcess.status],
    ...checked,
  });
  const ended = { told: told(completed.status, AT), undecided: [], ...checked };
  assertEquals(await change({ closedAt }, { status: completed.status }), ended);
  const said = { statusReasonCode: "ORDER_CLOSED", statusReason: "Never sent." } as const;
  const why = { reasonCode: "ORDER_CLOSED", reason: "Never sent." };
  assertEquals(await change({}, { status: "Rejected", ...said }), {
    ...{ told: told("Rejected", AT, why), undecided: [], ...checked },
  });
  assertEquals(await change({}, { status: "Rejected", closedAt, ...said }), {
    ...{ told: told("Rejected", AT, { ...why, forBank: "payment-closed" }), undecided: [], ...checked },
  });
  const entry = { key: paymentKey(PAYMENT.id), value: PAYMENT, version: "7" };
  const erased = { ...PAYMENT, personalData: { state: "erased", scope: "case", at: AT } as const };
  assertEquals(await stagedBy((tx, payments) => payments.stageErased(tx, entry, erased, cause)), {
    ...{ told: [], undecided: [] },
    checks: [`payment ${ID} 7`],
    writes: [`delete listed payment BANKA ${clientId} ${place}`],
  });
  assertEquals(await stagedBy((tx) => stagePaymentGone(tx, entry)), {
    ...{ told: [], undecided: [] },
    checks: [`payment ${ID} 7`],
    writes: [`delete payment_order BANKA ${place}`],
  });
});

Deno.test("a note needs its payment, a list shows a payment that has gone, and a stored one has its parts", async () => {
  await using store = await openTestStore();
  const deps = { store, clock: () => AT };
  const payments = openPaymentStore(store, () => {}, () => {});
  const note = { at: AT, event: "payment_order.redriven", actor: "operator maria", reason: "a test" };
  await assertRejects(
    () => transact(deps, { what: "a note" }, (tx) => payments.stageNote(tx, PAYMENT.id, note)),
    Error,
    "a history entry without its payment",
  );
  const other = { ...PAYMENT, id: present(asPaymentId(ID.replace(/1$/, "2"))) };
  for (const payment of [PAYMENT, other]) {
    await commitIfUnchanged(deps, (tx) => payments.stageCreation(tx, payment, note));
  }
  await store.commit({ checks: [], writes: [{ kind: "delete", key: paymentKey(PAYMENT.id) }] });
  const listed = async (after: string | undefined, limit: number): Promise<unknown> =>
    (await payments.listOrders(PAYMENT.bank, after, limit)).map(({ place, createdAt, payment }) => [
      ...[place, createdAt, payment?.id],
    ]);
  const rows = [PAYMENT.id, other.id].map((id) => [
    ...[`00${CREATED}-${id}`, CREATED, id === other.id ? id : undefined],
  ]);
  assertEquals(await listed(undefined, 9), rows);
  assertEquals([await listed(undefined, 1), await listed(`00${CREATED}-${ID}`, 9)], [[rows[0]], [rows[1]]]);
  const stored = { ...storedPayment(PAYMENT), v: 1 };
  const read = (value: unknown): unknown =>
    paymentRecord.decode({ key: ["payment"], value, version: "1" }).value;
  assertEquals(read(stored), PAYMENT);
  for (const initiation of [null, "text", undefined]) {
    assertThrows(() => read({ ...stored, initiation }), RecordFault, "initiation");
  }
});
