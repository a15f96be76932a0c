/** Contract CT1 to CT17 as a TPP sees it: what moves a consent, and what does not. */
import { assertEquals } from "@std/assert";
import { comeBack } from "support/at_bank.ts";
import { type Consent, rejectionOf } from "testing/answers.ts";
import { IMPLICIT } from "testing/bank_return.ts";
import {
  type BoundToken,
  call,
  clientToken,
  consentBody,
  createConsent,
  good,
  pay,
  push,
} from "testing/flows.ts";
import { type AtBank, authorised, toBank } from "testing/authorization_flow.ts";
import { assertErrorAnswer, codesIssued, consentStatus, reportAccounts } from "testing/front_channel.ts";
import { type Environment } from "testing/environment.ts";
import { steps } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { errorBody } from "testing/resource_answers.ts";
import { unchanged } from "testing/store_contents.ts";

test("A consent awaits authorisation until a customer or a bank ends its flow [CT1] [CT2] [CT3] [CT4]", async ({ env }) => {
  const bound = await clientToken(env, env.tpp);
  const consentId = (await createConsent(env, bound)).Data.ConsentId;
  const flow = await toBank(env);
  const created = { consentId, bound, bank: env.bankA };
  assertEquals(await consentStatus(env, created), "AwaitingAuthorisation"); // contract CT1
  await good(push(env, consentId), 201);
  await good(push(env, consentId), 201);
  assertEquals(await consentStatus(env, created), "AwaitingAuthorisation"); // contract CT2
  assertEquals(await consentStatus(env, flow), "AwaitingAuthorisation"); // contract CT3
  await reportAccounts(env, flow);
  assertEquals(await consentStatus(env, flow), "AwaitingAuthorisation"); // contract CT4
});

test("Authorized: confirming funds changes nothing, the payment consumes it, then nothing moves it [CT13] [CT14] [CT16] [A1]", async ({ env }) => {
  const flow = await authorised(env, { bank: env.bankA });
  const funds = `/BANKA/domestic-payment-consents/v1/${flow.consentId}/funds-confirmation`;
  const confirmed = await assertConsentStays(env, flow, "Authorized", async () => {
    return await call(env, env.tpp, flow.bound, funds);
  });
  assertEquals(confirmed.status, 200);
  await good(pay(env, flow), 201);
  assertEquals(await consentStatus(env, flow), "Consumed");
  const after = {
    "funds confirmation": (): Promise<Response> => call(env, env.tpp, flow.bound, funds),
    "another payment": (): Promise<Response> => pay(env, flow),
  };
  for (const [name, act] of Object.entries(after)) {
    const answer = await assertConsentStays(env, flow, "Consumed", act);
    const { Errors: [fault] } = await errorBody(answer, 400);
    assertEquals(fault?.ErrorCode, "UK.OBIE.Resource.InvalidConsentStatus", name);
  }
});

test("POST par for a consent that no customer can be asked about: 400 invalid_request [AUT-12] [CT16]", async ({ env, t }) => {
  const bound = await clientToken(env, env.tpp);
  const implicit = await authorised(env, { body: IMPLICIT });
  const consumed = await authorised(env);
  await good(pay(env, consumed), 201);
  const rejected = await toBank(env, { body: IMPLICIT });
  await assertErrorAnswer(await comeBack(env, rejected, { status_code: "failure" }), "access_denied");
  const CompletionDateTime = new Date(env.now + 1000).toISOString();
  const short = { data: { Authorisation: { AuthorisationType: "Any", CompletionDateTime } } };
  const expired = (await createConsent(env, bound, consentBody(short))).Data.ConsentId;
  env.now += 1000;
  const consents: Record<string, readonly [string, Parameters<typeof push>[2]?]> = {
    "Authorized": [implicit.consentId],
    "Consumed": [consumed.consentId],
    "Rejected": [rejected.consentId],
    "expired": [expired],
    "unknown": [crypto.randomUUID()],
    "no UUID": ["4711"],
    "another client's": [(await createConsent(env, bound)).Data.ConsentId, { client: env.otherTpp }],
    "another bank's": [(await createConsent(env, bound)).Data.ConsentId, { bank: "BANKB" }],
  };
  await steps(t, consents, async ([consentId, options = {}]) => {
    const form = { code_challenge: "P".repeat(42) + "A" };
    const answer = await unchanged(env, () => push(env, consentId, { ...options, form }));
    assertEquals([answer.status, (await rejectionOf(answer)).error], [400, "invalid_request"]);
  });
});

test("A deadline that the sweeper has written down gives the same answer as one that it has not [CT12] [CT15] [CT1]", async ({ env }) => {
  const answers: unknown[] = [];
  for (const swept of [false, true]) {
    const CompletionDateTime = new Date(env.now + 300_000).toISOString();
    const body = consentBody({
      initiation: { DebtorAccount: IMPLICIT.Data.Initiation.DebtorAccount },
      data: { Authorisation: { AuthorisationType: "Any", CompletionDateTime } },
    });
    const flow = await toBank(env, { body });
    env.now += 301_000;
    if (swept) await env.platform.sweepConsents();
    await assertErrorAnswer(await comeBack(env, flow), "access_denied");
    const { Data } = await good<Consent>(call(env, env.tpp, flow.bound, consentPath(flow)), 200);
    answers.push([Data.Status, Date.parse(Data.StatusUpdateDateTime) - env.now]);
  }
  assertEquals(answers, [["Rejected", -1000], ["Rejected", -1000]]);
  assertEquals(await codesIssued(env), 0);
});

type OfConsent = Pick<AtBank, "consentId" | "bank"> & { readonly bound: BoundToken };

async function assertConsentStays(
  env: Environment,
  flow: OfConsent,
  status: string,
  act: () => Promise<Response>,
): Promise<Response> {
  const before = await good<Consent>(call(env, env.tpp, flow.bound, consentPath(flow)), 200);
  const answer = await act();
  const after = await good<Consent>(call(env, env.tpp, flow.bound, consentPath(flow)), 200);
  assertEquals(after, before);
  assertEquals(after.Data.Status, status);
  return answer;
}

function consentPath({ consentId, bank }: Pick<AtBank, "consentId" | "bank">): string {
  return `/${bank.orgId}/domestic-payment-consents/v1/${consentId}`;
}
