/** Support finds a payment by any id that a customer, a TPP or a bank quotes. */
import { elapse } from "support/retention.ts";
import { assert, assertEquals } from "@std/assert";
import { historyOf } from "testing/histories.ts";
import { bodyOf, type CreatedConsent, type Payment } from "testing/answers.ts";
import type { Found } from "testing/operation_answers.ts";
import { authorised, toBank } from "testing/authorization_flow.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { call, clientToken, consentBody, createConsent, good, pay } from "testing/flows.ts";
import type { Participant } from "testing/participants.ts";
import { comeBack } from "../../core/frontchannel/come_back.ts";

async function searchFor(env: Environment, text: string): Promise<Found["Data"]> {
  await env.platform.writeTraces();
  const answer = await env.asOperator(
    `/operations/search?${new URLSearchParams({ q: text })}`,
    {},
    "support",
  );
  assertEquals(answer.status, 200);
  return (await bodyOf<Found>(answer)).Data;
}

/** The reference that the page asks the customer to quote. */
async function numberOn(page: Response): Promise<string> {
  const html = await page.text();
  assert(html.includes("<h1>"), html);
  return /<code dir="ltr">([^<]+)<\/code>/.exec(html)?.[1] ?? "no number";
}

Deno.test("support finds the payment from the number on the customer's error page in one search [TRC7]", async () => {
  await using env = await openEnvironment();
  const flow = await authorised(env);
  const { Data: { DomesticPaymentId } } = await good(pay(env, flow), 201);
  // The customer has paid, goes back in the browser's history and opens the TPP's link once more.
  const query = new URLSearchParams({ client_id: env.tpp.clientId, request_uri: flow.requestUri });
  const page = await flow.browser.open(`/BANKA/authorization.oauth2?${query}`);
  assertEquals(page.status, 400);
  const { Case, Trace } = await searchFor(env, ` ${await numberOn(page)} `);
  assertEquals(Case, [{
    FoundBy: ["interaction id"],
    ConsentId: flow.consentId,
    ConsentStatus: "Consumed",
    DomesticPaymentId,
    PaymentStatus: "AcceptedSettlementInProcess",
    Bank: "BANKA",
    ClientId: env.tpp.clientId,
    Tpp: "Example Shop Ltd · Example Shop Ltd app",
    CreationDateTime: "2040-01-15T12:00:00+00:00",
  }]);
  assertEquals(Trace.map(({ Endpoint, Status, Rejection }) => [Endpoint, Status, Rejection?.Reason]), [
    ["/{bank}/authorization.oauth2", 400, "authorization.request_uri_unusable"],
  ]);
});

Deno.test("the number of a return that was not the customer's leads to the consent too [TRC7]", async () => {
  await using env = await openEnvironment();
  const flow = await toBank(env);
  const page = await comeBack(env, { ...flow, browser: (await toBank(env)).browser });
  assertEquals(page.status, 400);
  const { Case: [found], Trace: [trace] } = await searchFor(env, await numberOn(page));
  assertEquals([found?.ConsentId, found?.DomesticPaymentId], [flow.consentId, undefined]);
  assertEquals(trace?.Rejection?.Detail, "returned in another browser");
});

Deno.test("a payment is found by each of its ids, and a consent that others share an id with [TRC7, TRC8]", async (t) => {
  await using env = await openEnvironment();
  const body = consentBody({ initiation: { EndToEndIdentification: "Ref / 4711 ü" } });
  const flow = await authorised(env, { body });
  const idempotencyKey = "shop-key-1";
  const answer = await pay(env, flow, { idempotencyKey });
  const { Data: { DomesticPaymentId } } = await good<Payment>(answer.clone(), 201);
  const interaction = answer.headers.get("x-fapi-interaction-id") ?? "";
  for (
    const [text, by] of [
      [DomesticPaymentId, "payment id"],
      [DomesticPaymentId.toUpperCase(), "payment id"],
      [flow.consentId, "consent id"],
      [interaction, "interaction id"],
      [interaction.toUpperCase(), "interaction id"],
      ["Ref / 4711 ü", "end-to-end id"],
      [idempotencyKey, "idempotency key"],
    ]
  ) {
    await t.step(`${by} ${text?.length}`, async () => {
      const { Case: [found, ...more], Trace } = await searchFor(env, text ?? "");
      assertEquals([found?.FoundBy, found?.ConsentId, more], [[by], flow.consentId, []]);
      assertEquals(found?.DomesticPaymentId, DomesticPaymentId);
      assert(Trace.length > 0);
    });
  }
  for (const text of ["ref / 4711 ü", "shop-key", crypto.randomUUID(), "toString"]) {
    assertEquals(await searchFor(env, text), { Case: [], Trace: [], IsComplete: true });
  }
  const keys = (await env.store.list({ prefix: ["lookup"], limit: 100 })).map(({ key }) => key.join(" "));
  const uuid = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g; // may have any digits
  const texts = keys.map((key) => key.replaceAll(uuid, ""));
  assert(
    texts.length >= 3 && !texts.some((text) => text.includes("4711") || text.includes("shop")),
    keys.join("\n"),
  );
  await t.step("at most 20 cases, newest first", async () => {
    const bound = await clientToken(env, env.tpp);
    for (let n = 0; n < 25; n++) {
      env.now += 1000;
      await createConsent(env, bound, body);
    }
    const { Case, Trace, IsComplete } = await searchFor(env, "Ref / 4711 ü");
    assertEquals([Case.length, Trace, IsComplete], [20, [], false]);
    const times = Case.map(({ CreationDateTime }) => CreationDateTime);
    assertEquals(times, times.toSorted().toReversed());
  });
});

Deno.test("a TPP cannot hide the cases of another one behind its own [TRC7]", async (t) => {
  await using env = await openEnvironment();
  const body = consentBody({ initiation: { EndToEndIdentification: "INVOICE-17" } });
  const bound = await clientToken(env, env.tpp);
  const answer = await createConsent(env, bound, body);
  const others = await clientToken(env, env.otherTpp);
  await t.step("by an end-to-end id", async () => {
    const path = "/BANKA/domestic-payment-consents/v1";
    for (let times = 0; times < 25; times++) {
      env.now += 1000;
      const made = call(env, env.otherTpp, others, path, { body: JSON.stringify(body) });
      await good<CreatedConsent>(made, 201);
    }
    const { Case, IsComplete } = await searchFor(env, "INVOICE-17");
    assertEquals([Case.map(({ ConsentId }) => ConsentId).includes(answer.Data.ConsentId), IsComplete], [
      true,
      false,
    ]);
  });
  await t.step("by an interaction id", async () => {
    const interaction = crypto.randomUUID();
    const ask = async (as: Participant, token: typeof bound): Promise<void> => {
      const path = `/BANKA/domestic-payment-consents/v1/${answer.Data.ConsentId}`;
      await (await call(env, as, token, path, { headers: { "x-fapi-interaction-id": interaction } })).body
        ?.cancel();
    };
    await ask(env.tpp, bound);
    await env.platform.writeTraces();
    for (let times = 0; times < 60; times++) {
      env.now += 10;
      await ask(env.otherTpp, others);
      await env.platform.writeTraces();
    }
    const { Trace, IsComplete } = await searchFor(env, interaction);
    assertEquals([Trace.some(({ ClientId }) => ClientId === env.tpp.clientId), IsComplete], [true, false]);
  });
});

Deno.test("a search is for those who may read cases, and what it finds is in the operator's history [TRC9]", async () => {
  await using env = await openEnvironment();
  const bound = await clientToken(env, env.tpp);
  const { ConsentId } = (await createConsent(env, bound)).Data;
  await searchFor(env, "FRESCO.21302.GFX.20");
  await searchFor(env, "Margaret Hamilton");
  const own = await historyOf(env.store, "operator support");
  assertEquals(own.map(({ event, reason }) => [event, reason]), [
    ["operator.read", `/operations/search: consent ${ConsentId}`],
    ["operator.read", "/operations/search: nothing found"],
  ]);
  assertEquals((await env.asOperator("/operations/search?q=x", {}, "viewer")).status, 403);
  for (const query of ["", "?q=", "?q=%20", `?q=${"x".repeat(129)}`, "?q=a&q=b"]) {
    assertEquals((await env.asOperator(`/operations/search${query}`, {}, "support")).status, 400, query);
  }
});

Deno.test("the end-to-end id of a consent without personal data leads nowhere [TRC8]", async () => {
  await using env = await openEnvironment({ environment: { PLATFORM_KEEP_UNAUTHORISED_DAYS: "1" } });
  const { ConsentId } = (await createConsent(env, await clientToken(env, env.tpp))).Data;
  assertEquals((await searchFor(env, "FRESCO.21302.GFX.20")).Case.length, 1);
  env.now += 25 * 3_600_000;
  while (await env.platform.sweepConsents() > 0);
  await elapse(env, 25 * 3_600_000);
  while (await env.platform.eraseConsents() > 0);
  assertEquals((await searchFor(env, "FRESCO.21302.GFX.20")).Case, []);
  assertEquals((await searchFor(env, ConsentId)).Case.length, 1);
});

Deno.test("a rejected request of a caller that no one knows is found by its number [TRC7]", async () => {
  await using env = await openEnvironment();
  const bound = await clientToken(env, env.tpp);
  const answer = await call(env, env.tpp, bound, "/BANKA/domestic-payments/v1/x", { as: null });
  const { Case, Trace } = await searchFor(env, answer.headers.get("x-fapi-interaction-id") ?? "");
  const stolen = await call(env, env.otherTpp, bound, "/BANKA/domestic-payments/v1/x");
  const seen = await searchFor(env, stolen.headers.get("x-fapi-interaction-id") ?? "");
  assertEquals(seen.Trace[0]?.Rejection?.Reason, "certificate.not_participants"); // the caller reads token.invalid
  assertEquals([Case, Trace.length, Trace[0]?.Rejection?.Reason], [[], 1, "certificate.missing"]);
});
