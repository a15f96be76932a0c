import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { readApiReference } from "../../src/portal/api_reference.ts";
import { openDocs } from "../../src/portal/docs_page.tsx";
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

Deno.test("away from a sandbox the commands of the guides are those of the package, which needs no repository", () => {
  const commandsAt = (url: string, authUrl: string, page: string): readonly string[] => {
    const docs = openDocs({ ...Object(referenceDocument()), servers: [{ url }] }, { ...parts, authUrl });
    const text = docs.text(`/docs/${page}.md`) ?? docs.page(`/docs/${page}`) ?? "";
    return [
      ...new Set([...text.matchAll(/(?:npx -y deno@[\d.]+|deno) task (\w+)/g)].map(([, name = ""]) => name)),
    ];
  };
  for (const page of ["tpp", "bank", "signatures", "reference/consents"]) {
    const [here, elsewhere] = [
      commandsAt("https://localhost:9440", "http://localhost:9441", page),
      commandsAt("https://api.example.com", "https://auth.example.com", page),
    ];
    assertEquals(elsewhere, page === "tpp" ? ["collections"] : [], page);
    assert(here.includes(page.includes("/") ? "sign" : "inspect"), page);
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
      if (/^https?:|^\/(service-levels|receipt|llms\.txt)$|\.md$|^\/docs\/examples\//.test(target)) continue; // over HTTP
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
  const [prepared, unprepared] = [openDocs(referenceDocument(), parts), openDocs(referenceDocument(), parts)];
  await prepared.prepare();
  assertEquals(await isDoneAtOnce(prepared.find("consent")), true);
  assertEquals(await isDoneAtOnce(unprepared.find("consent")), false);
});
