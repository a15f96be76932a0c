import { assertEquals } from "@std/assert";
import { memberOf } from "testing/answers.ts";
import { IMPLICIT } from "testing/bank_return.ts";
import { consentBody } from "testing/flows.ts";
import { type AtBank, toBank } from "testing/authorization_flow.ts";
import {
  ACCOUNTS,
  assertBrowserHeaders,
  assertCodeAnswer,
  assertErrorAnswer,
  codesIssued,
  consentStatus,
  reportAccounts,
} from "testing/front_channel.ts";
import { AUTH_URL, type Environment, openEnvironment } from "testing/environment.ts";
import { steps } from "support/steps.ts";
import { comeBack, history } from "./come_back.ts";

Deno.test("GET authorization.sca.oauth2: success of an explicit consent without reported accounts is server_error, and rejects it [BR-N15] [BR12] [CT10] [B4]", async () => {
  await using env = await openEnvironment();
  for (const bank of [env.bankA, env.bankB]) {
    const flow = await toBank(env, { bank });
    await assertErrorAnswer(await comeBack(env, flow), "server_error", bank.orgId);
    assertEquals(await consentStatus(env, flow), "Rejected");
  }
  assertEquals(await codesIssued(env), 0);
});

Deno.test("GET authorization.sca.oauth2: success for another customer than the one whose accounts were reported is server_error [BR12] [BR13]", async () => {
  await using env = await openEnvironment();
  for (const bank of [env.bankA, env.bankB]) {
    const flow = await toBank(env, { bank });
    await reportAccounts(env, flow, ACCOUNTS.slice(0, 1), { data: { Sub: "customer-1" } });
    await assertErrorAnswer(await comeBack(env, flow, { sub: "customer-2" }), "server_error", bank.orgId);
    assertEquals(await consentStatus(env, flow), "Rejected");
  }
  assertEquals(await codesIssued(env), 0);
});

Deno.test("GET authorization.sca.oauth2: success with a sub that is missing, too long, unprintable or an account number is server_error [BR13]", async (t) => {
  await using env = await openEnvironment();
  const subs: Record<string, unknown> = {
    "missing": undefined,
    "empty": "",
    "a number": 1,
    "256 characters": "s".repeat(256),
    "a NUL character": "customer\0",
    "an IBAN": "GB29NWBK60161331926819",
    "an IBAN, grouped": "gb29 nwbk 6016 1331 9268 19",
    "a card number": "4111 1111 1111 1111",
    "the consent's own account, of a scheme without check digits": "60-16-13 31926819",
    "its secondary identification": "Roll 56988",
  };
  const DebtorAccount = {
    SchemeName: "UK.OBIE.SortCodeAccountNumber",
    Identification: "60161331926819",
    SecondaryIdentification: "ROLL56988",
  };
  const body = consentBody({ initiation: { DebtorAccount } });
  await steps(t, subs, async (sub) => {
    const flow = await toBank(env, { body });
    await assertErrorAnswer(await comeBack(env, flow, { sub }), "server_error");
    assertEquals(await consentStatus(env, flow), "Rejected");
  });
  await t.step("255 characters are fine", async () => {
    const flow = await toBank(env, { body });
    await assertCodeAnswer(await comeBack(env, flow, { sub: "s".repeat(255) }));
  });
});

Deno.test("GET authorization.sca.oauth2 leads to the platform's screen, the consent still undecided [CT4] [BR12] [BR16]", async () => {
  await using env = await openEnvironment();
  const flow = await toBank(env);
  await reportAccounts(env, flow);
  const answer = await comeBack(env, flow);
  assertEquals([answer.status, await answer.text()], [303, ""]);
  assertEquals(
    answer.headers.get("location"),
    `${AUTH_URL}/BANKA/authorization.consent.oauth2?flow=${flow.handover.correlation_id}`,
  );
  assertBrowserHeaders(answer);
  assertEquals([await codesIssued(env), await consentStatus(env, flow)], [0, "AwaitingAuthorisation"]);
});

Deno.test("GET authorization.sca.oauth2: the bank's own screen chooses the account, in any number of reports [CT6]", async () => {
  await using env = await openEnvironment();
  const flow = await toBank(env, { bank: env.bankB });
  await reportAccounts(env, flow, ACCOUNTS.slice(0, 1));
  await reportAccounts(env, flow, ACCOUNTS.slice(2, 3));
  await assertCodeAnswer(await comeBack(env, flow), "BANKB");
  const consent = await stored(env, flow);
  assertEquals([memberOf(consent, "status"), memberOf(consent, "selectedAccount")], [
    "Authorized",
    ACCOUNTS[2],
  ]);
});

Deno.test("GET authorization.sca.oauth2 keeps the bank's status in the consent's history [B3]", async (t) => {
  await using env = await openEnvironment();
  await t.step("of an end", async () => {
    const flow = await toBank(env, { body: IMPLICIT });
    await comeBack(env, flow, { status: "limit exceeded", status_code: "failure" });
    assertEquals((await history(env, flow)).at(-1), {
      event: "consent.Rejected",
      actor: "customer",
      reason: "bank: limit exceeded",
    });
  });
  await t.step("of the way to the platform's screen", async () => {
    const flow = await toBank(env);
    await reportAccounts(env, flow);
    await comeBack(env, flow, { status: "authenticated" });
    assertEquals((await history(env, flow)).at(-1), {
      event: "consent.customer_authenticated",
      actor: "customer",
      reason: "bank: authenticated",
    });
  });
  await t.step("cut and made printable", async () => {
    const flow = await toBank(env, { body: IMPLICIT });
    await comeBack(env, flow, { status: `\u202e\n${"x".repeat(200)}` });
    assertEquals((await history(env, flow)).at(-1)?.reason, `bank: ??${"x".repeat(62)}`);
  });
});

async function stored(env: Environment, { consentId }: AtBank): Promise<unknown> {
  return (await env.snapshot()).find(({ key }) => key[0] === "consent" && key[1] === consentId)?.value;
}
