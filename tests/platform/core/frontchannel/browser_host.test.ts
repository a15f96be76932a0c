/** Error pages of the browser host in the reader's language, and the responses that programs receive instead. */
import { assertEquals, assertMatch, assertNotEquals, assertStringIncludes } from "@std/assert";
import { Hono } from "hono";
import { openBrowserBinding } from "../../../../src/platform/core/frontchannel/browser_binding.ts";
import type { AuthorizationSession } from "../../../../src/platform/core/frontchannel/authorization_session.ts";
import { rejectionOf } from "testing/answers.ts";
import {
  assertBrowserHeaders,
  assertErrorAnswer,
  assertPage,
  headingOf,
  nextUrlOf,
  PAGE,
  tppAnswer,
  UUID,
} from "testing/front_channel.ts";
import { type Environment, START } from "testing/environment.ts";
import { steps } from "support/steps.ts";
import { HTML, open } from "support/open_page.ts";
import { test } from "support/environment_test.ts";
import { clientToken, consentBody, createConsent, good, push } from "testing/flows.ts";
import { Browser, toBank } from "testing/authorization_flow.ts";
import { unchanged } from "testing/store_contents.ts";

const ID = "58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11";

Deno.test("openBrowserBinding sets a __Host- cookie over https, and drops the prefix and Secure on plain http [F2] [AZ11]", async () => {
  assertEquals(await cookieOf(true), {
    name: `__Host-sca-${ID}`,
    attributes: ["HttpOnly", "Max-Age=87300", "Path=/", "SameSite=Lax", "Secure"],
  });
  assertEquals(await cookieOf(false), {
    name: `sca-${ID}`,
    attributes: ["HttpOnly", "Max-Age=87300", "Path=/", "SameSite=Lax"],
  });
});

Deno.test("openBrowserBinding knows the browser by its own cookie alone, on plain http too [AZ11] [BR9]", async () => {
  const binding = openBrowserBinding(false);
  const { secret, hash } = await binding.fresh();
  const held = async (cookie: string): Promise<string> => {
    const app = new Hono().get("/", async (c) => {
      const session = { correlationId: ID, bindingHash: hash } as AuthorizationSession;
      return c.text(String(await binding.asking(c).holds(session)));
    });
    return await (await app.request("/", { headers: { cookie } })).text();
  };
  assertEquals(await held(`sca-${ID}=${secret}`), "true");
  assertEquals(await held(`__Host-sca-${ID}=${secret}`), "false");
  assertEquals(await held(`sca-${ID}=${hash}`), "false");
  assertEquals(await held(`sca-${crypto.randomUUID()}=${secret}`), "false");
  assertEquals(await held(""), "false");
});

Deno.test("openBrowserBinding.fresh gives 256 random bits and their hash [FAPI-G7] [FAPI-G21]", async () => {
  const binding = openBrowserBinding(true);
  const [one, two] = [await binding.fresh(), await binding.fresh()];
  assertMatch(one.secret, /^[A-Za-z0-9_-]{43}$/);
  assertNotEquals(one.secret, two.secret);
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(one.secret));
  const expected = new Uint8Array(digest).toBase64({ alphabet: "base64url", omitPadding: true });
  assertEquals(one.hash, expected);
});

Deno.test("The form token of openBrowserBinding cannot be had without the cookie [AZ13]", async () => {
  const binding = openBrowserBinding(true);
  const tokenWith = async (cookie: string): Promise<string> => {
    const app = new Hono().get("/", async (c) => c.text(await binding.asking(c).formToken(ID)));
    return await (await app.request("https://x/", { headers: { cookie } })).text();
  };
  const own = `__Host-sca-${ID}=secret`;
  assertEquals(await tokenWith(own), await tokenWith(own));
  assertNotEquals(await tokenWith(own), await tokenWith(`__Host-sca-${ID}=other`));
  assertNotEquals(await tokenWith(""), await tokenWith(""));
});

async function cookieOf(secure: boolean): Promise<{ name: string; attributes: string[] }> {
  const binding = openBrowserBinding(secure);
  const app = new Hono().get("/", (c) => {
    binding.set(c, ID, "secret");
    return c.text("");
  });
  const [pair = "", ...attributes] = ((await app.request("/")).headers.get("set-cookie") ?? "").split("; ");
  const [name = "", value] = pair.split("=");
  assertEquals(value, "secret");
  return { name, attributes: attributes.toSorted() };
}

test("An unknown path of the browser host is a page for who reads pages, JSON for who does not [FAPI-G16]", async ({ env, t }) => {
  const paths = [
    "/nowhere",
    "/BANKA",
    "/BANKA/nothing",
    "/docs/nothing",
    "/problem/finished",
    "/v1x",
    "/a//b",
  ];
  const readers: Record<string, [accept: string | undefined, isPage: boolean]> = {
    "a browser": [HTML, true],
    "HTML alone": ["text/html", true],
    "in capitals": ["Text/HTML; charset=utf-8", true],
    "HTML rather than JSON": ["application/json;q=0.8, text/html", true],
    "JSON rather than HTML": ["application/json, text/html;q=0.9", false],
    "HTML rejected": ["text/html;q=0, */*", false],
    "anything, as programs say": ["*/*", false],
    "nothing said": [undefined, false],
    "a picture": ["image/svg+xml,image/*;q=0.8", false],
    "no quality": ["text/html;q=x", false],
  };
  await steps(t, readers, async ([accept, isPage]) => {
    for (const path of paths) {
      const answer = await open(env, path, accept === undefined ? {} : { headers: { accept } });
      if (isPage) await assertPage(answer, 404, "not_found");
      else await assertLostProgram(answer, 404, "not_found");
    }
  });
});

test("On paths of the API an unknown resource is a JSON answer, whatever the caller accepts [MD-N3] [FAPI-G16]", async ({ env }) => {
  const paths = [
    "/.well-known/openid-configuration",
    "/.well-known/oauth-authorization-server/NOBANK",
    "/jwks/x",
    "/health/x",
    "/health",
    "/openapi.json/x",
    "/assets/x.css",
    "/operations/payment-orders/dead",
    "/register/v1",
    "/BANKA/token.oauth2/v1",
    "/BANKA/par.oauth2/v2",
    "/BANKA/domestic-payments/v1/4711",
  ];
  for (const path of paths) {
    await assertLostProgram(await open(env, path, { headers: { accept: HTML } }), 404, "not_found");
  }
});

test("A method that is not allowed is a page or JSON in the same way, with Allow [AZ-N12]", async ({ env, t }) => {
  const person = { accept: HTML };
  for (const path of ["/docs", "/docs/errors", "/BANKA/authorization.oauth2", "/problem"]) {
    const allowed = path.startsWith("/BANKA") ? "GET" : "GET, HEAD"; // contract MD13
    await t.step(path, async () => {
      const page = await open(env, path, { method: "POST", headers: person });
      assertEquals(page.headers.get("allow"), allowed);
      await assertPage(page, 405, "wrong_method");
      const json = await open(env, path, { method: "PUT" });
      assertEquals(json.headers.get("allow"), allowed);
      await assertLostProgram(json, 405, "invalid_request");
    });
  }
  for (
    const path of ["/jwks", "/health/ready", "/openapi.json", "/.well-known/oauth-authorization-server/BANKA"]
  ) {
    await t.step(path, async () => {
      const json = await open(env, path, { method: "POST", headers: person });
      await assertLostProgram(json, 405, "invalid_request");
    });
  }
  await t.step("the consent screen takes two", async () => {
    const page = await open(env, "/BANKA/authorization.consent.oauth2", {
      method: "DELETE",
      headers: person,
    });
    assertEquals(page.headers.get("allow"), "GET, POST");
    await assertPage(page, 405, "wrong_method");
  });
});

async function assertLostProgram(answer: Response, status: number, error: string): Promise<void> {
  const body = await rejectionOf(answer);
  assertEquals([answer.status, answer.headers.get("content-type")], [status, "application/json"]);
  assertEquals([Object.keys(body), body.error], [["error", "error_description"], error]);
  assertBrowserHeaders(answer);
}

test("An error page speaks the reader's language; its switch changes language, title and direction and keeps the rest [AZ12]", async ({ env, t }) => {
  const flow = await toBank(env);
  const post = { method: "POST", body: new URLSearchParams({ csrf: "x", decision: "accept" }) };
  const screen = `/BANKA/authorization.consent.oauth2?flow=${flow.handover.correlation_id}`;
  const errors: Record<string, [path: string, init: RequestInit, status: number]> = {
    "an unknown path": ["/nowhere?lang=tlh", { headers: { accept: HTML } }, 404],
    "a link that cannot be used": ["/BANKA/authorization.oauth2?client_id=x&request_uri=SECRET", {}, 400],
    "a return that is not authentic": ["/BANKA/authorization.sca.oauth2?oAuthUrl=SECRET", {}, 400],
    "a form that is not theirs": [`${screen}&lang=en`, post, 400],
    "a wrong method": ["/docs", { method: "POST", headers: { accept: HTML } }, 405],
  };
  await steps(t, errors, async ([path, init, status]) => {
    const french = { ...init, headers: { ...init.headers, "accept-language": "fr-CA, en;q=0.5" } };
    const first = await open(env, path.replace("&lang=en", ""), french);
    const id = first.headers.get("x-fapi-interaction-id") ?? "";
    const html = await first.text();
    assertEquals(first.status, status);
    assertWritten(html, "fr", "ltr", id);
    assertEquals(html.includes("SECRET"), false, "what led here is on the page");
    const arabic = await follow(env, html, "ar");
    assertWritten(arabic, "ar", "rtl", id);
    const english = await follow(env, arabic, "en");
    assertWritten(english, "en", "ltr", id);
    assertEquals(titleOf(english), headingOf(english));
    assertEquals(Object.values<string>(PAGE).includes(titleOf(english)), true, titleOf(english));
    assertEquals(shapeOf(arabic), shapeOf(html));
  });
});

test("What is answered to a decision is in the language of the page that it was taken on [AZ13]", async ({ env }) => {
  const flow = await toBank(env);
  const screen = `/BANKA/authorization.consent.oauth2?flow=${flow.handover.correlation_id}&lang=es`;
  const body = new URLSearchParams({ csrf: "x", decision: "accept" });
  const answer = await new Browser(env).open(screen, { method: "POST", body });
  assertStringIncludes(await answer.text(), '<html lang="es" dir="ltr">');
});

test("GET problem shows only pages that there are, for a number that is one, and in each language what is wrong with a link [AZ-N16]", async ({ env }) => {
  const uuid = "93bac548-d2de-4546-b106-880a5018460d";
  const shown = await open(env, `/problem?page=finished&request=${uuid}`);
  const explained = await open(env, `/problem?page=link_unusable&request=${uuid}&fault=client_id_missing`);
  assertEquals((await explained.text()).match(/fault=client_id_missing&(?:amp;)?lang=/g)?.length, 4);
  assertEquals([shown.status, shown.headers.get("content-type")], [200, "text/html; charset=UTF-8"]);
  assertBrowserHeaders(shown);
  const html = await shown.text();
  assertEquals(headingOf(html), PAGE.finished);
  assertStringIncludes(html, uuid);
  const probe = encodeURIComponent("<script>alert(1)</script>");
  for (
    const query of [
      "",
      "?page=finished",
      `?request=${uuid}`,
      `?page=toString&request=${uuid}`,
      `?page=${probe}&request=${uuid}`,
      `?page=finished&request=${probe}`,
      `?page=finished&request=call+0800+4711`,
    ]
  ) {
    const page = await assertPage(
      await open(env, `/problem${query}`, { headers: { accept: HTML } }),
      404,
      "not_found",
    );
    assertEquals(page.includes("<script") || page.includes("0800"), false, query);
  }
  const back = await open(env, `/problem?page=unavailable&request=${uuid}&back=https://evil.example`);
  assertEquals((await back.text()).includes("evil"), false);
});

test("While the TPP's registration cannot be read, the page links to the next URL: temporarily_unavailable, in every language [AZ9] [A9] [B5]", async ({ env }) => {
  const consentId = (await createConsent(env, await clientToken(env, env.tpp), consentBody())).Data.ConsentId;
  env.now = START + 590_000;
  env.network = () => Promise.reject(new TypeError("connection refused"));
  const { request_uri } = await good(push(env, consentId), 201); // on the last good copies
  env.now = START + 1_090_000;
  const query = new URLSearchParams({ client_id: env.tpp.clientId, request_uri, nonce: '"><b>' });
  const link = `/BANKA/authorization.oauth2?${query}`;
  const answer = await unchanged(env, () => open(env, link));
  assertEquals([answer.headers.get("retry-after"), answer.headers.getSetCookie()], ["10", []]);
  const page = await assertPage(answer, 503, "unavailable");
  const arabic = await follow(env, page, "ar");
  for (const html of [page, arabic]) {
    const back = nextUrlOf(html) ?? "";
    const clicked = new Response(null, {
      status: 303,
      headers: { ...(await plainHeaders(env)), location: back },
    });
    await assertErrorAnswer(clicked, "temporarily_unavailable");
    assertEquals((await tppAnswer(new Response(null, clicked))).to, "https://shop.example/callback");
  }
  assertStringIncludes(arabic, '<html lang="ar" dir="rtl">');
  env.network = (request) => env.directory.fetch(request);
  env.now += 30_000; // and the link itself works again as soon as the directory does
  assertEquals((await open(env, link)).status, 303);
});

/** Follows the page's own language switch in a new browser, and asserts that it changes no state. */
async function follow(env: Environment, html: string, language: string): Promise<string> {
  const switches = /<nav class="languages".*?<\/nav>/s.exec(html)?.[0] ?? "";
  const href = new RegExp(`<a href="([^"]*)" lang="${language}"`).exec(switches)?.[1] ?? "";
  const answer = await unchanged(env, () => open(env, href.replaceAll("&amp;", "&")));
  return await answer.text();
}

/** Language, direction, title, product, the switch with this language marked, and the number for support. */
function assertWritten(html: string, language: string, direction: string, id: string): void {
  assertStringIncludes(html, `<html lang="${language}" dir="${direction}">`);
  assertMatch(id, UUID);
  assertStringIncludes(html, `<code dir="ltr">${id}</code>`);
  assertEquals(titleOf(html), headingOf(html));
  const [current, ...more] = [...html.matchAll(/<a href="[^"]*" lang="(\w+)"[^>]*aria-current="true"/g)];
  assertEquals([current?.[1], more.length], [language, 0]);
  const product = { en: "Payment approval", fr: "Approbation de paiement", ar: "الموافقة على الدفع" };
  assertStringIncludes(html, product[language as keyof typeof product]);
}

function titleOf(html: string): string {
  return /<title>(.*?)<\/title>/.exec(html)?.[1] ?? "";
}

/** The page's elements, without words, languages and addresses. */
function shapeOf(html: string): string {
  return [...html.matchAll(/<(\w+)/g)].map(([, name]) => name).join(" ");
}

/** The headers that every answer of the browser host has. */
async function plainHeaders(env: Environment): Promise<Record<string, string>> {
  const answer = await open(env, "/nowhere");
  await answer.body?.cancel();
  return Object.fromEntries([...answer.headers].filter(([name]) => name !== "content-type"));
}
