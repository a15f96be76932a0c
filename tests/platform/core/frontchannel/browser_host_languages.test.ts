import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { clientToken, consentBody, createConsent, good, push } from "testing/flows.ts";
import { Browser, toBank } from "testing/authorization_flow.ts";
import {
  assertBrowserHeaders,
  assertErrorAnswer,
  assertNothingChanges,
  assertPage,
  headingOf,
  nextUrlOf,
  PAGE,
  tppAnswer,
  UUID,
} from "testing/front_channel.ts";
import { type Environment, openEnvironment, START } from "testing/environment.ts";
import { steps } from "support/steps.ts";
import { HTML, open } from "./open_page.ts";

Deno.test("An error page speaks the reader's language; its switch changes language, title and direction and keeps the rest [AZ12]", async (t) => {
  await using env = await openEnvironment();
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

Deno.test("What is answered to a decision is in the language of the page that it was taken on [AZ13]", async () => {
  await using env = await openEnvironment();
  const flow = await toBank(env);
  const screen = `/BANKA/authorization.consent.oauth2?flow=${flow.handover.correlation_id}&lang=es`;
  const body = new URLSearchParams({ csrf: "x", decision: "accept" });
  const answer = await new Browser(env).open(screen, { method: "POST", body });
  assertStringIncludes(await answer.text(), '<html lang="es" dir="ltr">');
});

Deno.test("GET problem shows only pages that there are, for a number that is one [AZ-N16]", async () => {
  await using env = await openEnvironment();
  const uuid = "93bac548-d2de-4546-b106-880a5018460d";
  const shown = await open(env, `/problem?page=finished&request=${uuid}`);
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

Deno.test("While the TPP's registration cannot be read, the page links to the next URL: temporarily_unavailable, in every language [AZ9] [A9] [B5]", async () => {
  await using env = await openEnvironment();
  const consentId = (await createConsent(env, await clientToken(env, env.tpp), consentBody())).Data.ConsentId;
  env.now = START + 590_000;
  env.network = () => Promise.reject(new TypeError("connection refused"));
  const { request_uri } = await good(push(env, consentId), 201); // on the last good copies
  env.now = START + 1_090_000;
  const query = new URLSearchParams({ client_id: env.tpp.clientId, request_uri, nonce: '"><b>' });
  const link = `/BANKA/authorization.oauth2?${query}`;
  const answer = await assertNothingChanges(env, () => open(env, link));
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
  const answer = await assertNothingChanges(env, () => open(env, href.replaceAll("&amp;", "&")));
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
