/** After a restore: a bank statement that disagrees with the store or is not authentic does not release the orders. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { openBookEnvironment } from "support/bank_books.ts";
import { call, clientToken, good, pay, paymentBody } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { paid } from "support/orders.ts";
import { signJwt } from "testing/jwts.ts";
import { copyOf, restore } from "support/restored_store.ts";
import { steps } from "support/steps.ts";

const HOLDS = "/operations/order-holds";
const RECONCILE = `${HOLDS}/BANKA/reconcile`;

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
  assertEquals(listed.Data.OrderHold?.map(({ BankId, State }) => [BankId, State]), [
    ["BANKA", "held"],
    ["BANKB", "held"],
  ]);
});

Deno.test("an order that the bank took for another account is a disagreement, not an agreement [G9]", async () => {
  await using env = await openBookEnvironment();
  const { DomesticPaymentId: id } = await paid(env);
  const key = ["payment", id];
  const stored = await env.store.get<{ readonly debtorAccount: object }>(key);
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
  assertStringIncludes(answer.Data.Disagreement[0]?.Why, "must bring the order");
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
  assertStringIncludes(answer.Data.Disagreement[0]?.Why, "kid does not name a signing key");
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
  assertEquals(answer.Data.Disagreement[0]?.Why, "the order that the bank brings: an order for another bank");
});

Deno.test("a payment that the platform knows with another consent or bank is a disagreement [G9]", async (t) => {
  await using env = await openBookEnvironment();
  const { DomesticPaymentId } = await paid(env);
  await restore(env, await copyOf(env));
  const stored = async () => (await env.store.get(["payment", DomesticPaymentId]))?.value;
  const before = await stored();
  const Why = "the platform knows this payment with another bank or consent";
  const state = (changes: object, iss: string): void => {
    env.books.tamper = ({ Data, ...claims }) => {
      const [{ Order: _, ...stated } = { Order: "" }] = Data.PaymentOrder;
      return { ...claims, iss, Data: { ...Data, PaymentOrder: [{ ...stated, ...changes }] } };
    };
  };
  await t.step("another consent", async () => {
    state({ ConsentId: crypto.randomUUID() }, "BANKA");
    const [, answer] = await env.operate(RECONCILE, "");
    assertEquals([answer.Data.State, answer.Data.Disagreement], ["held", [{ DomesticPaymentId, Why }]]);
  });
  await t.step("another bank", async () => {
    state({}, "BANKB");
    const statement = await env.books.statement({ Since: "2040-01-01T00:00:00Z" }, {}, env.bankB);
    const [, answer] = await env.operate(`${HOLDS}/BANKB/reconcile`, statement);
    assertEquals([answer.Data.State, answer.Data.Disagreement], ["held", [{ DomesticPaymentId, Why }]]);
  });
  assertEquals(await stored(), before);
});

Deno.test("a payment whose consent the platform knows with another bank or TPP is not recovered [G9]", async (t) => {
  await using env = await openBookEnvironment();
  const flow = await authorised(env);
  const copy = await copyOf(env);
  const { DomesticPaymentId } = (await good(pay(env, flow), 201)).Data;
  await restore(env, copy);
  const key = ["consent", flow.consentId];
  const consent = (await env.store.get<object>(key))?.value;
  for (const change of [{ bank: "BANKB" }, { clientId: env.otherTpp.clientId }]) {
    await t.step(Object.keys(change).join(), async () => {
      const value = { ...consent, ...change };
      await env.store.commit({ checks: [], writes: [{ kind: "set", key, value }] });
      const [, answer] = await env.operate(RECONCILE, "");
      assertEquals([answer.Data.State, answer.Data.Disagreement], ["held", [{
        DomesticPaymentId,
        Why: "the platform knows its consent with another bank or TPP",
      }]]);
      assertEquals(await env.store.get(["payment", DomesticPaymentId]), null);
    });
  }
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
  const claims = (
    changes: Readonly<Record<string, unknown>> & { readonly Data?: object },
  ): Promise<string> => {
    env.books.tamper = (good) => ({ ...good, ...changes, Data: { ...good.Data, ...changes.Data } });
    return env.books.statement({ Since });
  };
  const cases: Record<string, [string, string]> = {
    "signed before the restore": [early, "iat must be after the restore"],
    "of another issuer": [await claims({ iss: "BANKB" }), "iss must be"],
    "for somebody else": [await claims({ aud: "https://elsewhere.example" }), "aud must be"],
    "expired": [await claims({ exp: 1 }), "exp must be later than"],
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
      await signJwt({ ...env.bankB.signing, kid: env.bankA.signing.kid }, {}, { typ: "order-statement+jwt" }),
      "signature must be made with",
    ],
    "that is no JWS": ["rubbish", "a compact JWS"],
  };
  await steps(t, cases, async ([text, why]) => {
    const [status, answer] = await env.operate(RECONCILE, text);
    assertEquals(status, 409);
    assertStringIncludes(answer.error_description, why);
    assertEquals(await env.snapshot(), before, "changes nothing");
  });
});
