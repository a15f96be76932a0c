import { assertEquals, assertMatch } from "@std/assert";
import { assertNotAuthentic, IMPLICIT, sealedReturn, signedReturn } from "../support/bank_return.ts";
import {
  type AtBank,
  authorize,
  Browser,
  codeOf,
  decide,
  good,
  openHandover,
  push,
  toBank,
} from "../support/flows.ts";
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
  wayOnOf,
} from "../support/front_channel.ts";
import { openWorld, type World } from "../support/world.ts";

Deno.test("GET authorization.sca.oauth2 in a browser that did not begin the flow shows a page and changes nothing [BR-N11] [BR9] [BR18] [B4] [AUT-11]", async (t) => {
  await using world = await openWorld();
  const flow = await toBank(world, { body: IMPLICIT });
  const other = await toBank(world, { body: IMPLICIT });
  const path = await goodReturn(world, flow);
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
    "the hash that the store holds": `${name}=${await storedHash(world, flow)}`,
  };
  for (const [what, cookie] of Object.entries(cookies)) {
    await t.step(what, async () => {
      const stranger = new Browser(world);
      const headers = cookie === undefined ? {} : { cookie };
      const answer = await assertNothingChanges(world, () => stranger.open(path, { headers }));
      await assertPage(answer, 400, "other_browser");
    });
  }
  await t.step("the browser that began it still succeeds with the same return", async () => {
    await assertCodeAnswer(await flow.browser.open(path));
  });
});

Deno.test("GET authorization.sca.oauth2: the same URL loaded again is a page, and one code is all there ever is [BR-N10]", async () => {
  await using world = await openWorld();
  const flow = await toBank(world, { body: IMPLICIT });
  const path = await goodReturn(world, flow);
  const first = await flow.browser.open(path);
  codeOf(first);
  for (let time = 0; time < 3; time++) {
    const again = await assertNothingChanges(world, () => flow.browser.open(path));
    // The browser may have dropped the first answer: for a minute the page leads where that one led.
    assertEquals(wayOnOf(await assertPage(again, 400, "finished")), first.headers.get("location"));
  }
  await assertPage(await new Browser(world).open(path), 400, "other_browser");
  world.now += 60_000;
  assertEquals(wayOnOf(await assertPage(await flow.browser.open(path), 400, "finished")), null);
  assertEquals(await codesIssued(world), 1);
});

Deno.test("GET authorization.sca.oauth2: a second return, good or bad, cannot undo the first [BR-N10] [BR15]", async () => {
  await using world = await openWorld();
  const flow = await toBank(world);
  await reportAccounts(world, flow);
  const screen = await flow.browser.open(await goodReturn(world, flow));
  assertEquals(screen.status, 303);
  for (const status_code of ["success", "failure"]) {
    const path = await goodReturn(world, flow, { status_code });
    const answer = await assertNothingChanges(world, () => flow.browser.open(path));
    const page = await assertPage(answer, 400, "undecided");
    assertEquals(wayOnOf(page), screen.headers.get("location"));
    const stranger = await new Browser(world).open(path);
    assertEquals(wayOnOf(await assertPage(stranger, 400, "other_browser")), null);
  }
  await assertCodeAnswer(await decide(flow.browser, screen.headers.get("location") ?? "", "accept"));
});

Deno.test("GET authorization.sca.oauth2: of two visits by one link the first to return wins, the other gets a page [AZ-N15] [C3]", async () => {
  await using world = await openWorld();
  const flow = await toBank(world, { body: IMPLICIT });
  const second = await openHandover(world.bankA, await authorize(flow.browser, world.tpp, flow.requestUri));
  const later = { ...flow, handover: second.claims };
  await assertCodeAnswer(await flow.browser.open(await goodReturn(world, later)));
  for (const status_code of ["success", "failure"]) {
    const path = await goodReturn(world, flow, { status_code });
    await assertPage(await assertNothingChanges(world, () => flow.browser.open(path)), 400, "finished");
  }
  assertEquals([await codesIssued(world), await consentStatus(world, flow)], [1, "Authorized"]);
});

Deno.test("Two browsers with two flows for one consent: neither can take the other's place [BR-N11] [BR9] [A1]", async () => {
  await using world = await openWorld();
  const first = await toBank(world);
  const second = await anotherFlow(world, first);
  await reportAccounts(world, first);
  const firstReturn = await goodReturn(world, first);
  const secondReturn = await goodReturn(world, second);
  for (const [browser, path] of [[first.browser, secondReturn], [second.browser, firstReturn]] as const) {
    const answer = await assertNothingChanges(world, () => browser.open(path));
    await assertPage(answer, 400, "other_browser");
  }
  const screen = (await first.browser.open(firstReturn)).headers.get("location") ?? "";
  const stranger = await assertNothingChanges(world, () => second.browser.open(screen));
  await assertPage(stranger, 400, "other_browser");
  await assertCodeAnswer(await decide(first.browser, screen, "accept"));
  await assertErrorAnswer(await second.browser.open(secondReturn), "invalid_request");
  assertEquals([await codesIssued(world), await consentStatus(world, first)], [1, "Authorized"]);
});

Deno.test("Two customers with two flows for one consent: neither sees or spends the other's accounts [BR12] [AZ13] [C11]", async () => {
  await using world = await openWorld();
  const alice = await toBank(world);
  await reportAccounts(world, alice, [ACCOUNTS[0]], { data: { Sub: "alice" } });
  const screen = (await alice.browser.open(await goodReturn(world, alice, { sub: "alice" }))).headers.get(
    "location",
  ) ?? "";
  const bob = await anotherFlow(world, alice);
  await reportAccounts(world, bob, [ACCOUNTS[2]], { data: { Sub: "bob" } });
  const html = await (await alice.browser.open(screen)).text();
  assertEquals(readForm(html).accounts, ["0"]);
  assertEquals(html.includes("GB33"), true, "alice's own account");
  assertEquals(html.includes("DE89"), false, "bob's account");
  await assertCodeAnswer(await decide(alice.browser, screen, "accept", "0"));
  const consent = await storedConsent(world, alice);
  assertEquals(consent.selectedAccount, ACCOUNTS[0]);
  assertEquals(consent.payer, { sub: "alice", report: 1 });
  // Bob comes too late, and learns nothing but that.
  await assertErrorAnswer(
    await bob.browser.open(await goodReturn(world, bob, { sub: "bob" })),
    "invalid_request",
  );
});

Deno.test("An account list reported anew while the customer decides cannot change what was chosen [AZ13] [C11]", async () => {
  await using world = await openWorld();
  const flow = await toBank(world);
  await reportAccounts(world, flow, [ACCOUNTS[0], ACCOUNTS[2]]);
  const screen = (await flow.browser.open(await goodReturn(world, flow))).headers.get("location") ?? "";
  const { csrf } = readForm(await (await flow.browser.open(screen)).text());
  await reportAccounts(world, flow, [ACCOUNTS[2], ACCOUNTS[0]]);
  const body = new URLSearchParams({ csrf, decision: "accept", account: "0" });
  await assertCodeAnswer(await flow.browser.open(screen, { method: "POST", body }));
  assertEquals((await storedConsent(world, flow)).selectedAccount, ACCOUNTS[0]);
});

Deno.test("GET authorization.sca.oauth2 of a stranger's correlation_id says nothing about it [BR-N11] [BR17]", async () => {
  await using world = await openWorld();
  const flow = await toBank(world, { body: IMPLICIT });
  const path = await goodReturn(world, flow, { correlation_id: crypto.randomUUID() });
  await assertNotAuthentic(world, flow.browser, path);
  await assertNotAuthentic(world, new Browser(world), path);
});

async function goodReturn(
  world: World,
  flow: AtBank,
  claims: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  return await sealedReturn(world, flow.bank.orgId, await signedReturn(world, flow, { claims }));
}

/** Another pushed request for the same consent, opened in another browser. */
async function anotherFlow(world: World, flow: AtBank): Promise<AtBank> {
  const form = { code_challenge: "C".repeat(42) + "A" };
  const { request_uri } = await good(push(world, flow.consentId, { form }), 201);
  const browser = new Browser(world);
  const { claims } = await openHandover(world.bankA, await authorize(browser, world.tpp, request_uri));
  return { ...flow, browser, requestUri: request_uri, handover: claims };
}

async function storedHash(world: World, flow: AtBank): Promise<string> {
  const entries = await world.snapshot();
  const found = entries.find(({ key }) =>
    key[0] === "interaction" && key[1] === flow.handover.correlation_id
  );
  return (found?.value as { bindingHash: string }).bindingHash;
}

// deno-lint-ignore no-explicit-any -- judged by the test
async function storedConsent(world: World, { consentId }: AtBank): Promise<any> {
  return (await world.snapshot()).find(({ key }) => key[0] === "consent" && key[1] === consentId)?.value;
}
