/** A bank reads its own mistakes: results that it cannot be paid with, and responses to orders. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { firstOf, present, type Trace } from "testing/answers.ts";
import { DEBTOR_ACCOUNT, good, type SentConsent } from "testing/flows.ts";
import type { JsonObject } from "testing/jwts.ts";
import { putAccounts, toBank } from "testing/authorization_flow.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { down, later, openPushEnvironment, ORDERS_URI, paid, silent } from "support/orders.ts";
import { steps } from "support/steps.ts";
import { comeBack } from "../../core/frontchannel/come_back.ts";
import { idOf, tracesAt } from "./read_traces.ts";
import { IMPLICIT } from "testing/bank_return.ts";

interface Result {
  readonly claims: JsonObject;
  readonly message: string;
  /** The reported accounts; by default one. */
  readonly accounts?: readonly unknown[] | null;
  readonly body?: SentConsent;
}

const RESULTS: Readonly<Record<string, Result>> = {
  "an unknown status_code": {
    claims: { status_code: "SUCCESS" },
    message: "status_code must be success, 200, failure or insufficient_funds; got 'SUCCESS'.",
  },
  "no status_code": {
    claims: { status_code: undefined },
    message: "status_code must be success, 200, failure or insufficient_funds.",
  },
  "no sub": {
    claims: { sub: undefined },
    message: "sub must be 1 to 255 characters that are not an account number.",
  },
  "the account number as sub": {
    claims: { sub: DEBTOR_ACCOUNT.Identification },
    body: IMPLICIT,
    message: "sub must be 1 to 255 characters that are not an account number.",
  },
  "another sub than that of the accounts": {
    claims: { sub: "customer-2" },
    message: "sub must be the Data.Sub of the reported accounts.",
  },
  "no accounts": {
    claims: {},
    accounts: null,
    message: "the payer's accounts must be reported on the back channel before a success.",
  },
};

Deno.test("a bank reads why its success sent the customer away, and the TPP only that it did [TRC11]", async (t) => {
  await using env = await openEnvironment();
  await steps(t, RESULTS, async ({ claims, accounts, body, message }) => {
    const flow = await toBank(env, body === undefined ? {} : { body });
    if (accounts !== null && body === undefined) await good(putAccounts(env, flow.bank, flow.consentId), 200);
    const answer = await comeBack(env, flow, claims);
    assertStringIncludes(answer.headers.get("location") ?? "", "error=server_error");
    const [ofBank] = await tracesAt(env, `/${idOf(answer)}`, env.bankA);
    assertEquals([ofBank?.Rejection?.Reason, ofBank?.Rejection?.Message], ["bank_return.unusable", message]);
    const ofTpp = firstOf(await tracesAt(env, `/${idOf(answer)}`));
    assertEquals(ofTpp.Rejection?.Message, undefined);
  });
});

Deno.test("a rejection by the customer is no mistake of the bank [TRC11]", async () => {
  await using env = await openEnvironment();
  const answer = await comeBack(env, await toBank(env), { status_code: "failure" });
  const { Rejection } = firstOf(await tracesAt(env, `/${idOf(answer)}`, env.bankA));
  assertEquals(Rejection, undefined);
});

interface Answer {
  readonly answer: () => Response;
  readonly status: number;
  readonly message: string;
}

const STATUS = "status must be 200, also for a rejected order";
const ANSWERS: Readonly<Record<string, Answer>> = {
  "another Status": {
    answer: () => Response.json({ Status: "Accepted" }),
    status: 200,
    message: "Status must be AcceptedSettlementInProcess or Rejected; got 'Accepted'.",
  },
  "no Status": {
    answer: () => Response.json({ Data: { Status: "Rejected" } }),
    status: 200,
    message: "Status must be AcceptedSettlementInProcess or Rejected.",
  },
  "a number that is an account": {
    answer: () => Response.json({ Status: DEBTOR_ACCOUNT.Identification }),
    status: 200,
    message: "Status must be AcceptedSettlementInProcess or Rejected; got 'GB33...'.",
  },
  "no JSON": {
    answer: () => new Response("OK"),
    status: 200,
    message: "body must be a JSON object with Status.",
  },
  "too much": {
    answer: () => new Response(" ".repeat(16_385)),
    status: 200,
    message: "body must be at most 16384 bytes of UTF-8.",
  },
  "202": { answer: () => new Response(null, { status: 202 }), status: 202, message: `${STATUS}; got 202.` },
  "422": {
    answer: () => Response.json({ error: "no" }, { status: 422 }),
    status: 422,
    message: `${STATUS}; got 422.`,
  },
  "503": { answer: down, status: 503, message: `${STATUS}; got 503.` },
};

Deno.test("a bank reads what was wrong with its response to an order, and no one else does [TRC10]", async (t) => {
  await steps(t, ANSWERS, async ({ answer, status, message }) => {
    await using env = await openPushEnvironment(answer);
    const made = await paid(env);
    const [trace, ...more] = await tracesAt(env, `?payment_id=${made.DomesticPaymentId}`, env.bankA);
    assertEquals(more, []);
    const { InteractionId, DateTime, Milliseconds, Call, ...rest } = present(trace);
    const { Milliseconds: took, ...call } = firstOf(Call);
    assertEquals([DateTime.slice(0, 10), took], ["2040-01-15", Milliseconds]);
    assertEquals(call, { To: "bank", Status: status });
    assertEquals(rest, {
      Method: "POST",
      Endpoint: "payment_orders_uri",
      Status: status,
      OrganisationId: "BANKA",
      Bank: "BANKA",
      ConsentId: made.ConsentId,
      DomesticPaymentId: made.DomesticPaymentId,
      Check: [],
      Rejection: { Reason: "payment_order.unusable_answer", Message: message },
    });
    assertEquals((await tracesAt(env, "?rejected=true", env.bankA)).map(idOfTrace), [InteractionId]);
    const ofTpp = await tracesAt(env, `?payment_id=${made.DomesticPaymentId}`);
    assertEquals(ofTpp.map(({ Endpoint }) => Endpoint), ["/{bank}/domestic-payments/v1"]);
  });
});

Deno.test("each push that the bank does not answer is a trace, and one that it answers is none [TRC10]", async () => {
  await using env = await openPushEnvironment(silent, { uri: ORDERS_URI });
  const { DomesticPaymentId: id } = await paid(env);
  await env.platform.stop(); // waits for the push
  env.answer = down;
  assertEquals(await later(env, 1250), 1);
  env.answer = () => Response.json({ Status: "AcceptedSettlementInProcess" });
  assertEquals(await later(env, 2500), 1);
  const traces = await tracesAt(env, `?payment_id=${id}`, env.bankA);
  const none = "the response must be complete within 5 s; got TimeoutError.";
  assertEquals(traces.map(({ Status, Rejection }) => [Status, Rejection?.Message]), [
    [503, `${STATUS}; got 503.`],
    [0, none],
  ]);
});

Deno.test("PLATFORM_TRACE_DAYS=0 keeps no trace of a response [TRC10]", async () => {
  await using env: Environment = await openPushEnvironment(down, {
    environment: { PLATFORM_TRACE_DAYS: "0" },
  });
  await paid(env);
  assertEquals(await env.platform.writeTraces(), 0);
});

function idOfTrace({ InteractionId }: Trace): string {
  return InteractionId;
}
