import { assertEquals, assertMatch } from "@std/assert";
import { anotherFlow, goodReturn } from "support/at_bank.ts";
import { present, type ResourceError } from "testing/answers.ts";
import { assertNotAuthentic, IMPLICIT } from "testing/bank_return.ts";
import { clientToken, good } from "testing/flows.ts";
import { type AtBank, Browser, decide, putAccounts, toBank } from "testing/authorization_flow.ts";
import {
  ACCOUNTS,
  assertCodeAnswer,
  assertErrorAnswer,
  assertNothingChanges,
  assertPage,
  codesIssued,
  consentStatus,
  readForm,
  reportAccounts,
} from "testing/front_channel.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import type { StoredConsent } from "../../../../src/platform/core/consents/stored_consent.ts";

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
  const { Errors } = await good<ResourceError>(assertNothingChanges(env, act), 400);
  assertEquals(Errors[0]?.ErrorCode, "UK.OBIE.Resource.InvalidConsentStatus");
  assertMatch(Errors[0]?.Message, /before the bank's return/);
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

async function storedConsent(env: Environment, { consentId }: AtBank): Promise<StoredConsent> {
  const entry = (await env.snapshot()).find(({ key }) => key[0] === "consent" && key[1] === consentId);
  return present(entry).value as StoredConsent;
}
