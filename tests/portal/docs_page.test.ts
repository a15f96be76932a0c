import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { readApiReference } from "../../src/portal/api_reference.ts";
import { openDocs } from "../../src/portal/docs_page.tsx";
import { openSearch } from "../../src/portal/search.ts";
import { ERROR_HELP } from "../../src/platform/guards/http/error_help.ts";
import { errorPath, SCRIPT_PATH } from "../../src/portal/paths.ts";
import { AUTH_URL, openEnvironment } from "testing/environment.ts";
import { shapeOf } from "../../src/portal/schema_shape.ts";
import { errorCatalogue } from "../../src/platform/process/public_pages.ts";
import { DIRECTORY_FACTS, referenceDocument } from "support/ui_samples.ts";

const parts = { authUrl: "https://auth.example.com", errors: errorCatalogue(), directory: DIRECTORY_FACTS };
const none: ReadonlySet<string> = new Set();

Deno.test("the documentation shows endpoints, parameters, nested members, errors and guides", () => {
  const html = [...pagesOf(referenceDocument()).values()].join("").replaceAll("<wbr>", "");
  for (
    const shown of [
      "/{bank}/domestic-payment-consents/v1",
      "x-idempotency-key",
      "CompletionDateTime",
      "InstructedAmount",
      "1 to 35 characters",
      "ContactlessTravel",
      "UK.OBIE.Signature.InvalidClaim",
      "resource.consent_mismatch",
      "https://auth.example.com/jwks",
      "&quot;Amount&quot;",
      "https://api.example.com/BANK/par.oauth2/v1",
      "<code>directory.example.com</code>",
      "https://directory.example.com/ca.pem",
      "https://directory.example.com/registration",
    ]
  ) assertStringIncludes(html, shown);
});

Deno.test("the sandbox's page names the ports of the sandbox that serves it, elsewhere those of the defaults", () => {
  const page = (baseUrl: string, authUrl: string): string =>
    openDocs(
      { ...Object(referenceDocument()), servers: [{ url: baseUrl }] },
      { ...parts, authUrl },
    ).page("/docs/sandbox") ?? "";
  const portsOf = (html: string): readonly string[] =>
    [...new Set([...html.matchAll(/localhost:(\d+)/g)].map(([, port = ""]) => port))].sort();
  assertEquals(portsOf(page("https://localhost:9440", "http://localhost:9441")), [
    "9440",
    "9441",
    "9442",
    "9443",
    "9444",
    "9445",
  ]);
  const defaults = ["8440", "8441", "8442", "8443", "8444", "8445"];
  for (const [api, auth] of [["https://api.example.com", "https://auth.example.com"], ["/", ""]] as const) {
    assertEquals(portsOf(page(api, auth)), defaults);
  }
});

Deno.test("the reference shows what the platform sends, with the parts of its JWTs", async () => {
  await using env = await openEnvironment();
  const document = await (await env.browser(new Request(`${AUTH_URL}/openapi.json`))).json();
  const sent = readApiReference(document).groups.flatMap(({ endpoints }) => endpoints).filter((one) =>
    one.isSent
  );
  assertEquals(sent.map(({ path }) => path).toSorted(), [
    "customerHandover",
    "event",
    "orderInquiry",
    "paymentOrder",
  ]);
  const html = [...pagesOf(document).values()].join("").replaceAll("<wbr>", "");
  const [, order = ""] = html.split('id="post-paymentorder"');
  for (const shown of ["sent by the platform", "header", "claims", "read_refund_account", "a compact JWS"]) {
    assertStringIncludes(order.split("</article>")[0] ?? "", shown);
  }
});

Deno.test("the documentation's links lead somewhere and its anchors are unique", () => {
  const pages = pagesOf(referenceDocument());
  const ids = new Map([...pages].map(([path, html]) => {
    const all = [...html.matchAll(/\sid="([^"]+)"/g)].map(([, id = ""]) => id);
    assertEquals(all.length, new Set(all).size, path);
    return [path, new Set(all)] as const;
  }));
  for (const [path, html] of pages) {
    for (const [, href = ""] of html.matchAll(/<a [^>]*href="([^"]+)"/g)) {
      const [page = "", anchor] = href.split("#");
      const target = page === "" ? path : page;
      if (/^https?:|^\/(service-levels|receipt)$|\.md$|^\/docs\/examples\//.test(target)) continue; // over HTTP
      assert(ids.has(target), `${path} links to ${href}`);
      if (anchor !== undefined) assert(ids.get(target)?.has(anchor), `${path} links to ${href}`);
    }
  }
});

Deno.test("with an address of the repository, pages and files outside of docs are linked to there", () => {
  const repositoryUrl = "https://code.example.com/platform/blob/v1/";
  const page = (more: object): string =>
    openDocs(referenceDocument(), { ...parts, ...more }).page("/docs/tpp") ?? "";
  const linked = page({ repositoryUrl });
  for (const href of ["docs/tpp.md", "README.md#a-payment-in-five-minutes", "examples/first_payment.py"]) {
    assertStringIncludes(linked, `<a href="${repositoryUrl}${href}">`);
  }
  assertStringIncludes(linked, '<a href="/docs/signatures#dpop-proof">');
  assert(!page({}).includes("code.example.com") && !page({}).includes("Edit this page"));
  assertStringIncludes(page({}), '<a href="/docs/examples/first_payment.py">');
});

Deno.test("the documentation's pages load their own script alone, no inline style and nothing of another host [W3]", () => {
  for (const [path, html] of pagesOf(referenceDocument())) {
    const [markup = "", ...scripts] = html.split("<script ");
    assertEquals(scripts.map((script) => script.split(">")[0]), [`src="${SCRIPT_PATH}" defer`], path);
    const withoutCode = `${markup}${scripts.join("")}`.replaceAll(/<code>.*?<\/code>/gs, "");
    assert(!/<style|\sstyle=|\son\w+=|\skey=/.test(withoutCode), path);
    assert(!/(src|action)="(https?:)?\/\/|<link [^>]*href="(https?:)?\/\//.test(withoutCode), path);
  }
});

Deno.test("the documentation escapes what the document and the reader say", async () => {
  const hostile = '"><script>alert(1)</script>';
  const document = {
    info: { title: hostile, version: hostile, description: hostile },
    servers: [{ url: hostile, description: hostile }],
    paths: {
      [hostile]: {
        get: {
          tags: [hostile],
          summary: hostile,
          parameters: [{ name: hostile, in: hostile, schema: { type: hostile, pattern: hostile } }],
          responses: { [hostile]: { description: hostile } },
        },
      },
    },
  };
  const hostileParts = {
    authUrl: hostile,
    directory: { ...DIRECTORY_FACTS, registrationAudience: hostile },
    errors: [{
      reason: hostile,
      cause: hostile,
      expected: hostile,
      example: hostile,
      fix: hostile,
      answers: [{ surface: hostile, status: 400, code: hostile, words: hostile }],
    }],
  };
  const found = await openDocs(document, hostileParts).find(hostile);
  for (const html of [...pagesOf(document, hostileParts).values(), found]) {
    assertEquals(html.split("<script").length, 2); // the portal's own
    assertEquals(/<[a-z][^>]*="[^"]*"[^\s>\/].{0,40}/.exec(html)?.[0], undefined);
  }
});

Deno.test("the documentation draws any JSON without failing", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (document) => {
      const odd = {
        paths: { "/a": { get: document, post: { parameters: [document], responses: document } } },
      };
      return [...pagesOf(document, parts, ofReference).values(), ...pagesOf(odd, parts, ofReference).values()]
        .every((html) => html.startsWith("<!DOCTYPE html>") && html.endsWith("</html>"));
    }),
    { numRuns: 15 },
  );
});

/** What developers ask in the public trackers of open banking hubs, and where the answer is. */
const QUESTIONS: Readonly<Record<string, string>> = {
  "why was my assertion rejected": "/docs/signatures#client-assertion|client-",
  "invalid_client": "client-|/docs/tpp#errors",
  "status list": "directory|certificate|/docs/clocks|/docs/tpp#limits",
  "how to rotate keys": "/docs/tpp#when-something-of-yours-changes",
  "renew certificate": "/docs/tpp#when-something-of-yours-changes",
  "webhook": "/docs/tpp#pushed-events-webhooks",
  "webhooks retry": "/docs/tpp#pushed-events-webhooks",
  "subscribe to notifications": "/docs/tpp#pushed-events-webhooks",
  "refund account": "/docs/tpp#create-a-consent|/docs/decisions/c-consents-and-payments#c9",
  "DPoP nonce": "/docs/signatures#dpop-proof",
  "htu mismatch": "/docs/signatures#dpop-proof|dpop-",
  "idempotency key": "/docs/tpp#lost-responses|idempotency",
  "idempotency key reused with different body": "idempotency|/docs/tpp#lost-responses",
  "invalid_dpop_proof": "dpop-|/docs/tpp#errors",
  "certificate bound token": "certificate|token|/docs/tpp#get-a-token-of-your-own",
  "mtls handshake failed":
    "/docs/tpp#if-the-tls-handshake-fails|/docs/tpp#get-a-token-of-your-own|certificate-missing",
  "request_uri expired": "/docs/tpp#push-the-authorization-request|/docs/tpp#send-the-customer|request-uri",
  "pkce code_verifier": "pkce|code|/docs/tpp#exchange-the-code|oauth-",
  "x-jws-signature invalid": "signature",
  "b64 false crit": "/docs/signatures#x-jws-signature-profile-a",
  "detached jws signature": "/docs/signatures#x-jws-signature-profile-a",
  "tan claim": "/docs/signatures#x-jws-signature-profile-a|signature",
  "software statement expired": "/docs/tpp#when-something-of-yours-changes|statement|/docs/tpp#events",
  "change redirect uri": "/docs/tpp#when-something-of-yours-changes|redirect",
  "dynamic client registration": "/docs/tpp#register-your-software|registration",
  "consent expired": "consent|/docs/tpp#limits|/docs/tpp#events",
  "consent status AwaitingAuthorisation": "consent",
  "payment status pending how long": "/docs/tpp#payment-statuses",
  "what does AcceptedSettlementInProcess mean": "/docs/tpp#payment-statuses",
  "rate limit 429": "/docs/tpp#limits|/docs/tpp#errors|/docs/tpp#lists|limit",
  "Retry-After": "/docs/tpp#errors|/docs/tpp#lists|retry|busy|unavailable|limit",
  "timeout on payment POST": "/docs/tpp#lost-responses",
  "access token lifetime": "/docs/tpp#limits|/docs/tpp#get-a-token-of-your-own|token",
  "insufficient funds": "/docs/tpp#send-the-customer|/docs/bank#return-the-customer|funds",
  "funds confirmation": "funds",
  "test user credentials sandbox": "/docs/sandbox#banks-and-customers|/docs/sandbox",
  "simulate failed payment": "/docs/sandbox#make-it-go-wrong",
  "postman collection": "/docs/tpp#requests-in-postman|/docs/sandbox#bring-your-own",
  "client library sdk": "/docs/client|/docs/tpp#client-library",
  "certificaton of a bank": "/docs/bank#certification", // mistyped
  "idempotancy": "idempotency|/docs/tpp#lost-responses", // mistyped
  "push payment orders to the bank": "/docs/bank#take-payment-orders|/docs/bank#pushed",
  "order inquiry after restore": "/docs/bank#after-a-restore-of-the-platform",
  "oAuthUrl decrypt": "/docs/bank#receive-the-customer|handover",
  "receipt for customer": "receipt|/docs/tpp#payment-statuses",
  "x-fapi-interaction-id trace": "trace|/docs/tpp#errors",
  // What a new developer asks first, with the portal's address alone.
  "getting started": "/docs/client",
  "quickstart": "/docs/client",
  "npm install": "/docs/client#a-payment",
  "self signed certificate in certificate chain": "/docs/tpp#if-the-tls-handshake-fails",
  "ECONNRESET socket hang up": "/docs/tpp#if-the-tls-handshake-fails",
  "which scopes are there": "/docs/tpp#get-a-token-of-your-own",
  "refresh token": "/docs/tpp#get-a-token-of-your-own",
  "recurring payments": "/docs/tpp#what-is-supported",
  "cancel a payment": "/docs/tpp#what-is-supported",
  "refund a payment": "/docs/tpp#what-is-supported|/docs/tpp#create-a-consent",
  "which currencies are supported": "/docs/tpp#what-is-supported|/docs/contract/consents#rules",
  "jwks url": "/docs#addresses",
  "swagger": "/docs#addresses",
  "list of banks": "/docs#addresses",
  "go live production": "/docs/tpp#go-live",
  "iat in the future": "/docs/signatures#client-assertion",
  "ip whitelist": "/docs/bank#pushed",
  "order already executed": "/docs/bank#take-payment-orders",
  "mobile app": "/docs/bank#a-customer-who-confirms-elsewhere",
  "generate csr": "/docs/tpp#become-a-participant",
  "UK.OBIE.Field.Invalid": "/docs/errors#resource-invalid-fields",
  "iframe popup": "/docs/tpp#send-the-customer",
  "python example": "/docs/sandbox#bring-your-own|/docs/tpp#client-library",
  "versioning": "/docs/contract/errors#versions",
};

Deno.test("what developers ask is found in the first three results [W4]", async () => {
  await using env = await openEnvironment();
  const places = async (question: string): Promise<string[]> => {
    const html = await (await env.browser(new Request(`${AUTH_URL}/docs?q=${encodeURIComponent(question)}`)))
      .text();
    return [...html.matchAll(/<h2><a href="([^"]+)">/g)].map(([, href = ""]) => href);
  };
  const missed = [];
  for (const [question, expected] of Object.entries(QUESTIONS)) {
    const first = (await places(question)).slice(0, 3);
    const isFound = first.some((href) =>
      expected.split("|").some((part) => part.startsWith("/") ? href === part : href.includes(part))
    );
    if (!isFound) missed.push(`${question}: ${first.join(", ")}`);
  }
  assert(Object.keys(QUESTIONS).length >= 40);
  assertEquals(missed, []);
  assertEquals(await places("xyzzy plugh"), []);
  assertEquals(await places("   "), []);
  assertEquals(await places("what is the"), []);
  assert((await places("constructor consent")).length > 0, "a name of every object fails");
  assert((await places("a payment")).length <= 20);
});

Deno.test("shapeOf resolves references, allOf and constraints", () => {
  const document = {
    components: {
      schemas: {
        Amount: { type: "string", pattern: "^\\d+$", description: "Money" },
        Node: { type: "object", properties: { next: { $ref: "#/components/schemas/Node" } } },
      },
    },
  };
  const deps = { document, shared: none };
  const amount = shapeOf(deps, {
    allOf: [{ $ref: "#/components/schemas/Amount" }, { description: "What is paid" }],
    maxLength: 16,
  });
  assertEquals(amount, {
    type: "string",
    rules: ["at most 16 characters", "pattern `^\\d+$`"],
    description: "What is paid",
    fields: [],
    items: undefined,
    alternatives: [],
  });
  assertEquals(shapeOf(deps, { type: ["array", "null"], minItems: 1, items: { const: 3 } }).rules, [
    "at least 1 element",
  ]);
  assert(JSON.stringify(shapeOf(deps, { $ref: "#/components/schemas/Node" })).length < 5000); // ends
  assertEquals(
    shapeOf({ document, shared: new Set(["Node"]) }, { $ref: "#/components/schemas/Node" }).link,
    "Node",
  );
});

Deno.test("readApiReference describes a schema once where several places use it", () => {
  const schema = { $ref: "#/components/schemas/Thing" };
  const answer = { 200: { description: "ok", content: { "application/json": { schema } } } };
  const reference = readApiReference({
    openapi: "3.1.0",
    tags: [{ name: "B", description: "second" }, { name: "A" }],
    components: {
      schemas: { Thing: { type: "object", properties: { id: { type: "string" } }, required: ["id"] } },
    },
    paths: {
      "/a": { get: { tags: ["A"], summary: "one", responses: answer } },
      "/b": { get: { tags: ["B"], responses: answer }, post: { responses: answer } },
    },
  });
  assertEquals(reference.groups.map(({ name, endpoints }) => [name, endpoints.map(({ title }) => title)]), [
    ["B", ["GET /b"]],
    ["A", ["one"]],
    ["Other", ["POST /b"]],
  ]);
  assertEquals(reference.types.map(({ name, shape }) => [name, shape.fields.map((field) => field.name)]), [
    ["Thing", ["id"]],
  ]);
  assertEquals([...reference.commonAnswers.values()].map(({ id }) => id), ["answer-200"]);
});

function ofReference(path: string): boolean {
  return path === "/docs" || path.startsWith("/docs/reference");
}

function pagesOf(
  document: unknown,
  beside = parts,
  shown = (_path: string): boolean => true,
): Map<string, string> {
  const docs = openDocs(document, beside);
  return new Map(
    docs.paths.filter(shown).map((path) => {
      const html = docs.page(path) ?? "";
      assert(html !== "", path);
      return [path, html] as const;
    }),
  );
}

Deno.test("search shows where the first word is, in whole words", async () => {
  const excerpt = async (text: string): Promise<string | undefined> => {
    const search = await openSearch([() => [{ href: "/x", title: "X", where: "Y", text, weight: 1 }]]);
    const [found, ...more] = search("needle");
    assertEquals(more, []);
    return found?.excerpt;
  };
  assertEquals(
    await excerpt(`${"before ".repeat(30)}needle ${"behind ".repeat(60)}`),
    `… ${"before ".repeat(8)}needle ${"behind ".repeat(19)}…`,
  );
  assertEquals(await excerpt("a needle here"), "a needle here");
});

Deno.test("each reason has its cause, expected value, example and remedy at the address that answers name [EB7]", async () => {
  await using env = await openEnvironment();
  const html = await (await env.browser(new Request(`${AUTH_URL}/docs/errors`))).text();
  for (const [reason, { cause, fix }] of Object.entries(ERROR_HELP)) {
    const id = errorPath(reason).split("#")[1];
    const section = html.split(`id="${id}"`)[1]?.split("</article>")[0]?.replaceAll("&#39;", "'") ?? "";
    for (const words of [cause, fix]) assert(section.includes(words), `${reason}: ${section}`);
  }
  const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  assertEquals(ids.length, new Set(ids).size, "an id twice");
});

Deno.test("a search after the preparation of the index does not wait for it", async () => {
  const isDoneAtOnce = async (found: Promise<string>): Promise<boolean> => {
    const turn = Promise.withResolvers<boolean>();
    setTimeout(() => turn.resolve(false), 0);
    const isFirst = await Promise.race([found.then(() => true), turn.promise]);
    await Promise.all([found, turn.promise]);
    return isFirst;
  };
  const [prepared, unprepared] = [
    openDocs(referenceDocument(), parts),
    openDocs(referenceDocument(), parts),
  ];
  await prepared.prepare();
  assertEquals(await isDoneAtOnce(prepared.find("consent")), true);
  assertEquals(await isDoneAtOnce(unprepared.find("consent")), false);
});
