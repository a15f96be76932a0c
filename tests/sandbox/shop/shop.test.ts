import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { json, paymentAnswer, requestUri } from "support/sandbox_tpp_platform.ts";
import {
  callback,
  cookieOf,
  get,
  goToBank,
  issuer,
  openShop,
  order,
  paymentsPath,
} from "support/shop_environment.ts";
import type { SentConsent } from "testing/flows.ts";
import { follow } from "./followed.ts";
import { stepsOf } from "support/steps.ts";

Deno.test("shop front page offers three checkout forms and no script", async () => {
  const { fetch } = await openShop();
  const response = await fetch(get("/"));
  assertEquals(response.status, 200);
  const page = await response.text();
  assertEquals(page.match(/<form method="post" action="\/checkout">/g)?.length, 3);
  for (const price of ["4.20", "12.50", "89.00"]) assertStringIncludes(page, `€${price}`);
  assertStringIncludes(page, "Sandbox");
  assertEquals(/<script|style="|onclick|javascript:/i.test(page), false);
});

Deno.test("shop says of a bank that it does not answer, and without the states of banks nothing [BH5]", async () => {
  const { fetch, answers } = await openShop();
  const states = ["down", "available"].map((state, place) => ({
    bank: ["BANKA", "BANKB"][place],
    name: "A",
    state,
  }));
  answers.set("/banks.json", [
    () => json(200, { banks: states }),
    () => json(503, {}),
    () => json(200, { banks: [{ bank: "BANKA" }] }),
  ]);
  const said = async (): Promise<number> =>
    (await (await fetch(get("/"))).text()).split("does not answer at present").length - 1;
  assertEquals([await said(), await said(), await said()], [3, 0, 0], "once in each form");
});

Deno.test("shop answers are uncacheable, unframeable and let forms go to platform and bank alone", async () => {
  const { fetch } = await openShop();
  for (const path of ["/", "/nowhere", "/assets/shop.css", "/callback?state=x"]) {
    const { headers } = await fetch(get(path));
    assertEquals(
      headers.get("content-security-policy"),
      "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self' https://auth.example " +
        "https://banks.example; base-uri 'none'; frame-ancestors 'none'",
    );
    assertEquals(headers.get("cache-control"), "no-store");
    assertEquals(headers.get("x-content-type-options"), "nosniff");
    assertEquals(headers.get("x-frame-options"), "DENY");
  }
});

Deno.test("GET order runs the shop's own script, and that alone, while the payment may change", async () => {
  const env = await openShop();
  const { cookie, state } = await goToBank(env);
  const paid = await env.fetch(callback({ code: "secret-code", state, iss: issuer }, cookie));
  const path = paid.headers.get("location") ?? "";
  const readPath = `${paymentsPath}/5d2c5b1e-31a5-4b52-9d6e-2b8e5b0b7a11`;
  env.answers.set(readPath, ["Pending", "Rejected"].map((word) => () => paymentAnswer(200, word)));
  const [changing, final] = [await env.fetch(get(path, cookie)), await env.fetch(get(path, cookie))];
  const policies = [changing, final].map(({ headers }) => headers.get("content-security-policy") ?? "");
  assertEquals(policies.map((policy) => /script-src [^;]*/.exec(policy)?.[0]), [
    "script-src 'self'",
    undefined,
  ]);
  assertEquals(policies.map((policy) => /connect-src [^;]*/.exec(policy)?.[0]), [
    "connect-src 'self'",
    undefined,
  ]);
  const scripts = (page: string): readonly string[] => page.match(/<script[^>]*>[^<]*/g) ?? [];
  assertEquals(scripts(await changing.text()), ['<script src="/assets/order.js" defer>']);
  assertEquals(scripts(await final.text()), []);
});

Deno.test("POST checkout sends the customer to the platform and binds the order to the browser", async () => {
  const { fetch, seen } = await openShop();
  const response = await fetch(order({ item: "lunch", bank: "BANKA", account: "" }));
  assertEquals(response.status, 303);
  const location = new URL(response.headers.get("location") ?? "");
  assertEquals(`${location.origin}${location.pathname}`, `${issuer}/authorization.oauth2`);
  assertEquals(location.searchParams.get("request_uri"), requestUri);
  assertMatch(
    response.headers.get("set-cookie") ?? "",
    /^__Host-shop_session=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
  );
  const consent = JSON.parse(
    seen.find(({ path }) => path.endsWith("/domestic-payment-consents/v1"))?.body ?? "{}",
  ) as SentConsent;
  assertEquals(consent.Data.Initiation.InstructedAmount, { Amount: "12.50", Currency: "EUR" });
  assertEquals("DebtorAccount" in consent.Data.Initiation, false);
});

Deno.test("a double click on paying is one order with one consent", async () => {
  const { fetch, seen } = await openShop();
  const click = () => fetch(order({ item: "lunch", bank: "BANKA", account: "" }));
  const [first, second] = await Promise.all([click(), click()]);
  assertEquals(second.headers.get("location"), first.headers.get("location"));
  assertEquals(seen.filter(({ path }) => path.endsWith("/domestic-payment-consents/v1")).length, 1);
  await click(); // another purchase
  assertEquals(seen.filter(({ path }) => path.endsWith("/domestic-payment-consents/v1")).length, 2);
});

Deno.test("a form of the shop's front page carries this browser's anti-forgery token, and is accepted with it", async () => {
  const { fetch, seen } = await openShop();
  const front = await fetch(get("/"));
  const cookie = cookieOf(front);
  assertMatch(cookie, /^__Host-shop_session=[A-Za-z0-9_-]{43}$/);
  const tokens = [...(await front.text()).matchAll(/name="csrf" value="([^"]+)"/g)].map(([, token]) => token);
  assertEquals([tokens.length, new Set(tokens).size], [3, 1]);
  assertEquals(cookie.includes(tokens[0] ?? ""), false, "the page does not show the session");
  const again = await fetch(get("/", cookie));
  assertEquals(again.headers.get("set-cookie"), null, "the session stays");
  const answer = await fetch(
    order({ item: "lunch", bank: "BANKA", account: "", csrf: tokens[0] ?? "" }, undefined, cookie),
  );
  assertEquals([answer.status, cookieOf(answer)], [303, cookie]);
  assertEquals(
    new URLSearchParams(seen.find(({ path }) => path.endsWith("/par.oauth2/v1"))?.body).get("ui_locales"),
    "en",
  );
});

Deno.test("POST checkout with an account makes the consent implicit", async () => {
  const { fetch, seen } = await openShop();
  await fetch(order({ item: "lunch", bank: "BANKA", account: "gb33 BUKB 2020 1555 5555 55" }));
  const consent = JSON.parse(
    seen.find(({ path }) => path.endsWith("/domestic-payment-consents/v1"))?.body ?? "{}",
  ) as SentConsent;
  assertEquals(consent.Data.Initiation.DebtorAccount, {
    SchemeName: "UK.OBIE.IBAN",
    Identification: "GB33BUKB20201555555555",
  });
});

Deno.test("POST checkout rejects what cannot be an order and sends nothing", async (t) => {
  const lunch = { item: "lunch", bank: "BANKA", account: "" };
  const cases: readonly (readonly [string, Request, number])[] = [
    ["unknown good", order({ item: "yacht", bank: "BANKA", account: "" }), 400],
    ["unknown bank", order({ item: "lunch", bank: "BANKC", account: "" }), 400],
    ["empty form", order({}), 400],
    ["mistyped IBAN", order({ item: "lunch", bank: "BANKA", account: 'GB00"><b>' }), 422],
    [
      "another site's form",
      order({ item: "lunch", bank: "BANKA", account: "" }, "https://evil.example"),
      403,
    ],
    ["opaque origin", order({ item: "lunch", bank: "BANKA", account: "" }, "null"), 403],
    ["no anti-forgery token", order({ ...lunch, csrf: "" }), 403],
    [
      "another browser's anti-forgery token",
      order(lunch, undefined, `__Host-shop_session=${"B".repeat(43)}`),
      403,
    ],
    ["an anti-forgery token without a session", order(lunch, undefined, ""), 403],
    ["too long", order({ item: "lunch", bank: "BANKA", account: "1".repeat(5000) }), 413],
  ];
  const { fetch, seen } = await openShop();
  await stepsOf(t, cases, ([name]) => name, async ([, request, status]) => {
    const response = await fetch(request);
    assertEquals(response.status, status);
    assertEquals((await response.text()).includes('"><b>'), false);
  });
  assertEquals(seen, []);
});

Deno.test("POST checkout says no money moved when the platform rejects the consent", async () => {
  const env = await openShop();
  env.answers.set("/BANKA/domestic-payment-consents/v1", [(): Response => json(400, { Errors: [] })]);
  const response = await env.fetch(order({ item: "lunch", bank: "BANKA", account: "" }));
  const page = await follow(env, response, cookieOf(response));
  assertStringIncludes(page, "No money has moved");
  assertStringIncludes(page, '<strong id="payment-status">Not paid</strong>');
});
