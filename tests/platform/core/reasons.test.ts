/** Every rejection has a code: in answers, events, redirects and what banks report. */
import { assertEquals } from "@std/assert";
import type { Consent } from "testing/answers.ts";
import { type AtBank, authorised, decide, returnPath, toBank } from "testing/authorization_flow.ts";
import { paidAt, putStatus } from "testing/back_channel.ts";
import { type Environment } from "testing/environment.ts";
import { call, clientToken, createConsent, good } from "testing/flows.ts";
import { reportAccounts, tppAnswer } from "testing/front_channel.ts";
import { openPushEnvironment, paid, payment, report } from "support/orders.ts";
import { steps } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { waiting } from "../events/poll.ts";

async function consentOf(env: Environment, consentId: string): Promise<Consent["Data"]> {
  const bound = await clientToken(env, env.tpp);
  const path = `/BANKA/domestic-payment-consents/v1/${consentId}`;
  return (await good<Consent>(call(env, env.tpp, bound, path), 200)).Data;
}

/** The code of each event, by its type and resource. */
async function codesTold(env: Environment): Promise<Readonly<Record<string, string | undefined>>> {
  const events = await waiting(env);
  return Object.fromEntries(events.map(({ claims, what, resource }) => {
    const [happened] = Object.entries(claims.events).filter(([name]) => name.startsWith("http"));
    return [`${what} ${resource}`, happened?.[1].reason_code];
  }));
}

async function comeBack(env: Environment, flow: AtBank, claims: Record<string, unknown>): Promise<Response> {
  return await flow.browser.open(await returnPath(env, flow.bank, flow.handover, { claims }));
}

/** How a consent ends at the bank, and the code of its end. */
const ENDS: Readonly<Record<string, readonly [claims: Record<string, unknown>, code: string]>> = {
  "a failure with a code": [{ status_code: "failure", reason_code: "AC06" }, "AC06"],
  "a failure without one": [{ status_code: "failure" }, "MS03"],
  "a code of the platform's own": [{ status_code: "failure", reason_code: "SESSION_EXPIRED" }, "MS03"],
  "a code of no list": [{ status_code: "failure", reason_code: ["AC06"] }, "MS03"],
  "too little money": [{ status_code: "insufficient_funds" }, "AM04"],
  "an unusable result": [{ status_code: "unheard of", reason_code: "AC06" }, "BANK_RESULT_UNUSABLE"],
};

test("a rejection at the bank has one code in redirect, consent and event [RSN2, RSN3, RSN4, RSN5, RSN-N2]", async ({ env, t }) => {
  await steps(t, ENDS, async ([claims, code]) => {
    const flow = await toBank(env);
    const { parameters } = await tppAnswer(await comeBack(env, flow, claims));
    const consent = await consentOf(env, flow.consentId);
    const told = await codesTold(env);
    assertEquals(
      [parameters["reason_code"], consent.Status, consent.StatusReasonCode],
      [code, "Rejected", code],
    );
    assertEquals(told[`consent-rejected Rejected ${flow.consentId}`], code);
  });
});

test("a rejection on the platform's screen is the customer's [RSN2, RSN4]", async ({ env }) => {
  const flow = await toBank(env);
  await reportAccounts(env, flow);
  const screen = (await comeBack(env, flow, {})).headers.get("location") ?? "";
  const { parameters } = await tppAnswer(await decide(flow.browser, screen, "refuse"));
  assertEquals(parameters["reason_code"], "CUST");
  assertEquals((await consentOf(env, flow.consentId)).StatusReasonCode, "CUST");
});

test("a late customer's redirect has a code, and the consent, which is as before, has none [RSN4, RSN2]", async ({ env }) => {
  const flow = await toBank(env);
  env.now += 900_000;
  const { parameters } = await tppAnswer(await comeBack(env, flow, {}));
  assertEquals(parameters["reason_code"], "SESSION_EXPIRED");
  const { Status, StatusReasonCode } = await consentOf(env, flow.consentId);
  assertEquals([Status, StatusReasonCode], ["AwaitingAuthorisation", undefined]);
});

test("a consent that expired says so from its deadline on, and which deadline it was [RSN2]", async ({ env }) => {
  const open = (await createConsent(env, await clientToken(env, env.tpp))).Data.ConsentId;
  const unused = (await authorised(env)).consentId;
  env.now += 86_400_000 + 5000;
  const seen = async (): Promise<unknown> =>
    await Promise.all([open, unused].map(async (id) => (await consentOf(env, id)).StatusReasonCode));
  assertEquals(await seen(), ["DS24", "CONSENT_NOT_USED"]);
  await env.platform.sweepConsents();
  assertEquals(await seen(), ["DS24", "CONSENT_NOT_USED"]);
  const told = await codesTold(env);
  assertEquals(told[`consent-expired Rejected ${open}`], "DS24");
  assertEquals(told[`consent-expired Rejected ${unused}`], "CONSENT_NOT_USED");
});

/** What a bank says with `Rejected`, and the code that the TPP reads. */
const WORDS: Readonly<Record<string, readonly [said: Record<string, unknown>, code: string]>> = {
  "a code alone": [{ StatusReasonCode: "AG01" }, "AG01"],
  "a code and a text": [{ StatusReasonCode: "FF05", StatusReason: "No such scheme" }, "FF05"],
  "a text alone, which is not searched": [{ StatusReason: "AM04: Insufficient funds" }, "NARR"],
  "nothing": [{}, "MS03"],
};

test("a bank reports a code in a status report [RSN3, RSN5]", async ({ env, t }) => {
  await steps(t, WORDS, async ([said, code]) => {
    const { data: { DomesticPaymentId: id } } = await paidAt(env, env.bankA);
    const StatusUpdateDateTime = new Date(env.now).toISOString();
    await good(putStatus(env, env.bankA, id, { Status: "Rejected", StatusUpdateDateTime, ...said }), 200);
    assertEquals((await payment(env, id)).StatusReasonCode, code);
    assertEquals((await codesTold(env))[`payment-status-changed Rejected ${id}`], code);
  });
});

Deno.test("a bank reports a code in its answer to a push, where one of no list counts as none [RSN5, RSN-N2]", async (t) => {
  const answers = { ...WORDS, "a code of no list": [{ StatusReasonCode: "ZZ99" }, "MS03"] as const };
  await steps(t, answers, async ([said, code]) => {
    await using env = await openPushEnvironment(() => Response.json({ Status: "Rejected", ...said }));
    const made = await paid(env);
    assertEquals([made.Status, made.StatusReasonCode], ["Rejected", code]);
  });
});

test("a status report with a code that no bank may report is 400 and changes nothing [RSN-N1]", async ({ env }) => {
  const { data: { DomesticPaymentId: id, Status } } = await paidAt(env, env.bankA);
  for (const StatusReasonCode of ["ZZ99", "am04", "ORDER_CLOSED", 4, null]) {
    const Data = {
      Status: "Rejected",
      StatusUpdateDateTime: new Date(env.now).toISOString(),
      StatusReasonCode,
    };
    const answer = await putStatus(env, env.bankA, id, Data);
    assertEquals([answer.status, JSON.stringify(await answer.json()).includes("Data.StatusReasonCode")], [
      400,
      true,
    ]);
  }
  assertEquals((await payment(env, id)).Status, Status);
});

test("only Rejected has a code: another status that follows has none [RSN2]", async ({ env }) => {
  const { data: { DomesticPaymentId: id } } = await paidAt(env, env.bankA);
  assertEquals((await payment(env, id)).StatusReasonCode, undefined);
  await report(env, id, "AcceptedSettlementCompleted");
  assertEquals((await payment(env, id)).StatusReasonCode, undefined);
});
