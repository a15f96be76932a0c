/** A payment in two calls of the library, through lost answers, overload and every return of the customer. */
import { assertEquals, assertRejects } from "@std/assert";
import { ApiErrorResponse } from "../../../src/client/party/api_error.ts";
import {
  beginPayment,
  finishPayment,
  PaymentUnknown,
  submitPayment,
} from "../../../src/client/tpp/take_payment.ts";
import { paymentRequest } from "../../../src/client/tpp/payment_request.ts";
import { merchant } from "../../../src/sandbox/shop/catalogue.ts";
import {
  authUrl,
  consentId,
  json,
  paymentAnswer,
  paymentId,
  requestUri,
  shopUrl,
} from "support/sandbox_tpp_platform.ts";
import { openEnvironmentAndFlow } from "./tpp_client.ts";

const PAYMENTS = "/BANKA/domestic-payments/v1";
const request = paymentRequest({
  orderId: crypto.randomUUID(),
  description: "Lunch",
  amount: "12.50",
  merchant,
});

function recordPauses(): { pauses: number[]; wait: (milliseconds: number) => Promise<void> } {
  const pauses: number[] = [];
  return { pauses, wait: (milliseconds) => Promise.resolve(void pauses.push(milliseconds)) };
}

function back(state: string, more: Readonly<Record<string, string>>): URL {
  return new URL(`${shopUrl}/callback?${new URLSearchParams({ state, iss: `${authUrl}/BANKA`, ...more })}`);
}

Deno.test("beginPayment gives JSON with the address for the customer, and finishPayment submits the payment", async () => {
  const { flow } = await openEnvironmentAndFlow();
  const begun = await beginPayment(flow, request, { uiLocales: "fr" });
  assertEquals(begun.url.includes(encodeURIComponent(requestUri)), true);
  const stored = JSON.parse(JSON.stringify(begun)) as typeof begun;
  const end = await finishPayment(flow, stored, back(begun.authorization.state, { code: "c" }));
  assertEquals(end.kind === "submitted" && end.payment.paymentId, paymentId);
});

Deno.test("a lost answer, 503 and 429 are repeated with the same key after the platform's pause", async () => {
  const { env, flow } = await openEnvironmentAndFlow();
  const { pauses, wait } = recordPauses();
  const begun = await beginPayment(flow, request);
  env.answers.set(PAYMENTS, [
    () => Promise.reject(new TypeError("connection reset")),
    () => new Response("<html>", { status: 502 }),
    () => new Response("{}", { status: 429, headers: { "retry-after": "7" } }),
  ]);
  const end = await finishPayment(flow, begun, back(begun.authorization.state, { code: "c" }), { wait });
  assertEquals([end.kind, pauses], ["submitted", [500, 1000, 7000]]);
  const sent = env.seen.filter(({ path }) => path === PAYMENTS);
  assertEquals(new Set(sent.map(({ headers }) => headers.get("x-idempotency-key"))).size, 1);
  assertEquals(
    new Set(sent.map(({ headers }) => headers.get("dpop"))).size,
    4,
    "each call has its own proof",
  );
  assertEquals(sent[0]?.headers.get("x-idempotency-key"), begun.paymentKey);
});

Deno.test("repetition ends: after four calls, after too long a pause, and at once if the answer is final", async () => {
  const { env, flow } = await openEnvironmentAndFlow();
  const { pauses, wait } = recordPauses();
  const path = "/BANKA/domestic-payment-consents/v1";
  const answers = (status: number, headers: HeadersInit = {}): void =>
    void env.answers.set(
      path,
      Array.from({ length: 9 }, () => () => new Response("{}", { status, headers })),
    );
  const begin = (): Promise<unknown> => beginPayment(flow, request, { wait });
  answers(503);
  await assertRejects(begin, ApiErrorResponse);
  assertEquals(pauses.splice(0), [500, 1000, 2000]);
  answers(503, { "retry-after": "3600" });
  await assertRejects(begin, ApiErrorResponse);
  answers(400);
  await assertRejects(begin, ApiErrorResponse);
  assertEquals(pauses, []);
});

Deno.test("a payment whose answer does not come is submitted again with its token and key, not its code", async () => {
  const { env, flow } = await openEnvironmentAndFlow();
  const { wait } = recordPauses();
  const begun = await beginPayment(flow, request);
  env.answers.set(PAYMENTS, Array.from({ length: 4 }, () => () => Promise.reject(new TypeError("reset"))));
  const returned = back(begun.authorization.state, { code: "c" });
  const unknown = await assertRejects(() => finishPayment(flow, begun, returned, { wait }), PaymentUnknown);
  const codes = (): number =>
    env.seen.filter(({ body }) => body.includes("grant_type=authorization_code")).length;
  assertEquals((await submitPayment(flow, begun, unknown.token)).paymentId, paymentId);
  assertEquals(codes(), 1);
});

/** Returns the payment whose first answer is lost and whose second one is a 401. `found` answers what follows. */
async function rejectedAfterLoss(found: () => Response): Promise<string> {
  const { env, flow } = await openEnvironmentAndFlow();
  const { wait } = recordPauses();
  const begun = await beginPayment(flow, request);
  env.answers.set(PAYMENTS, [() => Promise.reject(new TypeError("reset")), unauthorized, found]);
  const end = await finishPayment(flow, begun, back(begun.authorization.state, { code: "c" }), { wait });
  return end.kind === "submitted" ? end.payment.paymentId : end.kind;
}

function unauthorized(): Response {
  return new Response(null, { status: 401, headers: { "www-authenticate": "DPoP" } });
}

function notFound(): Response {
  return json(400, { Errors: [{ ErrorCode: "UK.OBIE.Resource.NotFound" }] });
}

Deno.test("a rejection after a lost answer does not say that no payment was made: it is looked up by its key", async () => {
  assertEquals(await rejectedAfterLoss(() => paymentAnswer(200, "Pending")), paymentId);
  assertEquals((await assertRejects(() => rejectedAfterLoss(notFound), ApiErrorResponse)).status, 401);
  await assertRejects(() => rejectedAfterLoss(unauthorized), PaymentUnknown);
});

Deno.test("a payment that is submitted again is looked up if it is rejected, for as long as its key counts", async () => {
  const { env, flow } = await openEnvironmentAndFlow();
  const begun = await beginPayment(flow, request);
  const day = 86_400_000;
  const token = { value: "t", expiresInSeconds: 300, expiresAt: flow.tpp.now() + 300_000 };
  env.answers.set(PAYMENTS, [unauthorized, () => paymentAnswer(200, "Pending")]);
  assertEquals((await submitPayment(flow, begun, token)).paymentId, paymentId);
  env.answers.set(PAYMENTS, [unauthorized, notFound]);
  await assertRejects(() => submitPayment(flow, begun, token), ApiErrorResponse);
  env.answers.set(PAYMENTS, [unauthorized, notFound]);
  const old = { ...token, expiresAt: token.expiresAt - day };
  await assertRejects(() => submitPayment(flow, begun, old), PaymentUnknown);
});

Deno.test("the rejection of the only submission is final", async () => {
  const { env, flow } = await openEnvironmentAndFlow();
  const begun = await beginPayment(flow, request);
  env.answers.set(PAYMENTS, [() => new Response("{}", { status: 400 })]);
  const returned = back(begun.authorization.state, { code: "c" });
  await assertRejects(() => finishPayment(flow, begun, returned), ApiErrorResponse);
});

Deno.test("the exchange of a code is never repeated: that would revoke its tokens", async () => {
  const { env, flow } = await openEnvironmentAndFlow();
  const begun = await beginPayment(flow, request);
  env.answers.set("/BANKA/token.oauth2/v1", [() => Promise.reject(new TypeError("connection reset"))]);
  const returned = back(begun.authorization.state, { code: "c" });
  await assertRejects(() => finishPayment(flow, begun, returned), TypeError);
  assertEquals(env.seen.filter(({ path }) => path === PAYMENTS), []);
});

Deno.test("every return of the customer has its end, and a foreign one is not used", async () => {
  const { env, flow } = await openEnvironmentAndFlow();
  const begun = await beginPayment(flow, request);
  const { state } = begun.authorization;
  const ends: Readonly<Record<string, string>> = {
    access_denied: "rejected",
    temporarily_unavailable: "failed",
    server_error: "failed",
    invalid_request: "failed",
  };
  for (const [error, kind] of Object.entries(ends)) {
    const end = await finishPayment(flow, begun, back(state, { error, error_description: "Because." }));
    assertEquals(end, { kind, error, description: "Because." } as typeof end);
  }
  const foreign = [
    back("another", { code: "c" }),
    back(state, { code: "c", iss: "https://evil.example" }),
    new URL(`${shopUrl}/callback?state=${state}&code=c`), // no iss
    back(state, {}),
  ];
  for (const url of foreign) await assertRejects(() => finishPayment(flow, begun, url), Error);
  assertEquals(env.seen.filter(({ path }) => path === PAYMENTS), []);
  env.answers.set(PAYMENTS, [() => json(201, { Data: { ConsentId: consentId } })]);
});
