/** GET domestic-payment-consents/{id}: what it shows, to whom, and what time does to a consent. */
import { assertEquals } from "@std/assert";
import type { Consent } from "testing/answers.ts";
import { call, clientToken, consentBody, createConsent, dpopKey, good, pay } from "testing/flows.ts";
import { authorise, authorised, codeOf, redeem, toBank } from "testing/authorization_flow.ts";
import { errorBody, unchanged } from "testing/resource_answers.ts";
import { FULL_CONSENT, omitting } from "testing/resource_bodies.ts";
import { CONSENTS } from "support/resource_calls.ts";
import { BASE_URL, openEnvironment } from "testing/environment.ts";
import { read } from "./read_consent.ts";

Deno.test("GET domestic-payment-consents/{id} shows the reduced set, without payer's name and ids [CON-23] [CON-25]", async () => {
  await using env = await openEnvironment();
  const bound = await clientToken(env, env.tpp);
  const { ConsentId } = (await createConsent(env, bound, FULL_CONSENT)).Data;
  env.now += 1000;
  const { InstructedAmount, CreditorAccount, DebtorAccount, RemittanceInformation } =
    FULL_CONSENT.Data.Initiation;
  assertEquals(await good<Consent>(call(env, env.tpp, bound, `${CONSENTS}/${ConsentId}`), 200), {
    Data: {
      ConsentId,
      CreationDateTime: "2040-01-15T12:00:00+00:00",
      Status: "AwaitingAuthorisation",
      StatusUpdateDateTime: "2040-01-15T12:00:00+00:00",
      Initiation: {
        InstructedAmount,
        DebtorAccount: omitting(DebtorAccount, "Name"),
        CreditorAccount,
        RemittanceInformation,
      },
    },
    Risk: FULL_CONSENT.Risk,
    Links: { Self: `${BASE_URL}/BANKA/domestic-payment-consents/v1/${ConsentId}` },
    Meta: {},
  });
});

Deno.test("GET domestic-payment-consents/{id} shows no debtor data where the consent was made without [CON-23]", async () => {
  await using env = await openEnvironment();
  const { consentId } = await authorised(env); // the customer chose an account at the bank
  const data = await read(env, consentId);
  assertEquals(data.Status, "Authorized");
  assertEquals(Object.keys(data.Initiation).sort(), ["CreditorAccount", "InstructedAmount"]);
});

Deno.test("GET domestic-payment-consents/{id} shows the status from creation to consumption [CON-23] [PAY-01]", async (t) => {
  await using env = await openEnvironment();
  const flow = await toBank(env);
  const shows = async (status: string, at: string): Promise<void> => {
    const { Status, StatusUpdateDateTime, CreationDateTime } = await read(env, flow.consentId);
    assertEquals([Status, StatusUpdateDateTime], [status, at]);
    assertEquals(CreationDateTime, "2040-01-15T12:00:00+00:00");
  };
  await t.step("at the bank", () => shows("AwaitingAuthorisation", "2040-01-15T12:00:00+00:00"));
  env.now += 60_000;
  const code = codeOf(await authorise(env, flow));
  await t.step("authorised", () => shows("Authorized", "2040-01-15T12:01:00+00:00"));
  const token = await good(redeem(env, { consentId: flow.consentId, code }), 200);
  env.now += 60_000;
  const payment = { token: token.access_token, key: await dpopKey() };
  await good(pay(env, { ...flow, payment, body: consentBody() }), 201);
  env.now += 60_000;
  await t.step("consumed", () => shows("Consumed", "2040-01-15T12:02:00+00:00"));
});

Deno.test("GET domestic-payment-consents/{id} takes the id in upper case as the same UUID [CON-23]", async () => {
  await using env = await openEnvironment();
  const bound = await clientToken(env, env.tpp);
  const { ConsentId } = (await createConsent(env, bound)).Data;
  const found = await good<Consent>(call(env, env.tpp, bound, `${CONSENTS}/${ConsentId.toUpperCase()}`), 200);
  assertEquals(found.Data.ConsentId, ConsentId);
});

Deno.test("resources that are unknown, malformed, another TPP's or another bank's are answered alike: Decision C2 in place of 404 and 403 [CON-24] [RG-N10] [RG-N13] [PAY-08]", async (t) => {
  await using env = await openEnvironment();
  const own = await authorised(env);
  const paid = (await good(pay(env, own), 201)).Data.DomesticPaymentId;
  const atB = await authorised(env, { bank: env.bankB });
  const paidAtB = (await good(pay(env, atB), 201)).Data.DomesticPaymentId;
  const outsider = await clientToken(env, env.otherTpp);
  const bodies = new Set<string>();
  const isNowhere = async (name: string, path: string, caller = env.tpp): Promise<void> => {
    await t.step(name, async () => {
      const token = caller === env.tpp ? own.bound : outsider;
      const response = await unchanged(env, () => call(env, caller, token, path));
      const body = await errorBody(response, 400);
      assertEquals(body.Errors.map(({ ErrorCode }) => ErrorCode), ["UK.OBIE.Resource.NotFound"]);
      bodies.add(JSON.stringify({ ...body, Id: "" }));
    });
  };
  const ids: Record<string, readonly [consent: string, payment: string]> = {
    unknown: [crypto.randomUUID(), crypto.randomUUID()],
    "no UUID": ["12345", "12345"],
    "of the other kind": [paid, own.consentId],
    "with an escaped slash": [`${own.consentId}%2F`, `${paid}%2F`],
    "with an escaped dot segment": ["..%2F" + own.consentId, "..%2F" + paid],
    "with NUL": [`${own.consentId}%00`, `${paid}%00`],
    "very long": ["a".repeat(1900), "a".repeat(1900)],
    "at another bank": [atB.consentId, paidAtB],
  };
  for (const [name, [consent, payment]] of Object.entries(ids)) {
    await isNowhere(`consent ${name}`, `${CONSENTS}/${consent}`);
    await isNowhere(`funds of a consent ${name}`, `${CONSENTS}/${consent}/funds-confirmation`);
    await isNowhere(`payment ${name}`, `/BANKA/domestic-payments/v1/${payment}`);
  }
  await isNowhere("consent of another TPP", `${CONSENTS}/${own.consentId}`, env.otherTpp);
  await isNowhere("funds of another TPP", `${CONSENTS}/${own.consentId}/funds-confirmation`, env.otherTpp);
  await isNowhere("payment of another TPP", `/BANKA/domestic-payments/v1/${paid}`, env.otherTpp);
  await t.step("all in the same words", () => assertEquals(bodies.size, 1));
  await t.step("dot segments lead elsewhere", async () => {
    const response = await call(env, env.tpp, own.bound, `${CONSENTS}/x/%2e%2e/${own.consentId}`);
    assertEquals(response.status, 200); // RFC 3986 §6.2.2.3: this is the consent's own address
    const above = await call(env, env.tpp, own.bound, `${CONSENTS}/../${own.consentId}`);
    assertEquals(above.status, 404);
  });
});
