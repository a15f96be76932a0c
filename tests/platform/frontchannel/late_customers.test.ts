/** Customers who come too late, or otherwise off the path: none is stranded, and none gets further than in time (Decision G1). */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { IMPLICIT, sealedReturn, signedReturn } from "../../../scripts/testing/bank_return.ts";
import {
  type AtBank,
  authorize,
  Browser,
  clientToken,
  good,
  openHandover,
  push,
  toBank,
} from "../../../scripts/testing/flows.ts";
import {
  assertCodeAnswer,
  assertErrorAnswer,
  assertNothingChanges,
  assertPage,
  codesIssued,
  consentStatus,
  readForm,
  reportAccounts,
  wayOnOf,
} from "../../../scripts/testing/front_channel.ts";
import { postRegistration, renewedStatement } from "../../../scripts/testing/registration.ts";
import { openWorld, type World } from "../../../scripts/testing/environment.ts";
import { historyOf } from "../../../src/platform/audit_trail.ts";

const SESSION_MS = 900_000;
const DAY_MS = 86_400_000;
/** Where the TPP's software statement says that its own page is. */
const CLIENT_URI = "https://www.example.com/";

Deno.test("A late success authorizes nothing and leaves the consent to a new request, whatever its kind [G1] [AZ11]", async (t) => {
  await using world = await openWorld();
  for (const [name, options] of Object.entries(KINDS)) {
    await t.step(name, async () => {
      const flow = await late(world, options);
      await assertErrorAnswer(await comeBack(world, flow), "session_expired", flow.bank.orgId);
      assertEquals([await statusOf(world, flow), await codesIssued(world)], ["AwaitingAuthorisation", 0]);
      assertEquals((await historyOf(world.store, flow.consentId)).at(-1)?.event, "consent.customer_late");
      assertEquals(flow.browser.cookies.size, 0);
    });
  }
});

const KINDS: Record<string, Parameters<typeof toBank>[1]> = {
  "implicit": { body: IMPLICIT },
  "explicit, the platform's screen": {},
};

Deno.test("After a late success the TPP pushes a new request for the same consent, and it ends well [G1]", async () => {
  await using world = await openWorld();
  const flow = await late(world, { body: IMPLICIT });
  await assertErrorAnswer(await comeBack(world, flow), "session_expired");
  const again = await anotherSession(world, flow);
  await assertCodeAnswer(await comeBack(world, again));
  assertEquals(await statusOf(world, flow), "Authorized");
});

Deno.test("A late failure of the bank rejects the consent, as in time [G1] [C8]", async () => {
  await using world = await openWorld();
  for (const at of [SESSION_MS, DAY_MS - 1]) {
    const flow = await late(world, { body: IMPLICIT }, at);
    await assertErrorAnswer(await comeBack(world, flow, { status_code: "failure" }), "access_denied");
    assertEquals(await statusOf(world, flow), "Rejected");
  }
});

Deno.test("A session is kept 24 h after it has expired, and not longer [G1]", async () => {
  await using world = await openWorld();
  for (const [at, kept] of [[SESSION_MS + DAY_MS - 1, true], [SESSION_MS + DAY_MS, false]] as const) {
    const flow = await late(world, { body: IMPLICIT }, at);
    const answer = await comeBack(world, flow); // the consent's own deadline has passed by now
    if (kept) await assertErrorAnswer(answer, "access_denied");
    else await assertPage(answer, 400, "not_authentic");
  }
});

Deno.test("A late no on the consent screen is the customer's own and rejects the consent; a late yes authorizes nothing [G1] [C9]", async (t) => {
  const ends = {
    accept: ["session_expired", "AwaitingAuthorisation", "consent.customer_late"],
    refuse: ["access_denied", "Rejected", "consent.Rejected"],
  } as const;
  for (const [decision, [error, status, event]] of Object.entries(ends)) {
    await t.step(decision, async () => {
      await using world = await openWorld();
      const { flow, screen, csrf } = await deciding(world);
      world.now += SESSION_MS;
      const forged = await assertNothingChanges(world, () => post(flow.browser, screen, "x", decision));
      await assertPage(forged, 400, "other_browser");
      await assertErrorAnswer(await post(flow.browser, screen, csrf, decision), error);
      assertEquals([await statusOf(world, flow), await codesIssued(world)], [status, 0]);
      const last = (await historyOf(world.store, flow.consentId)).at(-1);
      assertEquals([last?.event, last?.actor, last?.page?.language], [event, "customer", "en"]);
    });
  }
});

Deno.test("The consent screen opened late leads back to the TPP [G1]", async () => {
  await using world = await openWorld();
  const { flow, screen } = await deciding(world);
  world.now += SESSION_MS;
  await assertErrorAnswer(await flow.browser.open(screen), "session_expired");
  assertEquals(await statusOf(world, flow), "AwaitingAuthorisation");
});

Deno.test("A late return while the consent screen is open leads back to the TPP as well [G1]", async () => {
  await using world = await openWorld();
  const { flow } = await deciding(world);
  world.now += SESSION_MS;
  await assertErrorAnswer(await comeBack(world, flow), "session_expired");
  assertEquals(await statusOf(world, flow), "AwaitingAuthorisation");
});

Deno.test("A JWT that expired on its way counts for nothing, and its customer is back at the TPP; the session goes on [G1] [B4]", async () => {
  await using world = await openWorld();
  const flow = await toBank(world, { body: IMPLICIT });
  const stale = await returnOf(world, flow, { status_code: "failure" });
  world.now += 331_000;
  const answer = await assertNothingChanges(world, () => flow.browser.open(stale));
  await assertErrorAnswer(answer, "server_error");
  await assertCodeAnswer(await comeBack(world, flow));
  const tooLate = await late(world, { body: IMPLICIT }, 0);
  const unused = await returnOf(world, tooLate, { status_code: "failure" });
  world.now += SESSION_MS;
  const end = await assertNothingChanges(world, () => tooLate.browser.open(unused));
  await assertErrorAnswer(end, "session_expired");
});

Deno.test("A late return in a browser that cannot be proven is a page with a link to the TPP, never a redirect, in every language [G1]", async () => {
  await using world = await openWorld();
  const flow = await late(world, { body: IMPLICIT });
  const path = await returnOf(world, flow);
  const stranger = new Browser(world);
  const page = await assertPage(
    await assertNothingChanges(world, () => stranger.open(path)),
    400,
    "other_browser",
  );
  assertEquals(wayOnOf(page), CLIENT_URI);
  const arabic = /<a href="([^"]*)" lang="ar"/.exec(page)?.[1]?.replaceAll("&amp;", "&") ?? "";
  assertStringIncludes(arabic, "/problem?page=other_browser");
  assertEquals(arabic.includes("oAuthUrl"), false, "what led here is on the page");
  assertEquals(wayOnOf(await (await stranger.open(arabic)).text()), CLIENT_URI);
  for (const tpp of ["https://evil.example/", "SC-unknown", world.bankB.clientId]) {
    const html =
      await (await stranger.open(`${arabic}&tpp=${encodeURIComponent(tpp)}`.replace(/tpp=SC[^&]*&/, "")))
        .text();
    assertEquals(html.includes("evil"), false, tpp);
  }
});

Deno.test("A forged return cannot end a session: a page with a link to the TPP, and nothing changes [B4] [BR14] [G1]", async () => {
  await using world = await openWorld();
  const flow = await toBank(world, { body: IMPLICIT });
  for (const forged of ["/BANKA/authorization.sca.oauth2?oAuthUrl=x", "/BANKA/authorization.sca.oauth2"]) {
    const page = await assertPage(
      await assertNothingChanges(world, () => flow.browser.open(forged)),
      400,
      "not_authentic",
    );
    assertEquals(wayOnOf(page), CLIENT_URI);
    const atOtherBank = await flow.browser.open(forged.replace("BANKA", "BANKB"));
    assertEquals(wayOnOf(await assertPage(atOtherBank, 400, "not_authentic")), null);
  }
  await assertCodeAnswer(await comeBack(world, flow));
});

Deno.test("A redirect_uri that the TPP has not registered any more gets no late customer [G1] [A6]", async () => {
  await using world = await openWorld();
  const flow = await toBank(world, { body: IMPLICIT });
  world.now += 1000;
  const redirect_uris = ["https://shop.example/new"];
  const statement = await renewedStatement(world, world.tpp, { redirect_uris });
  const renewed = await postRegistration(world, world.tpp, { statement, claims: { redirect_uris } });
  assertEquals(renewed.status, 201);
  world.now += SESSION_MS;
  const path = await returnOf(world, flow);
  const page = await assertPage(
    await assertNothingChanges(world, () => flow.browser.open(path)),
    400,
    "finished",
  );
  assertEquals(wayOnOf(page), CLIENT_URI);
});

Deno.test("A late customer cannot undo a later session: the TPP's newer request has decided the consent [G1] [C16]", async () => {
  await using world = await openWorld();
  const flow = await late(world, { body: IMPLICIT });
  const again = await anotherSession(world, flow);
  await assertCodeAnswer(await comeBack(world, again));
  await assertErrorAnswer(await comeBack(world, flow, { status_code: "failure" }), "invalid_request");
  assertEquals([await statusOf(world, flow), await codesIssued(world)], ["Authorized", 1]);
});

async function late(
  world: World,
  options: Parameters<typeof toBank>[1] = {},
  after = SESSION_MS,
): Promise<AtBank> {
  const flow = await toBank(world, options);
  if (flow.handover.debtor_account_present === "false") await reportAccounts(world, flow);
  world.now += after;
  return flow;
}

/** Another pushed request for the same consent, opened in another browser. */
async function anotherSession(world: World, flow: AtBank): Promise<AtBank> {
  const form = { code_challenge: "L".repeat(42) + "A" };
  const { request_uri } = await good(push(world, flow.consentId, { form }), 201);
  const browser = new Browser(world);
  const { claims } = await openHandover(world.bankA, await authorize(browser, world.tpp, request_uri));
  return { ...flow, browser, requestUri: request_uri, handover: claims };
}

async function deciding(world: World): Promise<{ flow: AtBank; screen: string; csrf: string }> {
  const flow = await toBank(world);
  await reportAccounts(world, flow);
  const screen = (await comeBack(world, flow)).headers.get("location") ?? "";
  return { flow, screen, csrf: readForm(await (await flow.browser.open(screen)).text()).csrf };
}

function post(browser: Browser, screen: string, csrf: string, decision: string): Promise<Response> {
  const body = new URLSearchParams({ csrf, decision, account: "0" });
  return browser.open(screen, { method: "POST", body });
}

async function comeBack(
  world: World,
  flow: AtBank,
  claims: Readonly<Record<string, unknown>> = {},
): Promise<Response> {
  return await flow.browser.open(await returnOf(world, flow, claims));
}

async function returnOf(
  world: World,
  flow: AtBank,
  claims: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  return await sealedReturn(world, flow.bank.orgId, await signedReturn(world, flow, { claims }));
}

/** With a token of its own: late customers outlive tokens. */
async function statusOf(world: World, flow: AtBank): Promise<string> {
  return await consentStatus(world, { ...flow, bound: await clientToken(world, world.tpp, flow.bank.orgId) });
}
