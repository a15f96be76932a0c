import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import {
  bodyOf,
  memberOf,
  type OpenApi,
  type OpenApiOperation,
  type OpenApiParameter,
  present,
} from "testing/answers.ts";
import { good } from "testing/flows.ts";
import { assertBrowserHeaders, BROWSER_HEADERS, headingOf, UUID } from "testing/front_channel.ts";
import { openDocs } from "../../../../src/portal/docs_page.tsx";
import { DIRECTORY_FACTS } from "support/ui_samples.ts";
import { open } from "support/open_page.ts";
import { test } from "support/environment_test.ts";

const CACHED = { ...BROWSER_HEADERS, "cache-control": "public, max-age=300" };
/** The portal's pages may run its own script, and nothing else more than other pages. */
const OF_PORTAL = {
  ...CACHED,
  "content-security-policy": `${BROWSER_HEADERS["content-security-policy"]}; script-src 'self'`,
};
/** Pages are read on phones, over slow lines. */
const MAX_PAGE_BYTES = 150_000;
const API = "https://api.platform.example";
const AUTH = "https://auth.platform.example";

/** Every endpoint of the contract and of this platform's extensions, and the host it is on. */
const OPERATIONS = {
  "post /register/v1": API,
  "get /register/v1/{clientId}": API,
  "delete /register/v1/{clientId}": API,
  "post /{bank}/token.oauth2/v1": API,
  "post /{bank}/par.oauth2/v1": API,
  "post /{bank}/domestic-payment-consents/v1": API,
  "get /{bank}/domestic-payment-consents/v1": API,
  "get /{bank}/domestic-payment-consents/v1/{consentId}": API,
  "get /{bank}/domestic-payment-consents/v1/{consentId}/funds-confirmation": API,
  "post /{bank}/domestic-payments/v1": API,
  "get /{bank}/domestic-payments/v1": API,
  "get /{bank}/domestic-payments/v1/{paymentId}": API,
  "get /{bank}/domestic-payments/v1/{paymentId}/receipt": API,
  "get /{bank}/cases/v1/{caseId}": API,
  "post /{bank}/disputes/v1": API,
  "get /{bank}/disputes/v1/{paymentId}": API,
  "get /{bank}/back-channel-auth/v1/{consentId}": API,
  "put /{bank}/back-channel-auth/v1/{consentId}": API,
  "post /{bank}/authorization-results/v1": API,
  "get /{bank}/back-channel-payments/v1": API,
  "get /{bank}/back-channel-payments/v1/{paymentId}": API,
  "put /{bank}/back-channel-payments/v1/{paymentId}": API,
  "post /{bank}/back-channel-events/v1": API,
  "post /{bank}/events/v1": API,
  "post /{bank}/events/v1/replay": API,
  "post /{bank}/event-subscriptions/v1": API,
  "get /{bank}/event-subscriptions/v1": API,
  "put /{bank}/event-subscriptions/v1/{eventSubscriptionId}": API,
  "delete /{bank}/event-subscriptions/v1/{eventSubscriptionId}": API,
  "get /traces/v1/{interactionId}": API,
  "get /traces/v1": API,
  "get /{bank}/authorization.oauth2": AUTH,
  "get /{bank}/authorization.sca.oauth2": AUTH,
  "get /{bank}/authorization.waiting.oauth2": AUTH,
  "get /.well-known/oauth-authorization-server/{bank}": AUTH,
  "get /jwks": AUTH,
  "get /health/live": AUTH,
  "get /health/serving": AUTH,
  "get /health/ready": AUTH,
  "get /openapi.json": AUTH,
  "get /service-levels.json": AUTH,
  "get /banks.json": AUTH,
} as const;

test("GET /openapi.json lists every endpoint once, on its own host, and no page [A6]", async ({ env }) => {
  const answer = await open(env, "/openapi.json");
  assertEquals([answer.status, answer.headers.get("content-type")], [200, "application/json"]);
  assertBrowserHeaders(answer, CACHED);
  const document = await bodyOf<OpenApi>(answer);
  assertEquals(document.openapi, "3.1.0");
  assertEquals(document.servers.map(({ url }) => url), [API, AUTH]);
  const operations = operationsOf(document).map(([name, operation]) => [
    name,
    operation.servers.map(({ url }) => url).join(),
  ]);
  assertEquals(Object.fromEntries(operations), OPERATIONS);
  assertEquals(operations.length, Object.keys(OPERATIONS).length);
});

test("GET /openapi.json is whole: every reference leads somewhere, every operation has words and answers", async ({ env }) => {
  const document = await good<OpenApi>(open(env, "/openapi.json"), 200);
  for (const reference of referencesIn(document)) {
    const target = reference.slice(2).split("/").reduce<unknown>(memberOf, document);
    assertEquals(typeof target, "object", reference);
  }
  for (const [name, operation] of operationsOf(document)) {
    assertMatch(operation.summary ?? "", /\w/, name);
    assertEquals(Object.keys(operation.responses).length > 0, true, name);
    const inPath = [...name.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
    const declared = (operation.parameters ?? []).map((parameter) => resolved(document, parameter))
      .filter((parameter) => parameter.in === "path").map((parameter) => parameter.name ?? "");
    assertEquals(declared.toSorted(), inPath.toSorted(), name);
  }
});

test("GET /openapi.json is the same whatever Host says, and needs no certificate [A6] [A7] [MD-N4]", async ({ env }) => {
  const expected = await (await open(env, "/openapi.json")).text();
  const headers = { host: "evil.example", "x-forwarded-host": "evil.example" };
  const evil = await env.browser(new Request("https://evil.example/openapi.json", { headers }));
  assertEquals(await evil.text(), expected);
});

test("GET /docs and its pages tell every endpoint, with no script but their own and no foreign parts [AZ12]", async ({ env, t }) => {
  const document = await good<OpenApi>(open(env, "/openapi.json"), 200);
  const told: string[] = [];
  const { paths } = openDocs(document, { authUrl: AUTH, errors: [], directory: DIRECTORY_FACTS });
  for (const path of paths) {
    await t.step(path, async () => {
      const answer = await open(env, path);
      const html = await answer.text();
      assertEquals([answer.status, answer.headers.get("content-type")], [200, "text/html; charset=UTF-8"]);
      assertBrowserHeaders(answer, OF_PORTAL);
      const markup = html.replaceAll(/<code>.*?<\/code>/gs, "");
      assertEquals([...markup.matchAll(/<script(?! src)|style="|<iframe| on\w+="/g)].length, 0);
      const loaded = [...html.matchAll(/<(?:link|img|script)[^>]*(?:href|src)="([^"]*)"/g)].map(([, url]) =>
        url
      );
      assertMatch(loaded.shift() ?? "", /^\/assets\/fonts\/inter-[\d.]+-latin\.woff2$/);
      assertEquals(loaded, ["/assets/platform.css", "/assets/platform.svg", "/assets/portal.js"]);
      assertEquals(new TextEncoder().encode(html).length < MAX_PAGE_BYTES, true, `${html.length}`);
      for (const [, target = ""] of html.matchAll(/<a [^>]*href="(\/docs[^"#?]*)/g)) {
        const isExample = target.startsWith("/docs/examples/"); // tested below
        assertEquals(isExample || paths.includes(target.replace(/(\/README)?\.md$/, "")), true, target);
      }
      told.push(html);
    });
  }
  for (const name of Object.keys(OPERATIONS)) assertStringIncludes(told.join(""), name.split(" ")[1] ?? "");
  assertEquals(headingOf(told[0] ?? ""), "Payment initiation platform");
});

test("GET /docs?q= finds places by words, and says so where there are none", async ({ env }) => {
  const found = async (question: string): Promise<string> => {
    const answer = await open(env, `/docs?q=${encodeURIComponent(question)}`);
    assertBrowserHeaders(answer, OF_PORTAL);
    assertEquals(answer.status, 200);
    return await answer.text();
  };
  assertStringIncludes(await found("idempotency"), '<a href="/docs/tpp#lost-responses">');
  assertStringIncludes(await found("client assertion"), '<a href="/docs/signatures#client-assertion">');
  const nothing = await found("<xyzzy>plugh(1)</xyzzy>");
  assertStringIncludes(nothing, "Nothing was found for “&lt;xyzzy&gt;plugh(1)&lt;/xyzzy&gt;”");
  assertEquals((await found("x".repeat(5000))).length < MAX_PAGE_BYTES, true);
});

test("Documents have a strong tag and are answered 304 to who has them, also as a compressing proxy weakens the tag", async ({ env }) => {
  const tags = new Set<string>();
  const paths = [
    "/openapi.json",
    "/docs",
    "/docs/errors",
    "/docs/reference/consents",
    "/docs/tpp",
    "/docs/tpp.md",
    "/llms.txt",
    "/assets/platform.css",
    "/assets/portal.js",
  ];
  for (const path of paths) {
    const first = await open(env, path);
    const tag = first.headers.get("etag") ?? "";
    assertMatch(tag, /^"[A-Za-z0-9_-]{43}"$/);
    assertEquals((await open(env, path)).headers.get("etag"), tag);
    for (const sent of [tag, `W/${tag}`, `"other", ${tag}`, "*"]) {
      const answer = await open(env, path, { headers: { "if-none-match": sent } });
      assertEquals([answer.status, await answer.text(), answer.headers.get("etag")], [304, "", tag], path);
      assertBrowserHeaders(answer, /^\/docs[^.]*$/.test(path) ? OF_PORTAL : CACHED);
    }
    const changed = await open(env, path, { headers: { "if-none-match": '"other"' } });
    assertEquals([changed.status, await changed.text()], [200, await first.text()]);
    tags.add(tag);
  }
  assertEquals(tags.size, paths.length);
});

test("GET / of the browser host leads to the documentation", async ({ env }) => {
  const answer = await open(env, "/");
  assertEquals([answer.status, answer.headers.get("location")], [303, "/docs"]);
  assertBrowserHeaders(answer);
});

test("There is no documentation page but those listed", async ({ env }) => {
  for (
    const path of [
      "/docs/",
      "/docs/nothing",
      "/docs/nothing.md",
      "/docs/examples/nothing.py",
      "/docs/errors.md",
      "/docs/reference/a/b",
      "/docs/constructor",
    ]
  ) {
    const answer = await open(env, path);
    assertEquals(answer.status, 404, path);
    await answer.body?.cancel();
  }
});

test("The examples that the documents name are there as plain text [W4]", async ({ env }) => {
  const pages = await Promise.all(
    ["tpp", "bank"].map(async (page) => (await open(env, `/docs/${page}`)).text()),
  );
  const linked = [...pages.join("").matchAll(/href="\/docs\/(examples\/[^"]+)"/g)].map(([, path = ""]) =>
    path
  );
  assertEquals(new Set(linked).size, 7);
  for (const path of linked) {
    const answer = await open(env, `/docs/${path}`);
    assertEquals(answer.headers.get("content-type"), "text/plain; charset=utf-8");
    assertEquals(
      await answer.text(),
      await Deno.readTextFile(new URL(`../../../../${path}`, import.meta.url)),
    );
  }
});

test("Every document is there as Markdown with the platform's addresses, and llms.txt lists them [W4]", async ({ env }) => {
  const list = await (await open(env, "/llms.txt")).text();
  const listed = [...list.matchAll(/\]\((https:[^)]+\.md)\)/g)].map(([, url = ""]) => new URL(url));
  const files: string[] = [];
  for (const folder of ["", "contract/", "decisions/", "operations/", "operations/runbooks/"]) {
    for await (const { name } of Deno.readDir(new URL(`../../../../docs/${folder}`, import.meta.url))) {
      if (name.endsWith(".md")) files.push(`/docs/${folder}${name}`);
    }
  }
  assertEquals(listed.map(({ pathname }) => pathname).toSorted(), files.toSorted());
  for (const { origin, pathname } of listed) {
    assertEquals(origin, AUTH);
    const answer = await open(env, pathname);
    assertEquals([answer.status, answer.headers.get("content-type")], [200, "text/markdown; charset=UTF-8"]);
    assertMatch(await answer.text(), /^# /);
  }
  const tpp = await (await open(env, "/docs/tpp.md")).text();
  for (const address of [`${API}/BANK/par.oauth2/v1`, `${AUTH}/BANK/authorization.oauth2?client_id`]) {
    assertStringIncludes(tpp, address);
  }
  assertEquals(
    /localhost:844[0-2]|\{(base_url|auth_url|registration_audience|directory_host)\}/i.exec(tpp)?.[0],
    undefined,
  );
});

test("The stylesheet and the icon are what pages may load, and nothing else is there [W2]", async ({ env }) => {
  const types = {
    "/assets/platform.css": "text/css; charset=utf-8",
    "/assets/platform.svg": "image/svg+xml",
  };
  for (const [path, type] of Object.entries(types)) {
    const answer = await open(env, path);
    assertEquals([answer.status, answer.headers.get("content-type")], [200, type]);
    assertBrowserHeaders(answer, CACHED);
    const text = await answer.text();
    if (type !== "image/svg+xml") {
      for (const part of [".skip", ".card", ".decisions", ".findings"]) {
        assertStringIncludes(text, `\n${part} {`);
      }
      assertEquals(text.includes("http://"), false);
    }
  }
  for (const path of ["/assets/", "/assets/../deno.json", "/favicon.ico", "/metrics", "/robots.txt"]) {
    const answer = await open(env, path);
    assertEquals(answer.status, 404);
    await answer.body?.cancel();
  }
});

test("Public pages have no other methods than GET and HEAD [MD-N3] [AZ12]", async ({ env, t }) => {
  for (
    const path of [
      "/health/live",
      "/health/serving",
      "/health/ready",
      "/openapi.json",
      "/docs",
      "/docs/tpp",
      "/docs/reference/consents",
      "/docs/tpp.md",
      "/llms.txt",
      "/assets/platform.css",
    ]
  ) {
    for (const method of ["POST", "OPTIONS"]) {
      await t.step(`${method} ${path}`, async () => {
        const headers = { origin: "https://evil.example", "access-control-request-method": "GET" };
        const answer = await open(env, path, { method, headers });
        assertEquals([answer.status, answer.headers.get("allow")], [405, "GET, HEAD"]);
        assertBrowserHeaders(answer);
        await answer.body?.cancel();
      });
    }
  }
});

test("An answer names its request by the caller's UUID or a fresh one, never by other text [FAPI-G23]", async ({ env }) => {
  const named = async (sent: string): Promise<string> => {
    const headers = { "x-fapi-interaction-id": sent };
    const answer = await open(env, "/BANKA/authorization.oauth2", { headers });
    const id = answer.headers.get("x-fapi-interaction-id") ?? "";
    assertStringIncludes(await answer.text(), `<code dir="ltr">${id}</code>`);
    return id;
  };
  const uuid = "93bac548-d2de-4546-b106-880a5018460d";
  assertEquals(await named(uuid), uuid);
  for (const sent of ["", "4711", "<script>alert(1)</script>", `${uuid}0`]) {
    assertMatch(await named(sent), UUID);
  }
});

test("The browser host answers no API endpoint, and the API host no browser endpoint [A7] [FAPI-G2]", async ({ env }) => {
  for (const [name, host] of Object.entries(OPERATIONS)) {
    const [method = "", path = ""] = name.split(" ");
    const url = `https://x.example${path.replaceAll(/\{bank\}/g, "BANKA").replaceAll(/\{\w+\}/g, "1")}`;
    const request = new Request(url, { method: method.toUpperCase() });
    const answer = await (host === API ? env.browser(request) : env.api(request, env.tpp));
    assertEquals(answer.status, 404, name);
    await answer.body?.cancel();
  }
});

function operationsOf(document: OpenApi): [string, OpenApiOperation][] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map((
      [method, operation],
    ): [string, OpenApiOperation] => [`${method} ${path}`, operation])
  );
}

function referencesIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === "$ref" && typeof member === "string" ? [member] : referencesIn(member)
  );
}

function resolved(document: OpenApi, parameter: OpenApiParameter): OpenApiParameter {
  const reference = parameter.$ref;
  return reference === undefined
    ? parameter
    : present(document.components.parameters?.[reference.split("/").at(-1) ?? ""]);
}
