/** The shop's receiver of pushed events: what it acknowledges, and what its customer then sees. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  EVENT_AT,
  type EventToken,
  eventToken,
  ofConsent,
  ofPayment,
  OTHER_KEY,
} from "support/event_tokens.ts";
import { authUrl, paymentAnswer, paymentId, shopUrl } from "support/sandbox_tpp_platform.ts";
import {
  type AtBank,
  callback,
  get,
  goToBank,
  issuer,
  openShop,
  paymentsPath,
  type ShopEnvironment,
} from "support/shop_environment.ts";
import { steps } from "support/steps.ts";
import type { Subscription } from "testing/answers.ts";

const SUBSCRIPTIONS = "/BANKA/event-subscriptions/v1";
const OTHER_CONSENT = "11111111-6f46-4c43-8c77-6a4a3a4f1f10";

async function push(
  env: ShopEnvironment,
  token: EventToken,
  contentType = "application/secevent+jwt",
): Promise<Response> {
  const body = await eventToken(env, token);
  const headers = { "content-type": contentType };
  return await env.fetch(new Request(`${shopUrl}/events`, { method: "POST", body, headers }));
}

const ofType = (type: string): EventToken => ({ claims: { events: ofConsent(type, "x") } });

/** The customer's only order, opened from the menu. */
async function orderPage(env: ShopEnvironment, { cookie }: AtBank): Promise<string> {
  const menu = await (await env.fetch(get("/", cookie))).text();
  const path = /href="(\/orders\/[^"]+)"/.exec(menu)?.[1] ?? "";
  return await (await env.fetch(get(path, cookie))).text();
}

Deno.test("the shop subscribes at the first checkout with a bank, and again only after a failure [EVT9]", async () => {
  const lines: string[] = [];
  const env = await openShop((line) => lines.push(line), true);
  env.answers.set(SUBSCRIPTIONS, [() => new Response("{}", { status: 503 })]);
  for (let orders = 0; orders < 3; orders++) await goToBank(env);
  const requests = env.seen.filter(({ path }) => path === SUBSCRIPTIONS);
  assertEquals(requests.length, 2);
  const { Data } = JSON.parse(requests[0]?.body ?? "") as Subscription;
  assertEquals(Data.CallbackUrl, `${shopUrl}/events`);
  assertEquals(lines.length, 1);
  assertStringIncludes(lines[0] ?? "", "not subscribed to the events of BANKA");
});

const DECISIONS: Readonly<Record<string, string>> = {
  "consent-authorised": "Approved, but not paid yet",
  "consent-rejected": "You or your bank refused the payment.",
  "consent-expired": "The time to approve the payment ran out.",
};

Deno.test("a customer who has not returned sees the decision that an event told the shop [EVT11]", async (t) => {
  await steps(t, DECISIONS, async (text, type) => {
    const env = await openShop();
    const atBank = await goToBank(env);
    assertEquals((await orderPage(env, atBank)).includes("Continue at your bank"), true);
    assertEquals((await push(env, ofType(type))).status, 202);
    const page = await orderPage(env, atBank);
    assertStringIncludes(page, text);
    assertEquals(page.includes("Continue at your bank"), false); // the link's session has ended
  });
});

Deno.test("a customer who returns after the event pays once", async () => {
  const env = await openShop();
  const { cookie, state } = await goToBank(env);
  await push(env, ofType("consent-authorised"));
  await env.fetch(callback({ code: "secret-code", state, iss: issuer }, cookie));
  assertStringIncludes(await orderPage(env, { cookie, state }), "AcceptedSettlementInProcess");
  assertEquals(env.seen.filter(({ path }) => path === paymentsPath).length, 1);
  assertEquals((await push(env, ofType("consent-authorised"))).status, 202); // late
  assertStringIncludes(await orderPage(env, { cookie, state }), "AcceptedSettlementInProcess");
});

Deno.test("an event of a payment is the status that is shown if the platform cannot be asked, unless it is older [EVT11]", async () => {
  const env = await openShop();
  const { cookie, state } = await goToBank(env);
  env.answers.set(paymentsPath, [() => paymentAnswer(201, "Pending")]);
  const away = Array.from({ length: 9 }, () => () => new Response("", { status: 503 }));
  env.answers.set(`${paymentsPath}/${paymentId}`, away);
  await env.fetch(callback({ code: "secret-code", state, iss: issuer }, cookie));
  const toe = Date.parse("2026-01-31T12:00:00Z") / 1000;
  const told = async (at: number, status: string): Promise<string> => {
    const claims = { toe: at, events: ofPayment(status) };
    assertEquals((await push(env, { claims })).status, 202);
    return await orderPage(env, { cookie, state });
  };
  assertStringIncludes(await told(toe - 1, "Rejected"), ">Pending<");
  assertStringIncludes(await told(toe + 1, "AcceptedSettlementCompleted"), ">AcceptedSettlementCompleted<");
});

Deno.test("an event that comes while the shop reads the payment is not replaced by the older status that was read", async () => {
  const env = await openShop();
  const { cookie, state } = await goToBank(env);
  env.answers.set(paymentsPath, [() => paymentAnswer(201, "Pending")]);
  await env.fetch(callback({ code: "secret-code", state, iss: issuer }, cookie));
  const [read, asked] = [Promise.withResolvers<Response>(), Promise.withResolvers<void>()];
  const late = () => (asked.resolve(), read.promise);
  env.answers.set(`${paymentsPath}/${paymentId}`, [late, () => new Response("", { status: 503 })]);
  const looking = orderPage(env, { cookie, state });
  await asked.promise;
  const toe = Date.parse("2026-01-31T12:00:01Z") / 1000;
  await push(env, { claims: { toe, events: ofPayment("AcceptedSettlementCompleted") } });
  read.resolve(paymentAnswer(200, "Pending"));
  await looking;
  assertStringIncludes(await orderPage(env, { cookie, state }), ">AcceptedSettlementCompleted<");
});

Deno.test("an event of an order that the shop does not have is left to other programs of the TPP for 60 s [EVT12]", async () => {
  const env = await openShop();
  await goToBank(env);
  const nowSeconds = Math.floor(env.tpp.now() / 1000);
  const answers = [];
  for (const toe of [nowSeconds - 50, nowSeconds - 70]) {
    const events = ofConsent("consent-authorised", "Authorised", OTHER_CONSENT);
    answers.push((await push(env, { claims: { toe, events } })).status);
  }
  assertEquals(answers, [400, 202]);
});

const FORGED: Readonly<Record<string, EventToken>> = {
  "signed with another key": { key: OTHER_KEY },
  "with another typ": { typ: "JWT" },
  "for another TPP": { claims: { aud: "SC-0" } },
  "of a bank that is unknown": { claims: { iss: `${authUrl}/BANKX` } },
};

Deno.test("a token that is not the platform's for the shop is rejected and changes nothing [EVT11]", async (t) => {
  await steps(t, FORGED, async ({ claims, ...token }) => {
    const env = await openShop();
    const atBank = await goToBank(env);
    const events = ofConsent("consent-authorised", "Authorised");
    const answer = await push(env, { ...token, claims: { events, toe: EVENT_AT, ...claims } });
    assertEquals(answer.status, 400);
    assertEquals(Object.keys(await answer.json() as object), ["err", "description"]);
    assertStringIncludes(await orderPage(env, atBank), "Waiting for your bank");
  });
  const env = await openShop();
  assertEquals((await push(env, {}, "application/jwt")).status, 400);
  const long = new Request(`${shopUrl}/events`, { method: "POST", body: "x".repeat(20_000) });
  assertEquals((await env.fetch(long)).status, 413);
});

Deno.test("if the platform cannot be reached, the answer is 500, so that the event is pushed again [EVT12]", async () => {
  const env = await openShop();
  const metadata = "/.well-known/oauth-authorization-server/BANKA";
  env.answers.set(metadata, [() => new Response("", { status: 503 })]);
  assertEquals((await push(env, {})).status, 500);
  assertEquals((await push(env, {})).status, 202);
});

Deno.test("the menu lists a browser's own orders alone", async () => {
  const env = await openShop();
  const { cookie } = await goToBank(env);
  assertStringIncludes(await (await env.fetch(get("/", cookie))).text(), "Your orders");
  assertEquals((await (await env.fetch(get("/"))).text()).includes("Your orders"), false);
});
