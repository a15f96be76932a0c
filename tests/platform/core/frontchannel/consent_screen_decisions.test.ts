import { assert, assertEquals } from "@std/assert";
import { memberOf } from "testing/answers.ts";
import { clientToken, good, push } from "testing/flows.ts";
import {
  type AtBank,
  authorize,
  Browser,
  codeOf,
  openHandover,
  redeem,
  toBank,
} from "testing/authorization_flow.ts";
import {
  ACCOUNTS,
  assertCodeAnswer,
  assertErrorAnswer,
  assertPage,
  consentStatus,
  readForm,
} from "testing/front_channel.ts";
import { type Environment } from "testing/environment.ts";
import { steps } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { comeToScreen, toScreen } from "./consent_screens.ts";
import { unchanged } from "testing/store_contents.ts";

test("POST authorization.consent.oauth2 accept: the chosen account, Authorized, one code that works [AZ13] [CT7] [AUT-04]", async ({ env }) => {
  for (const account of ["0", "2"]) {
    const { flow, screen } = await toScreen(env);
    const answer = await decide(flow, screen, { decision: "accept", account });
    const code = await assertCodeAnswer(answer);
    const consent = await storedConsent(env, flow);
    assertEquals([memberOf(consent, "status"), memberOf(consent, "selectedAccount")], [
      "Authorized",
      ACCOUNTS[Number(account)],
    ]);
    assertEquals((await redeem(env, { consentId: flow.consentId, code })).status, 200);
    await assertPage(await flow.browser.open(screen), 400, "finished");
    await assertPage(await authorize(flow.browser, env.tpp, flow.requestUri), 400, "link_unusable");
  }
});

test("POST authorization.consent.oauth2 reject: access_denied with state and iss, Rejected, no code [AZ-N13] [CT9] [AUT-11]", async ({ env }) => {
  for (const account of [undefined, "0", "1", "99", "x"]) {
    const { flow, screen } = await toScreen(env);
    await assertErrorAnswer(await decide(flow, screen, { decision: "refuse", account }), "access_denied");
    assertEquals(await consentStatus(env, flow), "Rejected");
    await assertPage(await flow.browser.open(screen), 400, "finished");
  }
});

test("POST authorization.consent.oauth2 rejects a choice that is none, and the customer can choose again [AZ13] [CT7]", async ({ env, t }) => {
  const other = { ...ACCOUNTS[2], Identification: "NL91ABNA0417164300", Currency: "USD" };
  const { flow, screen } = await toScreen(env, {}, [...ACCOUNTS, other]);
  const choices: Record<string, Record<string, string | undefined>> = {
    "no account": {},
    "an empty account": { account: "" },
    "an account that is not there": { account: "4" },
    "a negative account": { account: "-1" },
    "a fraction": { account: "0.0" },
    "hexadecimal": { account: "0x0" },
    "a space": { account: " 0" },
    "four digits": { account: "0000" },
    "a name": { account: "length" },
    "another currency": { account: "3" },
  };
  await steps(t, choices, async (choice) => {
    const act = (): Promise<Response> => decide(flow, screen, { decision: "accept", ...choice });
    const answer = await unchanged(env, act);
    const again = new URL(answer.headers.get("location") ?? "");
    assertEquals([answer.status, again.searchParams.get("problem")], [303, "account"]);
    const page = await (await flow.browser.open(again.href)).text();
    assert(page.includes('role="alert"') && page.includes('aria-describedby="missing"'), page);
  });
  const decisions = { "no decision": undefined, "an unknown decision": "ACCEPT" };
  await steps(t, decisions, async (decision) => {
    const act = (): Promise<Response> => decide(flow, screen, { decision, account: "0" });
    await assertPage(await unchanged(env, act), 400, "link_unusable");
  });
  await t.step("a field twice", async () => {
    const { csrf } = readForm(await (await flow.browser.open(screen)).text());
    const body = `csrf=${csrf}&decision=reject&decision=accept&account=0`;
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const act = (): Promise<Response> => flow.browser.open(screen, { method: "POST", headers, body });
    await assertPage(await unchanged(env, act), 400, "link_unusable");
  });
  await t.step("a good choice still counts", async () => {
    await assertCodeAnswer(await decide(flow, screen, { decision: "accept", account: "0" }));
  });
});

test("GET authorization.consent.oauth2 offers rejecting alone where no account can pay [AZ13]", async ({ env }) => {
  const { flow, screen } = await toScreen(env, {}, [{ ...ACCOUNTS[0], Currency: "USD" }]);
  const html = await (await flow.browser.open(screen)).text();
  assertEquals(readForm(html).accounts, []);
  assertEquals([html.includes('value="accept"'), html.includes('value="refuse"')], [false, true]);
  const act = (): Promise<Response> => decide(flow, screen, { decision: "accept", account: "0" });
  const again = (await unchanged(env, act)).headers.get("location") ?? "";
  assertEquals((await (await flow.browser.open(again)).text()).includes('role="alert"'), false);
  await assertErrorAnswer(await decide(flow, screen, { decision: "refuse" }), "access_denied");
});

test("Two flows in one browser, each with its own cookie and form, end each in its own way [AZ11]", async ({ env }) => {
  const first = await toScreen(env);
  const bound = await clientToken(env, env.tpp);
  const consent = (await toBank(env)).consentId;
  const form = { code_challenge: "H".repeat(42) + "A" };
  const { request_uri } = await good(push(env, consent, { form }), 201);
  const { browser } = first.flow;
  const { claims } = await openHandover(env.bankA, await authorize(browser, env.tpp, request_uri));
  const second = {
    browser,
    bound,
    bank: env.bankA,
    consentId: consent,
    requestUri: request_uri,
    handover: claims,
  };
  const screen = await comeToScreen(env, second);
  await assertErrorAnswer(await decide(second, screen, { decision: "refuse" }), "access_denied");
  codeOf(await decide(first.flow, first.screen, { decision: "accept", account: "0" }));
  assertEquals([await consentStatus(env, first.flow), await consentStatus(env, second)], [
    "Authorized",
    "Rejected",
  ]);
});

async function decide(
  { browser }: { browser: Browser },
  screen: string,
  fields: Record<string, string | undefined>,
): Promise<Response> {
  const { csrf } = readForm(await (await browser.open(screen)).text());
  const body = new URLSearchParams({ csrf });
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) body.set(name, value);
  return await browser.open(screen, { method: "POST", body });
}

async function storedConsent(env: Environment, { consentId }: AtBank): Promise<unknown> {
  return (await env.snapshot()).find(({ key }) => key[0] === "consent" && key[1] === consentId)?.value;
}
