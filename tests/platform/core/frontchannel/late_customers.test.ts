/**
 * Customers who come too late, or otherwise off the path: none is stranded, and none gets further than in time
 * (Decision G1). How often a process decrypts what is said to be a bank's return.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { anotherFlow, comeBack, decide, deciding, goodReturn } from "support/at_bank.ts";
import { IMPLICIT } from "testing/bank_return.ts";
import { type AtBank, authorize, Browser, toBank } from "testing/authorization_flow.ts";
import {
  assertCodeAnswer,
  assertErrorAnswer,
  assertPage,
  codesIssued,
  consentStatus,
  nextUrlOf,
  reportAccounts,
} from "testing/front_channel.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { historyOf } from "testing/histories.ts";
import { steps } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { postRegistration, renewedStatement } from "testing/registration.ts";
import type { CreatedConsent } from "testing/answers.ts";
import type { Participant } from "testing/participants.ts";
import { call, clientToken, good, push } from "testing/flows.ts";
import { unchanged } from "testing/store_contents.ts";

const SESSION_MS = 900_000;

async function late(
  env: Environment,
  options: Parameters<typeof toBank>[1] = {},
  after = SESSION_MS,
): Promise<AtBank> {
  const flow = await toBank(env, options);
  if (flow.handover.debtor_account_present === "false") await reportAccounts(env, flow);
  env.now += after;
  return flow;
}

/** With a token of its own: late customers outlive tokens. */
async function statusOf(env: Environment, flow: AtBank): Promise<string> {
  return await consentStatus(env, { ...flow, bound: await clientToken(env, env.tpp, flow.bank.orgId) });
}

const DAY_MS = 86_400_000;

test("A late success authorizes nothing and leaves the consent to a new request, whatever its kind [G1] [AZ11]", async ({ env, t }) => {
  await steps(t, KINDS, async (options) => {
    const flow = await late(env, options);
    await assertErrorAnswer(await comeBack(env, flow), "session_expired", flow.bank.orgId);
    assertEquals([await statusOf(env, flow), await codesIssued(env)], ["AwaitingAuthorisation", 0]);
    assertEquals((await historyOf(env.store, flow.consentId)).at(-1)?.event, "consent.customer_late");
    assertEquals(flow.browser.cookies.size, 0);
  });
});

const KINDS: Record<string, Parameters<typeof toBank>[1]> = {
  "implicit": { body: IMPLICIT },
  "explicit, the platform's screen": {},
};

test("After a late success the TPP pushes a new request for the same consent, and it ends well [G1]", async ({ env }) => {
  const flow = await late(env, { body: IMPLICIT });
  await assertErrorAnswer(await comeBack(env, flow), "session_expired");
  const again = await anotherFlow(env, flow);
  await assertCodeAnswer(await comeBack(env, again));
  assertEquals(await statusOf(env, flow), "Authorized");
});

test("A late failure of the bank rejects the consent, as in time [G1] [CT8]", async ({ env }) => {
  for (const at of [SESSION_MS, DAY_MS - 1]) {
    const flow = await late(env, { body: IMPLICIT }, at);
    await assertErrorAnswer(await comeBack(env, flow, { status_code: "failure" }), "access_denied");
    assertEquals(await statusOf(env, flow), "Rejected");
  }
});

test("A session is kept 24 h after it has expired, and not longer [G1]", async ({ env }) => {
  for (const [at, kept] of [[SESSION_MS + DAY_MS - 1, true], [SESSION_MS + DAY_MS, false]] as const) {
    const flow = await late(env, { body: IMPLICIT }, at);
    const answer = await comeBack(env, flow); // the consent's own deadline has passed by now
    if (kept) await assertErrorAnswer(answer, "access_denied");
    else await assertPage(answer, 400, "not_authentic");
    const page = await flow.browser.open(
      `/BANKA/authorization.consent.oauth2?flow=${flow.handover.correlation_id}`,
    );
    await assertPage(page, 400, kept ? "finished" : "link_unusable");
  }
});

test("A return that is not authentic links to the TPP of the four newest sessions at its bank, if they have the same one [G1, B4]", async ({ env }) => {
  const browser = new Browser(env);
  const open = async (client: Participant): Promise<void> => {
    const path = "/BANKA/domestic-payment-consents/v1";
    const bound = await clientToken(env, client);
    const body = JSON.stringify(IMPLICIT);
    const { Data } = await good<CreatedConsent>(call(env, client, bound, path, { body }), 201);
    const { request_uri } = await good(push(env, Data.ConsentId, { client }), 201);
    assertEquals((await authorize(browser, client, request_uri)).status, 303);
  };
  const linked = async (): Promise<string | null> =>
    nextUrlOf(await assertPage(await browser.open("/BANKA/authorization.sca.oauth2"), 400, "not_authentic"));
  await open(env.otherTpp);
  for (const next of [null, null, null, CLIENT_URI]) {
    await open(env.tpp);
    assertEquals(await linked(), next);
  }
});

Deno.test("A late no on the consent screen is the customer's own and rejects the consent; a late yes authorizes nothing [G1] [CT9]", async (t) => {
  const ends = {
    accept: ["session_expired", "AwaitingAuthorisation", "consent.customer_late"],
    refuse: ["access_denied", "Rejected", "consent.Rejected"],
  } as const;
  await steps(t, ends, async ([error, status, event], decision) => {
    await using env = await openEnvironment();
    const { flow, screen, csrf } = await deciding(env);
    env.now += SESSION_MS;
    const forged = await unchanged(env, () => decide(flow.browser, screen, "x", decision));
    await assertPage(forged, 400, "other_browser");
    await assertErrorAnswer(await decide(flow.browser, screen, csrf, decision), error);
    assertEquals([await statusOf(env, flow), await codesIssued(env)], [status, 0]);
    const last = (await historyOf(env.store, flow.consentId)).at(-1);
    assertEquals([last?.event, last?.actor, last?.page?.language], [event, "customer", "en"]);
  });
});

test("The consent screen opened late leads back to the TPP [G1]", async ({ env }) => {
  const { flow, screen } = await deciding(env);
  env.now += SESSION_MS;
  await assertErrorAnswer(await flow.browser.open(screen), "session_expired");
  assertEquals(await statusOf(env, flow), "AwaitingAuthorisation");
});

/** Where the TPP's software statement says that its own page is. */
const CLIENT_URI = "https://www.example.com/";

test("A late return while the consent screen is open leads back to the TPP as well [G1]", async ({ env }) => {
  const { flow } = await deciding(env);
  env.now += SESSION_MS;
  await assertErrorAnswer(await comeBack(env, flow), "session_expired");
  assertEquals(await statusOf(env, flow), "AwaitingAuthorisation");
});

Deno.test("A late second return without a usable exp leads back to the TPP like any other [G1]", async () => {
  for (const exp of [undefined, "soon", 1e305, -1e305, null]) {
    await using env = await openEnvironment();
    const { flow } = await deciding(env);
    env.now += SESSION_MS;
    const answer = await flow.browser.open(await goodReturn(env, flow, { exp }));
    await assertErrorAnswer(answer, "session_expired");
    assertEquals(await statusOf(env, flow), "AwaitingAuthorisation");
  }
});

test("A JWT that expired on its way counts for nothing, and its customer is back at the TPP; the session goes on [G1] [B4]", async ({ env }) => {
  const flow = await toBank(env, { body: IMPLICIT });
  const stale = await goodReturn(env, flow, { status_code: "failure" });
  env.now += 331_000;
  const answer = await unchanged(env, () => flow.browser.open(stale));
  await assertErrorAnswer(answer, "server_error");
  await assertCodeAnswer(await comeBack(env, flow));
  const tooLate = await late(env, { body: IMPLICIT }, 0);
  const unused = await goodReturn(env, tooLate, { status_code: "failure" });
  env.now += SESSION_MS;
  const end = await unchanged(env, () => tooLate.browser.open(unused));
  await assertErrorAnswer(end, "session_expired");
});

test("A late return in a browser that cannot be proven is a page with a link to the TPP, never a redirect, in every language [G1]", async ({ env }) => {
  const flow = await late(env, { body: IMPLICIT });
  const path = await goodReturn(env, flow);
  const outsider = new Browser(env);
  const page = await assertPage(
    await unchanged(env, () => outsider.open(path)),
    400,
    "other_browser",
  );
  assertEquals(nextUrlOf(page), CLIENT_URI);
  const arabic = /<a href="([^"]*)" lang="ar"/.exec(page)?.[1]?.replaceAll("&amp;", "&") ?? "";
  assertStringIncludes(arabic, "/problem?page=other_browser");
  assertEquals(arabic.includes("oAuthUrl"), false, "what led here is on the page");
  assertEquals(nextUrlOf(await (await outsider.open(arabic)).text()), CLIENT_URI);
  for (const tpp of ["https://evil.example/", "SC-unknown", env.bankB.clientId]) {
    const html =
      await (await outsider.open(`${arabic}&tpp=${encodeURIComponent(tpp)}`.replace(/tpp=SC[^&]*&/, "")))
        .text();
    assertEquals(html.includes("evil"), false, tpp);
  }
});

test("A forged return cannot end a session: a page with a link to the TPP, and nothing changes [B4] [BR14] [G1]", async ({ env }) => {
  const flow = await toBank(env, { body: IMPLICIT });
  for (const forged of ["/BANKA/authorization.sca.oauth2?oAuthUrl=x", "/BANKA/authorization.sca.oauth2"]) {
    const page = await assertPage(
      await unchanged(env, () => flow.browser.open(forged)),
      400,
      "not_authentic",
    );
    assertEquals(nextUrlOf(page), CLIENT_URI);
    const atOtherBank = await flow.browser.open(forged.replace("BANKA", "BANKB"));
    assertEquals(nextUrlOf(await assertPage(atOtherBank, 400, "not_authentic")), null);
  }
  await assertCodeAnswer(await comeBack(env, flow));
});

test("A redirect_uri that the TPP has not registered any more gets no late customer [G1] [A6]", async ({ env }) => {
  const flow = await toBank(env, { body: IMPLICIT });
  env.now += 1000;
  const redirect_uris = ["https://shop.example/new"];
  const statement = await renewedStatement(env, env.tpp, { redirect_uris });
  const renewed = await postRegistration(env, env.tpp, { statement, claims: { redirect_uris } });
  assertEquals(renewed.status, 201);
  env.now += SESSION_MS;
  const path = await goodReturn(env, flow);
  const page = await assertPage(
    await unchanged(env, () => flow.browser.open(path)),
    400,
    "finished",
  );
  assertEquals(nextUrlOf(page), CLIENT_URI);
});

test("A late customer cannot undo a later session: the TPP's newer request has decided the consent [G1] [CT16]", async ({ env }) => {
  const flow = await late(env, { body: IMPLICIT });
  const again = await anotherFlow(env, flow);
  await assertCodeAnswer(await comeBack(env, again));
  await assertErrorAnswer(await comeBack(env, flow, { status_code: "failure" }), "invalid_request");
  assertEquals([await statusOf(env, flow), await codesIssued(env)], ["Authorized", 1]);
});

test("returns of browsers that began no session are decrypted 2,000 times at once, and customers go on [BR19]", async ({ env }) => {
  const flow = await toBank(env, { body: IMPLICIT });
  const path = await goodReturn(env, flow);
  const outsider = new Browser(env);
  const statuses = new Set<number>();
  for (let count = 0; count < 2000; count++) {
    const answer = await outsider.open("/BANKA/authorization.sca.oauth2?oAuthUrl=a.b.c.d.e");
    statuses.add(answer.status);
    await answer.body?.cancel();
  }
  assertEquals([...statuses], [400]);
  const answer = await outsider.open(path);
  assertEquals([answer.status, answer.headers.get("retry-after")], [503, "9"]);
  await answer.body?.cancel();
  await assertCodeAnswer(await flow.browser.open(path));
});
