import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { readApiReference } from "../../src/portal/api_reference.ts";
import { openDocs } from "../../src/portal/docs_page.tsx";
import { search, searchable } from "../../src/portal/search.ts";
import { ERROR_HELP } from "../../src/platform/guards/http/error_help.ts";
import { errorPath } from "../../src/portal/paths.ts";
import { AUTH_URL, openEnvironment } from "testing/environment.ts";
import { shapeOf } from "../../src/portal/schema_shape.ts";
import { DIRECTORY_FACTS, errorEntries, referenceDocument } from "support/ui_samples.ts";

const parts = { authUrl: "https://auth.example.com", errors: errorEntries(), directory: DIRECTORY_FACTS };
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
      "&quot;Amount&quot;: &quot;19.90&quot;",
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
  ]);
  const defaults = ["8440", "8441", "8442", "8443", "8444"];
  for (const [api, auth] of [["https://api.example.com", "https://auth.example.com"], ["/", ""]] as const) {
    assertEquals(portsOf(page(api, auth)), defaults);
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
      // The sample has no back channel; the platform's own document is checked over HTTP.
      if (target === "/docs/reference/back-channel") continue;
      assert(ids.has(target), `${path} links to ${href}`);
      if (anchor !== undefined) assert(ids.get(target)?.has(anchor), `${path} links to ${href}`);
    }
  }
});

Deno.test("the documentation's pages need no script, no inline style and no other host [W3]", () => {
  for (const [path, html] of pagesOf(referenceDocument())) {
    assert(!/<script|<style|\sstyle=|\son\w+=|\skey=/.test(html), path);
    assert(!/(src|href|action)="(https?:)?\/\//.test(html), path);
  }
});

Deno.test("the documentation escapes what the document and the reader say", () => {
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
    errors: [{ reason: hostile, surface: hostile, status: 400, code: hostile, words: hostile }],
  };
  const found = openDocs(document, hostileParts).find(hostile);
  for (const html of [...pagesOf(document, hostileParts).values(), found]) {
    assert(!html.includes("<script"));
    assert(!/="[^"]*"[^\s>\/]/.test(html));
  }
});

Deno.test("the documentation draws any JSON without failing", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (document) => {
      const odd = {
        paths: { "/a": { get: document, post: { parameters: [document], responses: document } } },
      };
      return [...pagesOf(document).values(), ...pagesOf(odd).values()]
        .every((html) => html.startsWith("<!DOCTYPE html>") && html.endsWith("</html>"));
    }),
    { numRuns: 15 },
  );
});

Deno.test("a search finds guides, endpoints and errors that hold every word, titles first", () => {
  const find = (query: string): string[] => {
    const html = openDocs(referenceDocument(), parts).find(query);
    return [...html.matchAll(/<h2><a href="([^"]+)">/g)].map(([, href = ""]) => href);
  };
  assertEquals(find("dpop PROOF")[0], "/docs/signatures#dpop-proof");
  assert(find("domestic-payments post").includes("/docs/reference/payments#post-bank-domestic-payments-v1"));
  assert(find("dpop.invalid_proof").every((href) => href.startsWith("/docs/errors#")));
  assert(find("dpop.invalid_proof").length > 0);
  assertEquals(find("no such words anywhere"), []);
  assertEquals(find("   "), []);
  assert(find("a").length <= 30);
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

function pagesOf(document: unknown, beside: typeof parts = parts): Map<string, string> {
  const docs = openDocs(document, beside);
  return new Map(
    docs.paths.map((path) => {
      const html = docs.page(path) ?? "";
      assert(html !== "", path);
      return [path, html] as const;
    }),
  );
}

Deno.test("search shows where the first word is, in whole words", () => {
  const text = `${"before ".repeat(30)}needle ${"behind ".repeat(60)}`.trim();
  const [found, ...more] = search(searchable([{ href: "/x", title: "X", where: "Y", text }]), "needle");
  assertEquals(more, []);
  assertEquals(found?.excerpt, `… ${"before ".repeat(8)}needle ${"behind ".repeat(19)}…`);
  const [short] = search(
    searchable([{ href: "/x", title: "X", where: "Y", text: "a needle here" }]),
    "needle",
  );
  assertEquals(short?.excerpt, "a needle here");
});

Deno.test("each reason has its cause, expected value, example and remedy at the address that answers name [EB7]", async () => {
  await using env = await openEnvironment();
  const html = await (await env.browser(new Request(`${AUTH_URL}/docs/errors`))).text();
  for (const [reason, { cause, fix }] of Object.entries(ERROR_HELP)) {
    const id = errorPath(reason).split("#")[1];
    const section = html.split(`id="${id}"`)[1]?.split("</section>")[0]?.replaceAll("&#39;", "'") ?? "";
    for (const words of [cause, fix]) assert(section.includes(words), `${reason}: ${section}`);
  }
  const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  assertEquals(ids.length, new Set(ids).size, "an id twice");
});
