import { assertEquals } from "@std/assert";
import { IMPLICIT, sealedReturn, signedReturn } from "testing/bank_return.ts";
import { consentBody, type Json } from "testing/flows.ts";
import { type AtBank, authorize, toBank } from "testing/authorization_flow.ts";
import {
  ACCOUNTS,
  assertBrowserHeaders,
  assertCodeAnswer,
  assertErrorAnswer,
  assertPage,
  codesIssued,
  consentStatus,
  reportAccounts,
  tppAnswer,
} from "testing/front_channel.ts";
import type { JsonObject } from "testing/jwts.ts";
import { AUTH_URL, type Environment, openEnvironment } from "testing/environment.ts";
import { steps } from "support/steps.ts";

Deno.test("GET authorization.sca.oauth2 takes exactly success and 200 for success [BR11] [B3] [CT5] [BR16]", async (t) => {
  await using env = await openEnvironment();
  for (const status_code of ["success", "200"]) {
    await t.step(status_code, async () => {
      const flow = await toBank(env, { body: IMPLICIT });
      await assertCodeAnswer(await comeBack(env, flow, { status_code }));
      assertEquals(await consentStatus(env, flow), "Authorized");
    });
  }
});

Deno.test("GET authorization.sca.oauth2 redirects with server_error for an unknown status_code, and rejects the consent [BR-N13] [BR11] [B3] [AUT-11]", async (t) => {
  await using env = await openEnvironment();
  const codes = [
    "SUCCESS ",
    "Success",
    " success",
    "true",
    "201",
    "INSUFFICIENT_FUNDS",
    "insufficient_funds ",
    "0",
    200,
    true,
    null,
    ["success"],
    "",
    undefined,
  ];
  for (const status_code of codes) {
    await t.step(JSON.stringify(status_code) ?? "missing", async () => {
      const flow = await toBank(env, { body: IMPLICIT });
      await assertErrorAnswer(await comeBack(env, flow, { status_code }), "server_error");
      assertEquals(await consentStatus(env, flow), "Rejected");
    });
  }
  assertEquals(await codesIssued(env), 0);
});

Deno.test("GET authorization.sca.oauth2 redirects a failure with access_denied, state and iss, and rejects the consent [BR-N14] [B4] [B5] [CT8] [CT11] [CT9] [AUT-11]", async (t) => {
  await using env = await openEnvironment();
  const flows = {
    "implicit": { body: IMPLICIT },
    "explicit, nothing reported": { body: consentBody() },
    "bank's own screen": { bank: env.bankB },
  };
  await steps(t, flows, async (options) => {
    const flow = await toBank(env, options);
    const answer = await comeBack(env, flow, { status_code: "failure", status: "refused", sub: undefined });
    await assertErrorAnswer(answer, "access_denied", flow.bank.orgId);
    assertEquals(await consentStatus(env, flow), "Rejected");
    await assertPage(
      await authorize(flow.browser, env.tpp, flow.requestUri, flow.bank.orgId),
      400,
      "link_unusable",
    );
  });
  await t.step("explicit, accounts reported", async () => {
    const flow = await toBank(env);
    await reportAccounts(env, flow);
    await assertErrorAnswer(await comeBack(env, flow, { status_code: "failure" }), "access_denied");
    assertEquals(await consentStatus(env, flow), "Rejected");
  });
  assertEquals(await codesIssued(env), 0);
});

Deno.test("GET authorization.sca.oauth2 redirects too little money with access_denied and says so, and rejects the consent [G7] [B5]", async (t) => {
  await using env = await openEnvironment();
  const flows = {
    "implicit": { body: IMPLICIT },
    "explicit, nothing reported": { body: consentBody() },
    "bank's own screen": { bank: env.bankB },
  };
  await steps(t, flows, async (options) => {
    const flow = await toBank(env, options);
    const answer = await comeBack(env, flow, {
      status_code: "insufficient_funds",
      status: "<b>the customer's own words</b>",
    });
    assertEquals((await tppAnswer(answer)).parameters, {
      error: "access_denied",
      error_description: "The bank reported insufficient funds.",
      state: "af0ifjsldkj",
      iss: `${AUTH_URL}/${flow.bank.orgId}`,
    });
    assertEquals(await consentStatus(env, flow), "Rejected");
  });
  await t.step("accounts reported: no consent screen is shown any more", async () => {
    const flow = await toBank(env);
    await reportAccounts(env, flow);
    const answer = await comeBack(env, flow, { status_code: "insufficient_funds" });
    assertEquals((await tppAnswer(answer)).parameters["error"], "access_denied");
    assertEquals(await consentStatus(env, flow), "Rejected");
  });
  assertEquals(await codesIssued(env), 0);
});

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
  assertEquals([consent.status, consent.selectedAccount], ["Authorized", ACCOUNTS[2]]);
});

Deno.test("GET authorization.sca.oauth2 keeps the bank's status in the consent's history [B3]", async (t) => {
  await using env = await openEnvironment();
  await t.step("of an end", async () => {
    const flow = await toBank(env, { body: IMPLICIT });
    await comeBack(env, flow, { status: "limit exceeded", status_code: "failure" });
    assertEquals(await history(env, flow), [
      { event: "consent.AwaitingAuthorisation", actor: env.tpp.clientId, reason: "created" },
      { event: "consent.Rejected", actor: "customer", reason: "bank: limit exceeded" },
    ]);
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

async function comeBack(env: Environment, flow: AtBank, claims: JsonObject = {}): Promise<Response> {
  env.now += 1000; // the customer takes a while, and the history is in order of time
  const jws = await signedReturn(env, flow, { claims });
  return await flow.browser.open(await sealedReturn(env, flow.bank.orgId, jws));
}

async function stored(env: Environment, { consentId }: AtBank): Promise<Json> {
  return (await env.snapshot()).find(({ key }) => key[0] === "consent" && key[1] === consentId)?.value;
}

async function history(env: Environment, { consentId }: AtBank): Promise<JsonObject[]> {
  const entries = (await env.snapshot()).filter(({ key }) => key[0] === "audit" && key[1] === consentId);
  return entries.map(({ value }) => {
    const { at: _at, v: _v, ...rest } = value as JsonObject;
    return rest;
  });
}
