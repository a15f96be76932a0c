/** After a restore: each bank's signed statement is compared with the store, and only then its orders go out again. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { historyOf } from "../../../src/platform/audit_trail.ts";
import {
  type BookEnvironment,
  openBookEnvironment,
  operate,
  OPERATOR_TOKEN,
} from "../../support/bank_books.ts";
import { openBanksEnvironment, paidAt } from "../../support/banks_environment.ts";
import {
  authorised,
  call,
  clientToken,
  good,
  type Json,
  pay,
  paymentBody,
} from "../../../scripts/testing/flows.ts";
import { down, later, outboxOrder, paid, payment, statusOf } from "../../support/orders.ts";
import { signJwt } from "../../../scripts/testing/jwts.ts";
import { type Copy, copyOf, restore } from "../../support/restored_store.ts";
import { AUTH_URL, openEnvironment } from "../../../scripts/testing/environment.ts";

const HOLDS = "/operations/order-holds";
const RECONCILE = `${HOLDS}/BANKA/reconcile`;
const RELEASE = `${HOLDS}/BANKA/release`;

Deno.test("reconciling recovers a payment that the store lost, and its consent is Consumed [G9]", async () => {
  await using env = await openBookEnvironment();
  const flow = await authorised(env);
  const copy = await copyOf(env);
  const made = (await good(pay(env, flow), 201)).Data;
  await restore(env, copy);
  const [status, answer] = await env.operate(RECONCILE, "");
  assertEquals([status, answer.Data.State, answer.Data.Recovered], [200, "released", 1]);
  const { StatusUpdateDateTime: _, ...found } = await payment(env, made.DomesticPaymentId);
  const { StatusUpdateDateTime: __, ...expected } = made;
  assertEquals(found, expected, "as it was answered the first time");
  assertEquals(await statusOfConsent(env, flow.consentId), "Consumed");
  assertEquals([...env.books.orders.values()].map(({ executions }) => executions), [1]);
  const history = await historyOf(env.store, made.DomesticPaymentId);
  assertEquals(history.map(({ event, actor }) => [event, actor]), [
    ["payment.AcceptedSettlementInProcess", "bank BANKA"],
  ]);
});

Deno.test("reconciling recovers a payment whose consent was made after the copy [G9]", async () => {
  await using env = await openBookEnvironment();
  const copy = await copyOf(env);
  const made = await paid(env);
  await restore(env, copy);
  const [, answer] = await env.operate(RECONCILE, "");
  assertEquals([answer.Data.State, answer.Data.Recovered], ["released", 1]);
  assertEquals(await statusOf(env, made.DomesticPaymentId), "AcceptedSettlementInProcess");
  const bound = await clientToken(env, env.otherTpp);
  const path = `/BANKA/domestic-payments/v1/${made.DomesticPaymentId}`;
  assertEquals((await call(env, env.otherTpp, bound, path)).status, 400, "of its own TPP alone");
});

Deno.test("reconciling moves a payment on and its order leaves the outbox unsent [G9]", async () => {
  await using env = await openBookEnvironment();
  const copy = await lostAnswer(env);
  const [id, booked] = [...env.books.orders][0] ?? ["", undefined];
  if (booked !== undefined) booked.status = "AcceptedSettlementCompleted";
  await restore(env, copy);
  env.pushes.length = 0;
  const [, answer] = await env.operate(RECONCILE, "");
  assertEquals([answer.Data.State, answer.Data.Updated], ["released", 1]);
  assertEquals([await statusOf(env, id), await outboxOrder(env, id)], [
    "AcceptedSettlementCompleted",
    null,
  ]);
  await later(env, 3_600_000);
  assertEquals(env.pushes.length, 1, "the inquiry, and no order");
});

Deno.test("reconciling brings the bank's reason of a rejected payment back, whether the store has the payment or not [G6] [G9]", async (t) => {
  const copies = {
    "the answer is lost": lostAnswer,
    "the payment is lost": async (env: BookEnvironment) => {
      const copy = await copyOf(env);
      await paid(env);
      return copy;
    },
  };
  for (const [name, made] of Object.entries(copies)) {
    await t.step(name, async () => {
      await using env = await openBookEnvironment();
      const copy = await made(env);
      const [id = ""] = env.books.orders.keys();
      env.books.tamper = (claims) => {
        Object.assign(claims.Data.PaymentOrder[0], {
          Status: "Rejected",
          StatusReason: "AM04: Too\u0000little",
        });
        return claims;
      };
      await restore(env, copy);
      await env.operate(RECONCILE, "");
      const read = await payment(env, id);
      assertEquals([read.Status, read.StatusReason], ["Rejected", "AM04: Too\\u{0}little"]);
    });
  }
});

Deno.test("an order that the bank does not have is sent once it is reconciled, and not before [G9]", async () => {
  await using env = await openBookEnvironment();
  const takes = env.answer;
  env.answer = down;
  const { DomesticPaymentId: id } = await paid(env);
  const copy = await copyOf(env);
  await restore(env, copy);
  env.answer = takes;
  await later(env, 120_000);
  assertEquals(env.books.orders.size, 0, "held");
  const [, answer] = await env.operate(RECONCILE, "");
  assertEquals([answer.Data.State, answer.Data.Agreed], ["released", 0]);
  await later(env, 10_000);
  assertEquals(env.books.orders.get(id)?.executions, 1);
  assertEquals(await statusOf(env, id), "AcceptedSettlementInProcess");
});

Deno.test("a statement of many pages goes on where it stopped, and releases after the last [G9]", async () => {
  await using env = await openBookEnvironment();
  const copy = await copyOf(env);
  for (let made = 0; made < 5; made++) await paid(env);
  await restore(env, copy);
  env.books.pageSize = 2;
  const states: Json[] = [];
  for (let page = 0; page < 3; page++) states.push((await env.operate(RECONCILE, ""))[1].Data);
  assertEquals(states.map(({ State, Recovered }) => [State, Recovered]), [
    ["comparing", 2],
    ["comparing", 4],
    ["released", 5],
  ]);
  assertEquals((await env.operate(RECONCILE, ""))[0], 404, "there is nothing left to reconcile");
});

Deno.test("orders stay held while bank and platform disagree, and the operator reads about what [G9]", async () => {
  await using env = await openBookEnvironment();
  const { DomesticPaymentId: id } = await paid(env);
  const bound = await clientToken(env, env.bankA, "BANKA");
  const Data = { Status: "Rejected", StatusUpdateDateTime: new Date(env.now).toISOString() };
  const put = { method: "PUT", body: JSON.stringify({ Data }) };
  await good(call(env, env.bankA, bound, `/BANKA/back-channel-payments/v1/${id}`, put), 200);
  await restore(env, await copyOf(env));
  const [, answer] = await env.operate(RECONCILE, "");
  assertEquals([answer.Data.State, answer.Data.Disagreement], ["held", [{
    DomesticPaymentId: id,
    Why: "the platform has it as Rejected, the bank as AcceptedSettlementInProcess",
  }]]);
  const [, listed] = await env.operate(HOLDS);
  assertEquals(listed.Data.OrderHold.map(({ BankId, State }: Json) => [BankId, State]), [
    ["BANKA", "held"],
    ["BANKB", "held"],
  ]);
});

Deno.test("an order that the bank took for another account is a disagreement, not an agreement [G9]", async () => {
  await using env = await openBookEnvironment();
  const { DomesticPaymentId: id } = await paid(env);
  const key = ["payment", id];
  const stored = await env.store.get<Json>(key);
  const debtorAccount = { ...stored?.value.debtorAccount, Identification: "GB11BUKB20201555555563" };
  await env.store.commit({
    checks: [],
    writes: [{ kind: "set", key, value: { ...stored?.value, debtorAccount } }],
  });
  await restore(env, await copyOf(env));
  const [, answer] = await env.operate(RECONCILE, "");
  assertEquals([answer.Data.State, answer.Data.Disagreement], ["held", [{
    DomesticPaymentId: id,
    Why: "the bank took an order with another account or other details",
  }]]);
});

Deno.test("a payment without its order in the statement is not made up [G9]", async () => {
  await using env = await openBookEnvironment();
  const copy = await copyOf(env);
  await paid(env);
  await restore(env, copy);
  env.books.tamper = (claims) => {
    for (const stated of claims.Data.PaymentOrder) delete stated.Order;
    return claims;
  };
  const [, answer] = await env.operate(RECONCILE, "");
  assertEquals([answer.Data.State, answer.Data.Recovered], ["held", 0]);
  assertStringIncludes(answer.Data.Disagreement[0].Why, "must bring the order");
});

Deno.test("an order that the platform did not sign is no proof of a payment [G9]", async () => {
  await using env = await openBookEnvironment();
  const flow = await authorised(env);
  await restore(env, await copyOf(env));
  const forged = crypto.randomUUID();
  const Data = {
    DomesticPaymentId: forged,
    ConsentId: flow.consentId,
    CreationDateTime: new Date(env.now).toISOString(),
    Initiation: paymentBody(flow.consentId).Data.Initiation,
    DebtorAccount: { SchemeName: "UK.OBIE.IBAN", Identification: "GB33BUKB20201555555555" },
  };
  const tpp = { client_id: env.tpp.clientId, read_refund_account: false };
  const order = await signJwt(env.bankA.signing, { aud: "BANKA", tpp, Data });
  const consentId = flow.consentId;
  env.books.orders.set(forged, { status: "AcceptedSettlementInProcess", order, consentId, executions: 0 });
  const [, answer] = await env.operate(RECONCILE, "");
  assertStringIncludes(answer.Data.Disagreement[0].Why, "kid does not name a signing key");
  assertEquals(await env.store.get(["payment", forged]), null);
});

Deno.test("an order of the platform proves its own payment alone [G9]", async () => {
  await using env = await openBookEnvironment();
  const copy = await copyOf(env);
  const { DomesticPaymentId: id } = await paid(env);
  await restore(env, copy);
  const mine = env.books.orders.get(id);
  const other = crypto.randomUUID();
  if (mine !== undefined) env.books.orders.set(other, { ...mine });
  const [, answer] = await env.operate(RECONCILE, "");
  assertEquals(answer.Data.Disagreement, [{
    DomesticPaymentId: other,
    Why: "the order that the bank brings is another one",
  }]);
});

Deno.test("an order of the platform for one bank proves nothing at another [G9]", async () => {
  await using env = await openBookEnvironment();
  const copy = await copyOf(env);
  await paid(env);
  await restore(env, copy);
  env.books.tamper = (claims) => ({ ...claims, iss: "BANKB" });
  const Since = "2040-01-01T00:00:00Z";
  const [, answer] = await env.operate(
    `${HOLDS}/BANKB/reconcile`,
    await env.books.statement({ Since }, {}, env.bankB),
  );
  assertEquals(answer.Data.Disagreement[0].Why, "the order that the bank brings: an order for another bank");
});

Deno.test("a statement counts only as signed by this bank, for this platform and after the restore [G9]", async (t) => {
  await using env = await openBookEnvironment();
  const copy = await copyOf(env);
  await paid(env);
  const early = await env.books.statement({ Since: "2040-01-01T00:00:00+00:00" });
  env.now += 60_000;
  await restore(env, copy);
  const Since = "2040-01-01T00:00:00+00:00";
  const before = await env.snapshot();
  const claims = (changes: Json): Promise<string> => {
    env.books.tamper = (good) => ({ ...good, ...changes, Data: { ...good.Data, ...changes.Data } });
    return env.books.statement({ Since });
  };
  const cases: Record<string, [string, string]> = {
    "signed before the restore": [early, "iat must be after the restore"],
    "of another issuer": [await claims({ iss: "BANKB" }), "iss must be"],
    "for somebody else": [await claims({ aud: "https://elsewhere.example" }), "aud must be"],
    "expired": [await claims({ exp: 1 }), "expired"],
    "from a later time on": [await claims({ Data: { Since: "2040-01-15T12:00:00+00:00" } }), "Data.Since"],
    "of a later page": [await claims({ Data: { After: "x" } }), "Data.After"],
    "that does not go on": [await claims({ Data: { Next: "" } }), "Data.Next"],
    "with an unknown status": [
      await claims({ Data: { PaymentOrder: [{ DomesticPaymentId: crypto.randomUUID() }] } }),
      "Data.PaymentOrder.0",
    ],
    "with the type of another JWT": [await env.books.statement({ Since }, { typ: "JWT" }), "typ"],
    "with an unknown key": [await env.books.statement({ Since }, { kid: "x" }), "kid does not name"],
    "of another participant's key": [
      await signJwt({ ...env.bankB.signing, kid: env.bankA.signing.kid }, {}, {
        typ: "order-statement+jwt",
      }),
      "SIGNATURE_VERIFICATION_FAILED",
    ],
    "that is no JWS": ["rubbish", "not a compact JWS"],
  };
  for (const [name, [text, why]] of Object.entries(cases)) {
    await t.step(name, async () => {
      const [status, answer] = await env.operate(RECONCILE, text);
      assertEquals(status, 409);
      assertStringIncludes(answer.error_description, why);
      assertEquals(await env.snapshot(), before, "changes nothing");
    });
  }
});

Deno.test("a statement that the bank handed over as a file counts like one that it was asked for [G9]", async () => {
  await using env = await openBookEnvironment();
  const copy = await copyOf(env);
  await paid(env);
  await restore(env, copy);
  env.answer = () => new Response(null, { status: 404 });
  const [asked, rejected] = await env.operate(RECONCILE, "");
  assertEquals([asked, rejected.error], [409, "conflict"]);
  assertStringIncludes(rejected.error_description, "status 404");
  const [, answer] = await env.operate(
    RECONCILE,
    await env.books.statement({ Since: "2040-01-01T00:00:00Z" }),
  );
  assertEquals([answer.Data.State, answer.Data.Recovered], ["released", 1]);
});

Deno.test("an operator can release orders with a reason, which stands in the history [G9]", async () => {
  await using env = await openBookEnvironment();
  const takes = env.answer;
  env.answer = down;
  await paid(env);
  await restore(env, await copyOf(env));
  env.answer = takes;
  assertEquals((await env.operate(RELEASE, "short"))[0], 400);
  const [status, answer] = await env.operate(RELEASE, "The bank confirmed by phone that it has none.");
  assertEquals([status, answer.Data.State], [200, "released"]);
  await later(env, 10_000);
  assertEquals(env.books.orders.size, 1);
  const history = await historyOf(env.store, "order hold BANKA");
  assertEquals(history.map(({ event, actor }) => [event, actor]), [
    ["order_hold.begun", "platform"],
    ["order_hold.released", "operator maria"],
  ]);
});

Deno.test("releasing a bank's orders does not send those that were held for more than a day [G9]", async () => {
  await using env = await openBookEnvironment();
  const takes = env.answer;
  env.answer = down;
  const { DomesticPaymentId: id } = await paid(env);
  await restore(env, await copyOf(env));
  await later(env, 10_000);
  env.now += 86_400_001;
  env.answer = takes;
  assertEquals((await env.operate(RELEASE, "The bank confirmed by phone that it has none."))[0], 200);
  await later(env, 10_000);
  assertEquals([(await outboxOrder(env, id))?.dead, env.books.orders.size], [true, 0]);
});

Deno.test("order holds are for the operator alone, and empty where nothing was restored", async () => {
  await using env = await openBookEnvironment();
  assertEquals(await env.operate(HOLDS), [200, { Data: { OrderHold: [] } }]);
  assertEquals((await env.operate(RECONCILE, ""))[0], 404);
  const anonymous = await env.platform.api.fetch(new Request(`http://localhost${HOLDS}`));
  assertEquals(anonymous.status, 401);
  await using closed = await openEnvironment();
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
  const absent = await closed.platform.api.fetch(new Request(`http://localhost${HOLDS}`, { headers }));
  assertEquals(absent.status, 404, "without an operator token there is no such address");
});

/** A payment that the bank executed although its answer got lost; the copy is from the moment after. */
async function lostAnswer(env: BookEnvironment): Promise<Copy> {
  const takes = env.answer;
  env.answer = async (push) => {
    await takes(push);
    return down();
  };
  await paid(env);
  env.answer = takes;
  return await copyOf(env);
}

async function statusOfConsent(env: BookEnvironment, consentId: string): Promise<string> {
  const bound = await clientToken(env, env.tpp);
  const path = `/BANKA/domestic-payment-consents/v1/${consentId}`;
  return (await good(call(env, env.tpp, bound, path), 200)).Data.Status;
}

Deno.test("the sandbox's bank states its orders page by page, with each as the platform signed it [G9]", async () => {
  await using env = await openBanksEnvironment({ environment: { OPERATOR_TOKEN } });
  const copy = await copyOf(env);
  const made = [];
  for (let count = 0; count < 12; count++) made.push(await paidAt(env));
  await restore(env, copy);
  const states = [await operate(env, RECONCILE, ""), await operate(env, RECONCILE, "")];
  assertEquals(states.map(([status, { Data }]) => [status, Data.State, Data.Recovered]), [
    [200, "comparing", 10],
    [200, "released", 12],
  ]);
  for (const { DomesticPaymentId, Status } of made) {
    assertEquals(await statusOf(env, DomesticPaymentId), Status);
  }
});

Deno.test("the sandbox's bank states nothing to an inquiry that the platform did not sign [G9]", async () => {
  await using env = await openBanksEnvironment();
  const exp = Math.floor(env.now / 1000) + 300;
  const claims = { iss: AUTH_URL, aud: "BANKA", exp, Data: { Since: "2040-01-01T00:00:00Z" } };
  for (const signer of [env.bankA.signing, env.tpp.signing]) {
    const body = await signJwt(signer, claims, { typ: "order-inquiry+jwt" });
    const answer = await env.banks.fetch(
      new Request("https://banks.example/BANKA/payment-orders", {
        method: "POST",
        headers: { "content-type": "application/jose" },
        body,
      }),
    );
    assertEquals(answer.status, 400);
  }
});
