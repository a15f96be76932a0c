import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { authUrl, json, paymentAnswer } from "support/sandbox_tpp_platform.ts";
import {
  callback,
  get,
  goToBank,
  issuer,
  openShop,
  paymentsPath,
  type ShopEnvironment,
} from "support/shop_environment.ts";
import { bodyOf } from "testing/answers.ts";
import { follow } from "./followed.ts";

Deno.test("GET callback with a code pays once and shows the platform's status", async () => {
  const env = await openShop();
  const { cookie, state } = await goToBank(env);
  const back = callback({ code: "secret-code", state, iss: issuer }, cookie);
  const page = await follow(env, await env.fetch(back.clone()), cookie);
  assertStringIncludes(
    page,
    '<strong id="payment-status" lang="en" dir="ltr">AcceptedSettlementInProcess</strong>',
  );
  const again = await env.fetch(back);
  assertEquals(again.status, 303);
  assertEquals(payments(env), 1);
});

Deno.test("GET callback opened twice at once pays once", async () => {
  const env = await openShop();
  const { cookie, state } = await goToBank(env);
  const back = callback({ code: "secret-code", state, iss: issuer }, cookie);
  const both = await Promise.all([env.fetch(back.clone()), env.fetch(back)]);
  assertEquals(both.map(({ status }) => status), [303, 303]);
  assertEquals(payments(env), 1);
});

Deno.test("GET callback with access_denied shows that no money moved", async () => {
  const env = await openShop();
  const { cookie, state } = await goToBank(env);
  const response = await env.fetch(callback({ error: "access_denied", state, iss: issuer }, cookie));
  const page = await follow(env, response, cookie);
  assertStringIncludes(page, "No money has moved");
  assertMatch(page, /<a href="\/#\w+" class="button">Try again<\/a>/);
  assertStringIncludes(
    page,
    '<strong id="payment-status">Not paid (<bdi lang="en" dir="ltr">access_denied</bdi>)</strong>',
  );
  assertEquals(payments(env), 0);
});

Deno.test("GET callback that does not belong here changes nothing", async (t) => {
  const env = await openShop();
  const { cookie, state } = await goToBank(env);
  const outsider = `__Host-shop_session=${"A".repeat(43)}`;
  const good = { code: "secret-code", state, iss: issuer };
  const cases: readonly (readonly [string, Request])[] = [
    ["no cookie", callback(good)],
    ["another browser's cookie", callback(good, outsider)],
    ["two session cookies", callback(good, `${cookie}; ${outsider}`)],
    ["unknown state", callback({ ...good, state: "other" }, cookie)],
    ["another issuer", callback({ ...good, iss: `${authUrl}/BANKB` }, cookie)],
    ["no issuer", callback({ code: "secret-code", state }, cookie)],
    [
      "an error of another issuer",
      callback({ error: "access_denied", state, iss: "https://evil.example" }, cookie),
    ],
    ["no query", callback({}, cookie)],
  ];
  for (const [name, request] of cases) {
    await t.step(name, async () => assertEquals((await env.fetch(request)).status, 400));
  }
  await t.step("HEAD", async () => {
    const head = new Request(callback(good, cookie), { method: "HEAD" });
    assertEquals((await env.fetch(head)).status, 404);
  });
  assertEquals(payments(env), 0);
  await t.step("and the true return still pays", async () => {
    assertEquals((await env.fetch(callback(good, cookie))).status, 303);
    assertEquals(payments(env), 1);
  });
});

Deno.test("a payment whose answer is lost is repeated with the same key", async () => {
  const env = await openShop();
  const { cookie, state } = await goToBank(env);
  env.answers.set(paymentsPath, [
    (): Promise<Response> => Promise.reject(new TypeError("connection reset")),
    (): Response => json(503, {}),
  ]);
  const response = await env.fetch(callback({ code: "secret-code", state, iss: issuer }, cookie));
  const page = await follow(env, response, cookie);
  assertStringIncludes(page, "AcceptedSettlementInProcess");
  const keys = env.seen.filter(({ path }) => path === paymentsPath)
    .map(({ headers }) => headers.get("x-idempotency-key"));
  assertEquals(keys.length, 3);
  assertEquals(new Set(keys).size, 1);
  assertEquals(env.waits, [0, 1000, 2000]);
});

Deno.test("the shop waits as long as Retry-After asks, in both halves of a purchase", async () => {
  const env = await openShop();
  const later = (): Response => new Response("{}", { status: 503, headers: { "retry-after": "4" } });
  env.answers.set("/BANKA/domestic-payment-consents/v1", [later]);
  env.answers.set(paymentsPath, [later]);
  const { cookie, state } = await goToBank(env);
  assertEquals(env.waits, [4000]);
  const response = await env.fetch(callback({ code: "secret-code", state, iss: issuer }, cookie));
  assertStringIncludes(await follow(env, response, cookie), "AcceptedSettlementInProcess");
  assertEquals(env.waits, [4000, 0, 4000]);
  const consents = env.seen.filter(({ path }) => path === "/BANKA/domestic-payment-consents/v1");
  assertEquals(new Set(consents.map(({ headers }) => headers.get("x-idempotency-key"))).size, 1);
});

Deno.test("a payment that the platform wants much later is unknown at once", async () => {
  const env = await openShop();
  const { cookie, state } = await goToBank(env);
  env.answers.set(paymentsPath, [
    () => new Response("{}", { status: 503, headers: { "retry-after": "60" } }),
  ]);
  const response = await env.fetch(callback({ code: "secret-code", state, iss: issuer }, cookie));
  const page = await follow(env, response, cookie);
  assertStringIncludes(page, 'data-payment-outcome="unknown"');
  assertEquals(env.waits, [0]);
});

Deno.test("a payment whose result stays unknown is not called unpaid", async () => {
  const env = await openShop();
  const { cookie, state } = await goToBank(env);
  const failing = (): Response => json(500, {});
  const rejecting = (): Response => json(400, {}); // the result of the first submission stays unknown
  env.answers.set(paymentsPath, [failing, rejecting, rejecting]);
  const response = await env.fetch(callback({ code: "secret-code", state, iss: issuer }, cookie));
  const page = await follow(env, response, cookie);
  assertStringIncludes(page, '<strong id="payment-status">Unknown</strong>');
  assertEquals(page.includes("No money has moved"), false);
});

Deno.test("a payment that is rejected outright is not repeated", async () => {
  const env = await openShop();
  const { cookie, state } = await goToBank(env);
  env.answers.set(paymentsPath, [(): Response => json(400, {})]);
  const response = await env.fetch(callback({ code: "secret-code", state, iss: issuer }, cookie));
  assertStringIncludes(await follow(env, response, cookie), "No money has moved");
  assertEquals(payments(env), 1);
});

Deno.test("GET order shows the current status and keeps the last one when it cannot be read", async () => {
  const env = await openShop();
  const { cookie, state } = await goToBank(env);
  const response = await env.fetch(callback({ code: "secret-code", state, iss: issuer }, cookie));
  const path = response.headers.get("location") ?? "";
  const readPath = `${paymentsPath}/5d2c5b1e-31a5-4b52-9d6e-2b8e5b0b7a11`;
  env.answers.set(readPath, [
    (): Response => paymentAnswer(200, "AcceptedSettlementCompleted"),
    (): Response => json(500, {}),
  ]);
  for (const _ of [1, 2]) {
    const page = await (await env.fetch(get(path, cookie))).text();
    assertStringIncludes(
      page,
      '<strong id="payment-status" lang="en" dir="ltr">AcceptedSettlementCompleted</strong>',
    );
  }
});

Deno.test("GET order and its messages are for the browser that ordered", async () => {
  const env = await openShop();
  const { cookie, state } = await goToBank(env);
  const response = await env.fetch(callback({ code: "secret-code", state, iss: issuer }, cookie));
  const path = response.headers.get("location") ?? "";
  for (const address of [path, `${path}/messages`, `${path}/messages/1`, `${path}/messages.json`]) {
    assertEquals((await env.fetch(get(address))).status, 404);
    assertEquals((await env.fetch(get(address, `__Host-shop_session=${"A".repeat(43)}`))).status, 404);
    assertEquals((await env.fetch(get(address, cookie))).status, 200);
  }
});

interface Shown {
  readonly messages: readonly { readonly url: string }[];
}

Deno.test("GET a message links to the trace of its request at the platform [TRC12]", async () => {
  const env = await openShop();
  const { cookie, state } = await goToBank(env);
  const response = await env.fetch(callback({ code: "secret-code", state, iss: issuer }, cookie));
  const path = `${response.headers.get("location")}/messages`;
  const { messages } = await bodyOf<Shown>(env.fetch(get(`${path}.json`, cookie)));
  const number = messages.findLastIndex(({ url }) => url.includes("/domestic-payments/v1"));
  const page = await (await env.fetch(get(`${path}/${number + 1}`, cookie))).text();
  const [, id] = /\/docs\/traces\?id=([0-9a-f-]{36})"/.exec(page) ?? [];
  assertStringIncludes(JSON.stringify(messages[number]), `"x-fapi-interaction-id","${id}"`);
});

function payments({ seen }: ShopEnvironment): number {
  return seen.filter(({ method, path }) => method === "POST" && path === paymentsPath).length;
}
