import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { anotherFlow, goodReturn } from "support/at_bank.ts";
import { assertNotAuthentic, IMPLICIT } from "testing/bank_return.ts";
import { clientToken, good } from "testing/flows.ts";
import {
  type AtBank,
  authorize,
  Browser,
  codeOf,
  decide,
  openHandover,
  putAccounts,
  toBank,
} from "testing/authorization_flow.ts";
import {
  ACCOUNTS,
  assertCodeAnswer,
  assertErrorAnswer,
  assertNothingChanges,
  assertPage,
  codesIssued,
  consentStatus,
  nextUrlOf,
  readForm,
  reportAccounts,
} from "testing/front_channel.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { steps } from "support/steps.ts";

Deno.test("GET authorization.sca.oauth2 in a browser that did not begin the flow shows a page and changes nothing [BR-N11] [BR9] [BR18] [B4] [AUT-11]", async (t) => {
  await using env = await openEnvironment();
  const flow = await toBank(env, { body: IMPLICIT });
  const other = await toBank(env, { body: IMPLICIT });
  const path = await goodReturn(env, flow);
  const name = `__Host-sca-${flow.handover.correlation_id}`;
  const secret = flow.browser.cookies.get(name) ?? "";
  assertMatch(secret, /^[A-Za-z0-9_-]{43}$/);
  const otherSecret = [...other.browser.cookies.values()][0] ?? "";
  const cookies: Record<string, string | undefined> = {
    "no cookie at all [BR18]": undefined,
    "the cookie of another flow": `__Host-sca-${other.handover.correlation_id}=${otherSecret}`,
    "the secret of another flow under this flow's name": `${name}=${otherSecret}`,
    "the secret under another flow's name": `__Host-sca-${other.handover.correlation_id}=${secret}`,
    "without the __Host- prefix": `sca-${flow.handover.correlation_id}=${secret}`,
    "an empty secret": `${name}=`,
    "a character less": `${name}=${secret.slice(1)}`,
    "the hash that the store holds": `${name}=${await storedHash(env, flow)}`,
  };
  await steps(t, cookies, async (cookie) => {
    const outsider = new Browser(env);
    const headers = cookie === undefined ? {} : { cookie };
    const answer = await assertNothingChanges(env, () => outsider.open(path, { headers }));
    await assertPage(answer, 400, "other_browser");
  });
  await t.step("the browser that began it still succeeds with the same return", async () => {
    await assertCodeAnswer(await flow.browser.open(path));
  });
});

Deno.test("GET authorization.sca.oauth2: the same URL loaded again leads where it led, and one code is all there ever is [BR-N10] [G1]", async () => {
  await using env = await openEnvironment();
  const flow = await toBank(env, { body: IMPLICIT });
  const path = await goodReturn(env, flow);
  const cookies = new Map(flow.browser.cookies);
  const first = await flow.browser.open(path);
  codeOf(first);
  // A browser that dropped the first answer still has its cookie: for a minute it is sent where that one led.
  const reload = (): Promise<Response> => {
    cookies.forEach((secret, name) => flow.browser.cookies.set(name, secret));
    return assertNothingChanges(env, () => flow.browser.open(path));
  };
  for (let time = 0; time < 3; time++) {
    assertEquals((await reload()).headers.get("location"), first.headers.get("location"));
  }
  env.now += 60_000;
  await assertErrorAnswer(await reload(), "invalid_request");
  // Without it, a page with a link to the TPP's own page.
  for (const browser of [flow.browser, new Browser(env)]) {
    const page = await assertPage(await assertNothingChanges(env, () => browser.open(path)), 400, "finished");
    assertEquals(nextUrlOf(page), "https://www.example.com/");
    assertStringIncludes(page, "Back to <bdi>Example Shop Ltd</bdi>");
  }
  assertEquals(await codesIssued(env), 1);
});

Deno.test("GET authorization.sca.oauth2: a second return, good or bad, leads to the decision that the first one left open [BR-N10] [BR15] [G1]", async () => {
  await using env = await openEnvironment();
  const flow = await toBank(env);
  await reportAccounts(env, flow);
  const screen = await flow.browser.open(await goodReturn(env, flow));
  assertEquals(screen.status, 303);
  const unusable = { exp: Math.floor(env.now / 1000) - 31 };
  for (const claims of [{}, { status_code: "failure" }, unusable]) {
    const path = await goodReturn(env, flow, claims);
    const answer = await assertNothingChanges(env, () => flow.browser.open(path));
    assertEquals([answer.status, answer.headers.get("location")], [303, screen.headers.get("location")]);
    await assertPage(await new Browser(env).open(path), 400, "other_browser");
  }
  await assertCodeAnswer(await decide(flow.browser, screen.headers.get("location") ?? "", "accept"));
});

Deno.test("GET authorization.sca.oauth2: of two visits by one link the first to return wins; the other gets a page, since the TPP has its answer [AZ-N15] [CT3] [G1]", async () => {
  await using env = await openEnvironment();
  const flow = await toBank(env, { body: IMPLICIT });
  const second = await openHandover(env.bankA, await authorize(flow.browser, env.tpp, flow.requestUri));
  const later = { ...flow, handover: second.claims };
  await assertCodeAnswer(await flow.browser.open(await goodReturn(env, later)));
  assertEquals(flow.browser.cookies.size, 1);
  for (const [status_code, page] of [["success", "accepted"], ["failure", "finished"]] as const) {
    const path = await goodReturn(env, flow, { status_code });
    const html = await assertPage(await assertNothingChanges(env, () => flow.browser.open(path)), 400, page);
    assertEquals(nextUrlOf(html), "https://www.example.com/");
    assertEquals(flow.browser.cookies.size, 0); // cleared by the first page: the second one is for a browser without
  }
  assertEquals([await codesIssued(env), await consentStatus(env, flow)], [1, "Authorized"]);
});

Deno.test("Two browsers with two flows for one consent: neither can take the other's place [BR-N11] [BR9] [A1]", async () => {
  await using env = await openEnvironment();
  const first = await toBank(env);
  const second = await anotherFlow(env, first);
  await reportAccounts(env, first);
  const firstReturn = await goodReturn(env, first);
  const secondReturn = await goodReturn(env, second);
  for (const [browser, path] of [[first.browser, secondReturn], [second.browser, firstReturn]] as const) {
    const answer = await assertNothingChanges(env, () => browser.open(path));
    await assertPage(answer, 400, "other_browser");
  }
  const screen = (await first.browser.open(firstReturn)).headers.get("location") ?? "";
  const outsider = await assertNothingChanges(env, () => second.browser.open(screen));
  await assertPage(outsider, 400, "other_browser");
  await assertCodeAnswer(await decide(first.browser, screen, "accept"));
  await assertErrorAnswer(await second.browser.open(secondReturn), "invalid_request");
  assertEquals([await codesIssued(env), await consentStatus(env, first)], [1, "Authorized"]);
});

Deno.test("Two customers with two flows for one consent: neither sees or spends the other's accounts [BR12] [AZ13] [C11]", async () => {
  await using env = await openEnvironment();
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
  assertEquals(consent.payer, { sub: "alice", report: 1 });
  // Bob comes too late, and learns only that.
  await assertErrorAnswer(
    await bob.browser.open(await goodReturn(env, bob, { sub: "bob" })),
    "invalid_request",
  );
});

Deno.test("Accounts reported after the bank's return are rejected, and what was chosen is what was shown [G2] [AZ13] [C11]", async () => {
  await using env = await openEnvironment();
  const flow = await toBank(env);
  await reportAccounts(env, flow, [ACCOUNTS[2]]);
  await reportAccounts(env, flow, [ACCOUNTS[0], ACCOUNTS[2]]); // until the return the last report counts
  const screen = (await flow.browser.open(await goodReturn(env, flow))).headers.get("location") ?? "";
  const bound = await clientToken(env, flow.bank);
  const act = (): Promise<Response> => putAccounts(env, flow.bank, flow.consentId, [ACCOUNTS[2]], { bound });
  const { Errors } = await good(assertNothingChanges(env, act), 400);
  assertEquals(Errors[0].ErrorCode, "UK.OBIE.Resource.InvalidConsentStatus");
  assertMatch(Errors[0].Message, /before the bank's return/);
  await assertCodeAnswer(await decide(flow.browser, screen, "accept", "0"));
  assertEquals((await storedConsent(env, flow)).selectedAccount, ACCOUNTS[0]);
});

Deno.test("Accounts of a second session can be reported although the first one has returned, and the other way round [G2] [C11]", async () => {
  await using env = await openEnvironment();
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

Deno.test("GET authorization.sca.oauth2 of an outsider's correlation_id says nothing about it [BR-N11] [BR17]", async () => {
  await using env = await openEnvironment();
  const flow = await toBank(env, { body: IMPLICIT });
  const path = await goodReturn(env, flow, { correlation_id: crypto.randomUUID() });
  await assertNotAuthentic(env, flow.browser, path);
  await assertNotAuthentic(env, new Browser(env), path);
});

async function storedHash(env: Environment, flow: AtBank): Promise<string> {
  const entries = await env.snapshot();
  const found = entries.find(({ key }) =>
    key[0] === "interaction" && key[1] === flow.handover.correlation_id
  );
  return (found?.value as { bindingHash: string }).bindingHash;
}

// deno-lint-ignore no-explicit-any -- judged by the test
async function storedConsent(env: Environment, { consentId }: AtBank): Promise<any> {
  return (await env.snapshot()).find(({ key }) => key[0] === "consent" && key[1] === consentId)?.value;
}
