/**  */
import { assertEquals, assertMatch } from "@std/assert";
import { memberOf, present, type ResourceError } from "testing/answers.ts";
import { assertNotAuthentic, IMPLICIT } from "testing/bank_return.ts";
import { clientToken, consentBody, good } from "testing/flows.ts";
import { type AtBank, authorize, Browser, decide, putAccounts, toBank } from "testing/authorization_flow.ts";
import {
  ACCOUNTS,
  assertBrowserHeaders,
  assertCodeAnswer,
  assertErrorAnswer,
  assertPage,
  codesIssued,
  consentStatus,
  readForm,
  reportAccounts,
  tppAnswer,
} from "testing/front_channel.ts";
import { AUTH_URL, type Environment } from "testing/environment.ts";
import { steps, stepsOf } from "support/steps.ts";
import { comeBack, history } from "./come_back.ts";
import { anotherFlow, goodReturn } from "support/at_bank.ts";
import { test } from "support/environment_test.ts";
import type { StoredConsent } from "../../../../src/platform/core/consents/consent_store.ts";
import { unchanged } from "testing/store_contents.ts";

test("GET authorization.sca.oauth2: success of an explicit consent without reported accounts is server_error, and rejects it [BR-N15] [BR12] [CT10] [B4]", async ({ env }) => {
  for (const bank of [env.bankA, env.bankB]) {
    const flow = await toBank(env, { bank });
    await assertErrorAnswer(await comeBack(env, flow), "server_error", bank.orgId);
    assertEquals(await consentStatus(env, flow), "Rejected");
  }
  assertEquals(await codesIssued(env), 0);
});

test("GET authorization.sca.oauth2: success for another customer than the one whose accounts were reported is server_error [BR12] [BR13]", async ({ env }) => {
  for (const bank of [env.bankA, env.bankB]) {
    const flow = await toBank(env, { bank });
    await reportAccounts(env, flow, ACCOUNTS.slice(0, 1), { data: { Sub: "customer-1" } });
    await assertErrorAnswer(await comeBack(env, flow, { sub: "customer-2" }), "server_error", bank.orgId);
    assertEquals(await consentStatus(env, flow), "Rejected");
  }
  assertEquals(await codesIssued(env), 0);
});

test("GET authorization.sca.oauth2: success with a sub that is missing, too long, unprintable or an account number is server_error [BR13]", async ({ env, t }) => {
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

test("GET authorization.sca.oauth2 leads to the platform's screen, the consent still undecided [CT4] [BR12] [BR16]", async ({ env }) => {
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

test("GET authorization.sca.oauth2: the bank's own screen chooses the account, in any number of reports [CT6]", async ({ env }) => {
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

test("GET authorization.sca.oauth2 keeps in the consent's history what the bank's result was, without its words [B3, EN12]", async ({ env }) => {
  const [ended, asked, unknown] = [
    await toBank(env, { body: IMPLICIT }),
    await toBank(env),
    await toBank(env, { body: IMPLICIT }),
  ];
  await comeBack(env, ended, { status: "J. Smith: limit exceeded", status_code: "failure" });
  await reportAccounts(env, asked);
  await comeBack(env, asked, { status: "J. Smith" });
  await comeBack(env, unknown, { status: "J. Smith", status_code: "later" });
  const last = async (flow: AtBank): Promise<unknown> => (await history(env, flow)).at(-1);
  const actor = "customer";
  assertEquals([await last(ended), await last(asked), await last(unknown)], [
    { event: "consent.Rejected", actor, reason: "bank: failure" },
    { event: "consent.customer_authenticated", actor, reason: "bank: success" },
    { event: "consent.Rejected", actor, reason: "bank: unknown status_code" },
  ]);
});

async function stored(env: Environment, { consentId }: AtBank): Promise<unknown> {
  return (await env.snapshot()).find(({ key }) => key[0] === "consent" && key[1] === consentId)?.value;
}

test("GET authorization.sca.oauth2 takes exactly success and 200 for success [BR11] [B3] [CT5] [BR16]", async ({ env, t }) => {
  await stepsOf(t, ["success", "200"], (status_code) => status_code, async (status_code) => {
    const flow = await toBank(env, { body: IMPLICIT });
    await assertCodeAnswer(await comeBack(env, flow, { status_code }));
    assertEquals(await consentStatus(env, flow), "Authorized");
  });
});

test("GET authorization.sca.oauth2 redirects with server_error for an unknown status_code, and rejects the consent [BR-N13] [BR11] [B3] [AUT-11]", async ({ env, t }) => {
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
  await stepsOf(t, codes, (status_code) => JSON.stringify(status_code) ?? "missing", async (status_code) => {
    const flow = await toBank(env, { body: IMPLICIT });
    await assertErrorAnswer(await comeBack(env, flow, { status_code }), "server_error");
    assertEquals(await consentStatus(env, flow), "Rejected");
  });
  assertEquals(await codesIssued(env), 0);
});

test("GET authorization.sca.oauth2 redirects a failure with access_denied, state and iss, and rejects the consent [BR-N14] [B4] [B5] [CT8] [CT11] [CT9] [AUT-11]", async ({ env, t }) => {
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

test("GET authorization.sca.oauth2 redirects too little money with access_denied and says so, and rejects the consent [G7] [B5]", async ({ env, t }) => {
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
      reason_code: "AM04",
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

test("Two browsers with two flows for one consent: neither can take the other's place [BR-N11] [BR9] [A1]", async ({ env }) => {
  const first = await toBank(env);
  const second = await anotherFlow(env, first);
  await reportAccounts(env, first);
  const firstReturn = await goodReturn(env, first);
  const secondReturn = await goodReturn(env, second);
  for (const [browser, path] of [[first.browser, secondReturn], [second.browser, firstReturn]] as const) {
    const answer = await unchanged(env, () => browser.open(path));
    await assertPage(answer, 400, "other_browser");
  }
  const screen = (await first.browser.open(firstReturn)).headers.get("location") ?? "";
  const outsider = await unchanged(env, () => second.browser.open(screen));
  await assertPage(outsider, 400, "other_browser");
  await assertCodeAnswer(await decide(first.browser, screen, "accept"));
  await assertErrorAnswer(await second.browser.open(secondReturn), "invalid_request");
  assertEquals([await codesIssued(env), await consentStatus(env, first)], [1, "Authorized"]);
});

test("Two customers with two flows for one consent: neither sees or spends the other's accounts [BR12] [AZ13] [C11]", async ({ env }) => {
  const alice = await toBank(env);
  await reportAccounts(env, alice, [ACCOUNTS[0]], { data: { Sub: "alice" } });
  const screen = (await alice.browser.open(await goodReturn(env, alice, { sub: "alice" }))).headers.get(
    "location",
  ) ?? "";
  const bob = await anotherFlow(env, alice);
  await reportAccounts(env, bob, [ACCOUNTS[2]], { data: { Sub: "bob" } });
  const html = await (await alice.browser.open(screen)).text();
  assertEquals(readForm(html).accounts, ["0"]);
  assertEquals(html.includes("GB33"), true, "alice's own account");
  assertEquals(html.includes("DE89"), false, "bob's account");
  await assertCodeAnswer(await decide(alice.browser, screen, "accept", "0"));
  const consent = await storedConsent(env, alice);
  assertEquals(consent.selectedAccount, ACCOUNTS[0]);
  // Bob comes too late, and learns only that.
  await assertErrorAnswer(
    await bob.browser.open(await goodReturn(env, bob, { sub: "bob" })),
    "invalid_request",
  );
});

test("Accounts reported after the bank's return are rejected, and what was chosen is what was shown [G2] [AZ13] [C11]", async ({ env }) => {
  const flow = await toBank(env);
  await reportAccounts(env, flow, [ACCOUNTS[2]]);
  await reportAccounts(env, flow, [ACCOUNTS[0], ACCOUNTS[2]]); // until the return the last report counts
  const screen = (await flow.browser.open(await goodReturn(env, flow))).headers.get("location") ?? "";
  const bound = await clientToken(env, flow.bank);
  const act = (): Promise<Response> => putAccounts(env, flow.bank, flow.consentId, [ACCOUNTS[2]], { bound });
  const { Errors } = await good<ResourceError>(unchanged(env, act), 400);
  assertEquals(Errors[0]?.ErrorCode, "UK.OBIE.Resource.InvalidConsentStatus");
  assertMatch(Errors[0]?.Message, /before the bank's return/);
  await assertCodeAnswer(await decide(flow.browser, screen, "accept", "0"));
  assertEquals((await storedConsent(env, flow)).selectedAccount, ACCOUNTS[0]);
});

test("Accounts of a second session can be reported although the first one has returned, and the other way round [G2] [C11]", async ({ env }) => {
  const first = await toBank(env);
  const second = await anotherFlow(env, first);
  await reportAccounts(env, second, [ACCOUNTS[2]], { data: { Sub: "bob" } });
  const bobs = await second.browser.open(await goodReturn(env, second, { sub: "bob" }));
  await reportAccounts(env, first, [ACCOUNTS[0]], { data: { Sub: "alice" } }); // the older session is still open
  const screen = await first.browser.open(await goodReturn(env, first, { sub: "alice" }));
  assertEquals(
    (await putAccounts(env, first.bank, first.consentId, [ACCOUNTS[2]])).status,
    400,
    "both have returned",
  );
  assertEquals([bobs.status, screen.status], [303, 303]);
  await assertCodeAnswer(await decide(first.browser, screen.headers.get("location") ?? "", "accept", "0"));
  assertEquals((await storedConsent(env, first)).selectedAccount, ACCOUNTS[0]);
});

test("GET authorization.sca.oauth2 of an outsider's correlation_id says nothing about it [BR-N11] [BR17]", async ({ env }) => {
  const flow = await toBank(env, { body: IMPLICIT });
  const path = await goodReturn(env, flow, { correlation_id: crypto.randomUUID() });
  await assertNotAuthentic(env, flow.browser, path);
  await assertNotAuthentic(env, new Browser(env), path);
});

async function storedConsent(env: Environment, { consentId }: AtBank): Promise<StoredConsent> {
  const entry = (await env.snapshot()).find(({ key }) => key[0] === "consent" && key[1] === consentId);
  return present(entry).value as StoredConsent;
}
