import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { readApiReference } from "../../src/ui/api_reference.ts";
import { renderDocsPage } from "../../src/ui/docs_page.tsx";
import { shapeOf } from "../../src/ui/schema_shape.ts";
import { errorEntries, referenceDocument } from "../support/ui_samples.ts";

const parts = { authUrl: "https://auth.example.com", errors: errorEntries() };
const none: ReadonlySet<string> = new Set();

Deno.test("renderDocsPage shows endpoints, parameters, nested members and errors", () => {
  const html = renderDocsPage(referenceDocument(), parts).replaceAll("<wbr>", "");
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
    ]
  ) assertStringIncludes(html, shown);
});

Deno.test("renderDocsPage links lead somewhere and anchors are unique", () => {
  const html = renderDocsPage(referenceDocument(), parts);
  const ids = [...html.matchAll(/\sid="([^"]+)"/g)].map(([, id = ""]) => id);
  assertEquals(ids.length, new Set(ids).size);
  for (const [, target = ""] of html.matchAll(/href="#([^"]+)"/g)) assert(ids.includes(target), target);
});

Deno.test("renderDocsPage needs no script, no inline style and no other host", () => {
  const html = renderDocsPage(referenceDocument(), parts);
  assert(!/<script|<style|\sstyle=|\son\w+=|\skey=/.test(html));
  assert(!/(src|href)="(https?:)?\/\//.test(html));
});

Deno.test("renderDocsPage escapes what the document says", () => {
  const hostile = '"><script>alert(1)</script>';
  const html = renderDocsPage({
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
  }, {
    authUrl: hostile,
    errors: [{ reason: hostile, surface: hostile, status: 400, code: hostile, words: hostile }],
  });
  assert(!html.includes("<script"));
  assert(!/="[^"]*"[^\s>\/]/.test(html));
});

Deno.test("renderDocsPage draws any JSON without failing", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (document) => {
      return renderDocsPage(document, parts).startsWith("<!DOCTYPE html>") &&
        renderDocsPage({
          paths: { "/a": { get: document, post: { parameters: [document], responses: document } } },
        }, parts)
          .endsWith("</html>");
    }),
    { numRuns: 30 },
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
