/** GET domestic-payment-consents/{id}/funds-confirmation (contract FC1 to FC3; Decision C8). */
import { assertEquals, assertStringIncludes } from "@std/assert";
import type { JsonObject } from "testing/jwts.ts";
import type { Consent, FundsConfirmation } from "testing/answers.ts";
import {
  type BoundToken,
  call,
  clientToken,
  consentBody,
  createConsent,
  DEBTOR_ACCOUNT,
  good,
  pay,
} from "testing/flows.ts";
import { authorised, codeOf, decide, putAccounts, returnPath, toBank } from "testing/authorization_flow.ts";
import { assertFaults } from "testing/resource_answers.ts";
import { CONSENTS } from "support/resource_calls.ts";
import { BASE_URL, type Environment, openEnvironment } from "testing/environment.ts";
import { steps } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { unchanged } from "testing/store_contents.ts";

const WRONG_STATUS = [["Resource.InvalidConsentStatus", "Data.ConsentId"]] as const;

function ask(env: Environment, token: BoundToken, consentId: string): Promise<Response> {
  return call(env, env.tpp, token, `${CONSENTS}/${consentId}/funds-confirmation`);
}

/** A consent over 165.88 EUR that was authorised at bank B's own screen with this account. */
async function authorisedWith(
  env: Environment,
  account: JsonObject,
): Promise<{ consentId: string; bound: BoundToken }> {
  const flow = await toBank(env, { bank: env.bankB });
  await good(putAccounts(env, env.bankB, flow.consentId, [{ ...DEBTOR_ACCOUNT, ...account }]), 200);
  codeOf(await flow.browser.open(await returnPath(env, env.bankB, flow.handover)));
  return flow;
}

test("GET funds-confirmation tells whether the selected account's balance covers the amount [FUN-02]", async ({ env, t }) => {
  const cases: Record<string, readonly [account: JsonObject, available: boolean | undefined]> = {
    "more than enough": [{ Balance: "1000.00", Currency: "EUR" }, true],
    "exactly enough": [{ Balance: "165.88", Currency: "EUR" }, true],
    "enough, with five fraction digits": [{ Balance: "165.88001", Currency: "EUR" }, true],
    "a hundred-thousandth short": [{ Balance: "165.87999", Currency: "EUR" }, false],
    "a cent short": [{ Balance: "165.87", Currency: "EUR" }, false],
    "nothing there": [{ Balance: "0", Currency: "EUR" }, false],
    overdrawn: [{ Balance: "-1000.00", Currency: "EUR" }, false],
    "a balance without currency is in the consent's": [{ Balance: "200" }, true],
    "a balance in another currency": [{ Balance: "1000.00", Currency: "USD" }, undefined],
    "no balance": [{ Currency: "EUR" }, undefined],
  };
  await steps(t, cases, async ([account, available]) => {
    const { consentId, bound } = await authorisedWith(env, account);
    const path = `/BANKB/domestic-payment-consents/v1/${consentId}/funds-confirmation`;
    const response = await unchanged(env, () => call(env, env.tpp, bound, path));
    const result = { FundsAvailableDateTime: "2040-01-15T12:00:00+00:00", FundsAvailable: available };
    assertEquals(await good(response, 200), {
      Data: available === undefined ? {} : { FundsAvailableResult: result },
      Links: { Self: BASE_URL + path },
      Meta: {},
    });
  });
});

test("GET funds-confirmation goes by the account that the customer chose among several [FUN-02]", async ({ env }) => {
  const flow = await toBank(env);
  const poor = { SchemeName: "UK.OBIE.IBAN", Identification: "GB29NWBK60161331926819", Balance: "1.00" };
  const accounts = [poor, { ...DEBTOR_ACCOUNT, Balance: "165.88", Currency: "EUR" }];
  await good(putAccounts(env, env.bankA, flow.consentId, accounts), 200);
  const screen = await flow.browser.open(await returnPath(env, env.bankA, flow.handover));
  codeOf(await decide(flow.browser, screen.headers.get("location") ?? "", "accept", "1"));
  const { Data } = await good<FundsConfirmation>(ask(env, flow.bound, flow.consentId), 200);
  assertEquals(Data.FundsAvailableResult?.FundsAvailable, true);
});

test("An account whose balance is below the amount can be chosen, with a warning, and funds confirmation is false [G3] [FUN-02]", async ({ env }) => {
  const flow = await toBank(env);
  const low = { ...DEBTOR_ACCOUNT, Balance: "165.87", Currency: "EUR" };
  await good(putAccounts(env, env.bankA, flow.consentId, [low]), 200);
  const screen = await flow.browser.open(await returnPath(env, env.bankA, flow.handover));
  const location = screen.headers.get("location") ?? "";
  const html = await (await flow.browser.open(location)).text();
  assertStringIncludes(html, "The balance of this account is lower than the amount.");
  codeOf(await decide(flow.browser, location, "accept", "0"));
  const { Data } = await good<FundsConfirmation>(ask(env, flow.bound, flow.consentId), 200);
  assertEquals(Data.FundsAvailableResult?.FundsAvailable, false);
});

test("GET funds-confirmation does not know the balance of an implicit consent's account [FUN-02]", async ({ env }) => {
  const body = consentBody({ initiation: { DebtorAccount: DEBTOR_ACCOUNT } });
  const { bound, consentId } = await authorised(env, { body });
  assertEquals((await good<FundsConfirmation>(ask(env, bound, consentId), 200)).Data, {});
});

test("GET funds-confirmation is for the owner's token and for the consent's own, and leaves the consent Authorized [FUN-02]", async ({ env, t }) => {
  const { bound, payment, consentId } = await authorised(env);
  for (
    const [name, token] of Object.entries({ "client credentials": bound, "authorization code": payment })
  ) {
    await t.step(name, async () => {
      const response = await unchanged(env, () => ask(env, token, consentId));
      assertEquals(
        (await good<FundsConfirmation>(response, 200)).Data.FundsAvailableResult?.FundsAvailable,
        true,
      );
    });
  }
  const consent = await good<Consent>(call(env, env.tpp, bound, `${CONSENTS}/${consentId}`), 200);
  assertEquals(consent.Data.Status, "Authorized");
});

test("GET funds-confirmation dates its answer by the clock [FUN-02]", async ({ env }) => {
  const { bound, consentId } = await authorised(env);
  env.now += 90_500;
  const { Data } = await good<FundsConfirmation>(ask(env, bound, consentId), 200);
  assertEquals(Data.FundsAvailableResult?.FundsAvailableDateTime, "2040-01-15T12:01:30+00:00");
});

Deno.test("GET funds-confirmation is limited for each consent, not for all of a client's [RL2]", async () => {
  await using env = await openEnvironment({
    environment: { PLATFORM_RATE_LIMITS: "funds=1/2,registration=100/100" },
  });
  const [first, second] = [await authorised(env), await authorised(env)];
  const asked = async ({ bound, consentId }: typeof first): Promise<number> =>
    (await ask(env, bound, consentId)).status;
  assertEquals([await asked(first), await asked(first), await asked(first)], [200, 200, 429]);
  assertEquals(await asked(second), 200);
  env.now += 1000;
  assertEquals(await asked(first), 200);
});

test("GET funds-confirmation is rejected unless the consent is Authorized [FUN-01] [RG-N12]", async ({ env, t }) => {
  const bound = await clientToken(env, env.tpp);
  const rejected = async (name: string, consentId: string, token = bound): Promise<void> => {
    await t.step(name, async () => {
      await assertFaults(await unchanged(env, () => ask(env, token, consentId)), 400, WRONG_STATUS);
    });
  };
  await rejected("AwaitingAuthorisation", (await createConsent(env, bound)).Data.ConsentId);
  const atBank = await toBank(env);
  await rejected("AwaitingAuthorisation, at the bank", atBank.consentId);
  const failure = await returnPath(env, env.bankA, atBank.handover, { claims: { status_code: "failure" } });
  await atBank.browser.open(failure);
  await rejected("Rejected", atBank.consentId);
  const flow = await authorised(env);
  await good(pay(env, flow), 201);
  await rejected("Consumed", flow.consentId);
  await rejected("Consumed, by its own token", flow.consentId, flow.payment);
});
