/** Stored evidence: the signed bytes of every write, and who moved a consent or payment, when and why. */
import { assertEquals } from "@std/assert";
import { flattenedVerify } from "jose";
import { bodyNamed, historyOf } from "testing/histories.ts";
import type { Payment } from "testing/answers.ts";
import { ACCOUNTS, orderPath, report } from "testing/back_channel.ts";
import {
  type BoundToken,
  call,
  clientToken,
  consentBody,
  dpopKey,
  good,
  pay,
  paymentBody,
} from "testing/flows.ts";
import {
  type AtBank,
  authorised,
  codeOf,
  decide,
  redeem,
  returnPath,
  toBank,
} from "testing/authorization_flow.ts";
import { payloadSignature } from "testing/jwts.ts";
import { openPushEnvironment } from "support/orders.ts";
import type { Participant } from "testing/participants.ts";
import { CONSENTS, PAYMENTS } from "support/resource_calls.ts";
import { type Environment, START } from "testing/environment.ts";
import { readableBody } from "support/readable_body.ts";
import { test } from "support/environment_test.ts";

const COMPLETED = "AcceptedSettlementCompleted";

/** A write whose bytes and signature the test knows; gives its answer's `Data`. */
interface Written {
  readonly body: string;
  readonly signature: string;
  readonly data: Payment["Data"];
}

async function write(
  env: Environment,
  by: Participant,
  bound: BoundToken,
  target: { readonly method: string; readonly path: string; readonly body: string },
  status: number,
): Promise<Written> {
  const { method, path, body } = target;
  const signature = await payloadSignature(env, by, body, { profile: "A" });
  const answer = await good<Payment>(call(env, by, bound, path, { method, body, signature }), status);
  return { body, signature, data: answer.Data };
}

/** The store has exactly these bytes with a signature over them that the sender's certified key vouches for. */
async function assertKept(
  env: Environment,
  subject: string,
  by: Participant,
  written: Written,
): Promise<void> {
  const kept = readableBody(await bodyNamed(env.store, subject));
  const bytes = kept?.bytes ?? new Uint8Array();
  assertEquals(
    [new TextDecoder().decode(bytes), kept?.signature],
    [written.body, written.signature],
    subject,
  );
  const [head = "", , signature = ""] = kept?.signature?.split(".") ?? [];
  const crit = { [`${OBIE}iat`]: true, [`${OBIE}iss`]: true, [`${OBIE}tan`]: true };
  const key = await by.signing.key.publicKey("verify");
  await flattenedVerify({ protected: head, payload: bytes, signature }, key, { crit });
}

const OBIE = "http://openbanking.org.uk/";

test("the signed bytes and the signature of every write of a payment are kept, from consent to settlement [RP11]", async ({ env, t }) => {
  const { tpp, bankA } = env;
  const bound = await clientToken(env, tpp);
  const asked = JSON.stringify(consentBody(), null, 2);
  const consent = await write(env, tpp, bound, { method: "POST", path: CONSENTS, body: asked }, 201);
  const { ConsentId } = consent.data;
  await t.step("the consent", () => assertKept(env, `${ConsentId} 1 consent_request`, tpp, consent));

  const flow = await toBank(env);
  const bank = await clientToken(env, bankA);
  const put = (accounts: readonly unknown[], bytes: number): Promise<Written> => {
    const body = JSON.stringify(report("BANKA", flow.consentId, { DebtorAccount: accounts })).padEnd(bytes);
    const path = `/BANKA/back-channel-auth/v1/${flow.consentId}`;
    return write(env, bankA, bank, { method: "PUT", path, body }, 200);
  };
  const reports = [await put(ACCOUNTS, 65_536), await put(ACCOUNTS.slice(0, 1), 0)];
  await t.step("each report of accounts, not the last alone", async () => {
    await assertKept(env, `${flow.consentId} 4 payer_accounts`, bankA, reports[0] ?? consent);
    await assertKept(env, `${flow.consentId} 5 payer_accounts`, bankA, reports[1] ?? consent);
  });

  const order = JSON.stringify(paymentBody(flow.consentId)).padEnd(50_000);
  const payment = await agreedToken(env, flow);
  const made = await write(env, tpp, payment, { method: "POST", path: PAYMENTS, body: order }, 201);
  const id = made.data.DomesticPaymentId;
  await t.step("the payment", () => assertKept(env, `${id} 1 payment_request`, tpp, made));

  for (const [index, Status] of [COMPLETED, "AcceptedCreditSettlementCompleted"].entries()) {
    await t.step(`the report of ${Status}`, async () => {
      const body = JSON.stringify({ Data: { Status, StatusUpdateDateTime: "2040-01-15T12:00:00Z" } });
      const told = await write(env, bankA, bank, { method: "PUT", path: orderPath(id), body }, 200);
      await assertKept(env, `${id} ${index + 2} status_report`, bankA, told);
    });
  }
});

test("a write that is rejected, or changes nothing, leaves no evidence [RP11]", async ({ env }) => {
  const flow = await authorised(env);
  const kept = async (): Promise<readonly string[]> => {
    const rows = await Promise.all(
      ["evidence", "audit"].map((name) => env.raw.list<object>({ prefix: [name], limit: 100 })),
    );
    return rows.flat().filter(({ value }) => "sealedMembers" in value).map(({ key }) => key.join(" "));
  };
  const before = await kept();
  const other = consentBody({ initiation: { InstructedAmount: { Amount: "165.89", Currency: "EUR" } } });
  await good(pay(env, { ...flow, body: other }), 400);
  await good(call(env, env.tpp, flow.bound, CONSENTS, { body: '{"Data":{},"Risk":{}}' }), 400);
  assertEquals(await kept(), before);
  const made = await good(pay(env, flow, { idempotencyKey: "again" }), 201);
  const after = await kept();
  assertEquals(after.length, before.length + 1);
  await good(pay(env, flow, { idempotencyKey: "again" }), 201);
  const bank = await clientToken(env, env.bankA);
  const Data = { Status: made.Data.Status, StatusUpdateDateTime: "2040-01-15T12:00:00Z" };
  const body = JSON.stringify({ Data });
  const path = orderPath(made.Data.DomesticPaymentId);
  await good(call(env, env.bankA, bank, path, { method: "PUT", body }), 200);
  assertEquals(await kept(), after);
});

Deno.test("the history tells of every move of a consent and its payment: when, who and why [C1] [D3]", async (t) => {
  let bankAnswers = (): Response => new Response(null, { status: 503 });
  await using env = await openPushEnvironment(() => bankAnswers());
  const { tpp, bankA } = env;
  const flow = await toBank(env);
  const bank = await clientToken(env, bankA);
  env.now = START + 1000;
  const body = JSON.stringify(report("BANKA", flow.consentId));
  await good(
    call(env, bankA, bank, `/BANKA/back-channel-auth/v1/${flow.consentId}`, { method: "PUT", body }),
    200,
  );
  env.now = START + 2000;
  const shown = await flow.browser.open(await returnPath(env, bankA, flow.handover));
  env.now = START + 3000;
  const decided = await decide(flow.browser, shown.headers.get("location") ?? "", "accept");
  const payment = await tokenFor(env, flow, decided);
  env.now = START + 4000;
  const made = await good(pay(env, { ...flow, payment, body: consentBody() }), 201);
  const id = made.Data.DomesticPaymentId;
  bankAnswers = (): Response => Response.json({ Status: "AcceptedSettlementInProcess" });
  env.now = START + 6000;
  await env.platform.deliverDueOrders();
  const reports = [[COMPLETED, "Booked"], ["AcceptedWithoutPosting", undefined], ["Rejected", "Returned"]];
  for (const [Status, StatusReason] of reports) {
    env.now += 1000;
    const Data = { Status, StatusReason, StatusUpdateDateTime: "2040-01-15T12:00:06Z" };
    const reported = JSON.stringify({ Data });
    await good(call(env, bankA, bank, orderPath(id), { method: "PUT", body: reported }), 200);
  }

  await t.step("of the consent", async () => {
    assertEquals(await moves(env, flow.consentId), [
      [0, "consent.AwaitingAuthorisation", tpp.clientId, "created"],
      [0, "consent.authorization_requested", tpp.clientId, undefined],
      [0, "consent.customer_sent_to_bank", "customer", undefined],
      [1000, "consent.AwaitingAuthorisation", bankA.clientId, "payer accounts reported"],
      [2000, "consent.customer_authenticated", "customer", "bank: success"],
      [3000, "consent.Authorized", "customer", "customer accepted"],
      [3000, "consent.token_issued", tpp.clientId, undefined],
      [4000, "consent.Consumed", tpp.clientId, `payment ${id}`],
    ]);
  });
  await t.step("of the payment", async () => {
    assertEquals(await moves(env, id), [
      [4000, "payment.Pending", tpp.clientId, "created"],
      [4000, "payment_order.outcome_unknown", "platform", "status 503"],
      [6000, "payment.AcceptedSettlementInProcess", "bank BANKA", "answered to its order"],
      [7000, `payment.${COMPLETED}`, bankA.clientId, "reported by the bank"],
      [8000, "payment.AcceptedWithoutPosting", bankA.clientId, "reported by the bank"],
      [9000, "payment.Rejected", bankA.clientId, "reported by the bank"],
    ]);
  });
});

/** Milliseconds since the start, event, actor and reason of each entry, oldest first. */
async function moves(env: Environment, subject: string): Promise<readonly unknown[]> {
  const entries = await historyOf(env.store, subject);
  return entries.map(({ at, event, actor, reason }) => [at - START, event, actor, reason]);
}

/** The customer agrees with what the bank has reported. */
async function agreedToken(env: Environment, flow: AtBank): Promise<BoundToken> {
  const shown = await flow.browser.open(await returnPath(env, flow.bank, flow.handover));
  return await tokenFor(env, flow, await decide(flow.browser, shown.headers.get("location") ?? "", "accept"));
}

async function tokenFor(env: Environment, { consentId }: AtBank, decided: Response): Promise<BoundToken> {
  const { access_token } = await good(redeem(env, { consentId, code: codeOf(decided) }), 200);
  return { token: access_token, key: await dpopKey() };
}
