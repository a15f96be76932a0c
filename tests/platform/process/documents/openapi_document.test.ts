/**
 * What generators, gateways and linters rely on in `/openapi.json`: all of its form, beside `openapi_outline.txt`, and
 * rules that every operation and field follows.
 */
import { assert, assertEquals } from "@std/assert";
import { type OpenApi, type OpenApiOperation, type OpenApiSchema, present } from "testing/answers.ts";
import { good } from "testing/flows.ts";
import { AUTH_URL, openEnvironment } from "testing/environment.ts";
import { outlineOf } from "testing/openapi_outline.ts";

async function readDocument(): Promise<OpenApi> {
  await using env = await openEnvironment();
  return await good<OpenApi>(env.browser(new Request(`${AUTH_URL}/openapi.json`)), 200);
}

/** Of the operations API. */
async function readOperations(): Promise<OpenApi> {
  await using env = await openEnvironment();
  return await good<OpenApi>(env.asOperator("/operations/openapi.json"), 200);
}

function operationsOf(document: Pick<OpenApi, "paths">): [string, OpenApiOperation][] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map((
      [method, operation],
    ): [string, OpenApiOperation] => [`${method} ${path}`, operation])
  );
}

/** Compares all of a document's form with a file beside this one, which `WRITE_OUTLINE=1` writes. */
async function assertOutline(document: OpenApi, file: string): Promise<void> {
  const outline = new URL(file, import.meta.url);
  const found = outlineOf(document);
  if (Deno.env.has("WRITE_OUTLINE")) await Deno.writeTextFile(outline, `${found.join("\n")}\n`);
  const expected = (await Deno.readTextFile(outline)).split("\n").filter((line) => line !== "");
  assertEquals(found.filter((line) => !expected.includes(line)), [], `lines that ${file} lacks`);
  assertEquals(found, expected, `lines of ${file} that are gone, or stand elsewhere`);
}

Deno.test("GET /openapi.json: each operation, parameter, answer and field is as the outline says [A7, HO1]", async () => {
  await assertOutline(await readDocument(), "openapi_outline.txt");
});

Deno.test("GET /operations/openapi.json: each operation, parameter, answer and field is as the outline says [OP2]", async () => {
  await assertOutline(await readOperations(), "operations_outline.txt");
});

Deno.test("GET /openapi.json: every operation has the answers that every address can give [C3]", async () => {
  for (const [name, { responses }] of operationsOf(await readDocument())) {
    const statuses = Object.keys(responses);
    const expected = name.includes("-") && name.includes("{bank}") && !name.includes(".well-known")
      ? ["400", "401", "403", "404", "405", "406", "429", "500", "503"] // resources
      : ["405", "500"];
    assertEquals(expected.filter((status) => !statuses.includes(status)), [], name);
    assert(statuses.some((status) => /^2|^303$/.test(status)), name);
  }
});

/** Every operation has words, a group and its path's parameters. */
function assertDescribed({ paths, components }: OpenApi): void {
  for (const [name, operation] of operationsOf({ paths })) {
    const { summary, description, tags = [], parameters = [] } = operation;
    assert(summary && description && tags.length === 1, name);
    const inPath = [...name.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
    const declared = parameters.map((one) =>
      one.$ref === undefined ? one : present(components.parameters[one.$ref.split("/").at(-1) ?? ""])
    );
    assertEquals(
      declared.filter((one) => one.in === "path").map((one) => one.name).toSorted(),
      inPath.toSorted(),
      name,
    );
  }
}

Deno.test("GET /openapi.json: every operation has words, a group and its path's parameters [A7]", async () => {
  assertDescribed(await readDocument());
});

Deno.test("GET /operations/openapi.json: every operation has words, an operator's token and every answer it can give [OP2]", async () => {
  const document = await readOperations();
  assertDescribed(document);
  const operations = operationsOf(document);
  for (const [name, { security, responses, requestBody, operationId }] of operations) {
    assertEquals(security, [{ Operator: [] }], name);
    const isJson = JSON.stringify(requestBody ?? {}).includes("application/json");
    const ofBody = requestBody === undefined ? [] : ["400", "413", ...isJson ? ["415"] : []];
    const expected = ["401", "403", "405", "429", "500", "503", ...ofBody];
    assertEquals(expected.filter((status) => !(status in responses)), [], name);
    assert(Object.keys(responses).some((status) => /^20[0124]$/.test(status)), name);
    assert(
      Object.keys(responses).every((status) => /^(20[0124]|40[013459]|41[35]|429|500|503)$/.test(status)),
      name,
    );
    assert(/^[a-z][A-Za-z]+$/.test(operationId), name);
  }
  assertEquals(new Set(operations.map(([, { operationId }]) => operationId)).size, operations.length);
});

Deno.test("GET /openapi.json: a name is described as one, and the fields of a payment's answer not as never answered", async () => {
  const { components: { schemas } } = await readDocument();
  assertEquals(JSON.stringify(schemas).includes("Never answered"), false);
  assertEquals(JSON.stringify(schemas).includes("Has a letter or digit that can be seen"), true, "names");
  const payment = present(schemas["PaymentInitiation"]?.properties);
  assert("CreditorPostalAddress" in payment && "SupplementaryData" in payment);
  const consent = present(schemas["CreatedConsentInitiation"]?.properties);
  assert(!("CreditorPostalAddress" in consent) && !("SupplementaryData" in consent));
});

Deno.test("GET /openapi.json: every text of a request has its length and its characters", async () => {
  const { components: { schemas } } = await readDocument();
  const loose: string[] = [];
  const visit = (schema: OpenApiSchema, path: string): void => {
    const { type, properties = {}, items, $ref } = schema;
    if ($ref !== undefined) return visit(present(schemas[$ref.split("/").at(-1) ?? ""]), path);
    const bounded = ["pattern", "enum", "const", "format"].some((rule) => rule in schema);
    if ([type].flat().includes("string") && !bounded && !path.endsWith("SchemeName")) loose.push(path);
    for (const [name, member] of Object.entries(properties)) visit(member, `${path}.${name}`);
    for (const part of [...schema["allOf"] ?? [], ...schema["anyOf"] ?? []]) visit(part, path);
    if (items !== undefined) visit(items, `${path}[]`);
  };
  const requests = ["DomesticPaymentConsentRequest", "DomesticPaymentRequest", "PayerAccountsUpdate"];
  for (const name of [...requests, "PaymentStatusReport"]) visit(present(schemas[name]), name);
  assertEquals(loose, []);
});
