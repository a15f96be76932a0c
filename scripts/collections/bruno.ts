/** Writes the Bruno collection of a TPP's operations from the platform's OpenAPI document. */
import { LEFT_OUT, type Step, STEPS, VALUES } from "./steps.ts";

/** The parts of an OpenAPI document that the collection is made of. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly servers: readonly { readonly url: string }[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<Record<string, unknown>>;
}

interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
}

interface Schema {
  readonly $ref?: string;
  readonly enum?: readonly string[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly example?: unknown;
}

interface Place {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** A block of Bruno's format: a name, and lines. */
type Block = readonly [name: string, lines: readonly string[]];

/** Hosts of the document by the variable of the collection. */
export interface Hosts {
  readonly base_url: string;
  readonly auth_url: string;
}

/**
 * Returns the requests of the collection by their file names, in Bruno's format.
 *
 * A TPP's operations without a step are in the folder `more`, which is not part of the payment.
 *
 * @throws {Error} if a step has no operation
 */
export function brunoRequests(document: OpenApi, hosts: Hosts): Readonly<Record<string, string>> {
  const places = placesOf(document);
  const used = new Set(STEPS.map((step) => step === "customer" ? step : step.operation));
  const others = [...places.values()].map(({ operation }) => operation).filter(({ operationId, tags }) =>
    !used.has(operationId) && !tags.some((tag) => LEFT_OUT.includes(tag))
  );
  const file = (step: Step | "customer", seq?: number): [name: string, text: string] => {
    const [name, blocks] = step === "customer"
      ? customer()
      : request(document, hosts, placeOf(places, step), step);
    const order = seq === undefined ? [] : [`seq: ${seq}`];
    const text = [["meta", [`name: ${name}`, "type: http", ...order]] as const, ...blocks].map(written);
    return [
      seq === undefined ? `more/${name}.bru` : `payment/${String(seq).padStart(2, "0")} ${name}.bru`,
      text.join("\n"),
    ];
  };
  return Object.fromEntries([
    ...STEPS.map((step, index) => file(step, index + 1)),
    ...others.map(({ operationId }) => file({ operation: operationId })),
  ]);
}

function written([name, lines]: Block): string {
  return `${name} {\n${lines.map((line) => line === "" ? "\n" : `  ${line}\n`).join("")}}\n`;
}

function placesOf({ paths }: OpenApi): ReadonlyMap<string, Place> {
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).filter(([, { operationId }]) => operationId !== undefined)
        .map(([method, operation]) => [operation.operationId, { method, path, operation }] as const)
    ),
  );
}

function placeOf(places: ReadonlyMap<string, Place>, step: Step): Place {
  const place = places.get(step.operation);
  if (place === undefined) throw new Error(`the OpenAPI document has no operation ${step.operation}`);
  return place;
}

function request(
  document: OpenApi,
  hosts: Hosts,
  { method, path, operation }: Place,
  step: Step,
): [name: string, blocks: readonly Block[]] {
  const { parameters = [], servers, security, responses, summary, description } = operation;
  const host = Object.entries(hosts).find(([, url]) => url === servers[0]?.url)?.[0];
  if (host === undefined) throw new Error(`${operation.operationId} is on a host without a variable`);
  const needed = parameters.filter(({ required }) => required);
  const isSent = (one: Parameter): boolean =>
    one.required === true || step.query?.includes(one.name) === true;
  const query = parameters.filter((one) => one.in === "query" && isSent(one))
    .map(({ name }) => `${name}=${valueOf(name)}`);
  const url = `{{${host}}}${path.replaceAll(/\{(\w+)\}/g, (_, name) => valueOf(name))}`;
  const [mode, body] = bodyOf(document, operation, step);
  const isProtected = security.some((one) => Object.keys(one).some((scheme) => scheme.startsWith("DPoP")));
  const headers = [
    ...(isProtected ? [`authorization: DPoP {{${step.token ?? "own_token"}}}`] : []),
    ...needed.filter((one) => one.in === "header").map(({ name }) => `${name}: ${valueOf(name)}`),
    ...(mode === "text" ? [`content-type: ${Object.keys(operation.requestBody?.content ?? {})[0]}`] : []),
  ];
  const statuses = step.statuses ?? Object.keys(responses).filter((status) => status.startsWith("2"));
  return [step.name ?? operation.operationId, [
    [method, [
      `url: ${[url, query.join("&")].filter((part) => part !== "").join("?")}`,
      `body: ${mode}`,
      "auth: none",
    ]],
    ...blockIfAny("headers", headers),
    ...(body === undefined ? [] : [body]),
    ...blockIfAny(
      "vars:post-response",
      Object.entries(step.keep ?? {}).map(([name, part]) => `${name}: ${part}`),
    ),
    ["assert", [`res.status: in [${statuses.join(", ")}]`]],
    ["docs", [`${summary}.`, ...(description === undefined ? [] : [description])]],
  ]];
}

function blockIfAny(name: string, lines: readonly string[]): readonly Block[] {
  return lines.length > 0 ? [[name, lines]] : [];
}

function valueOf(name: string): string {
  return VALUES[name] ?? `{{${name.replaceAll(/[^A-Za-z0-9_]/g, "_")}}}`;
}

function bodyOf(
  document: OpenApi,
  { operationId, requestBody }: Operation,
  step: Step,
): [mode: string, block?: Block] {
  const [[type, { schema }] = ["none", { schema: {} }]] = Object.entries(requestBody?.content ?? {});
  if (type === "none") return ["none"];
  if (type === "application/jose") return ["text", ["body:text", ["made by signing.js"]]];
  const name = step.schema ?? schema.$ref?.split("/").at(-1) ?? "";
  const named = document.components.schemas[name];
  if (named === undefined) throw new Error(`${operationId}: name one of the body's schemas in steps.ts`);
  if (type === "application/json") return ["json", ["body:json", jsonLines(named)]];
  const { properties = {}, required = [] } = named;
  const names = Object.keys(properties).filter((field) => required.includes(field) || field === "state");
  const fields = names.map((field) =>
    `${field}: ${VALUES[field] ?? properties[field]?.enum?.[0] ?? valueOf(field)}`
  );
  return ["formUrlEncoded", ["body:form-urlencoded", fields]];
}

/** The schema's example, with the collection's variables in place of what an earlier request has returned. */
function jsonLines({ example = {} }: Schema): readonly string[] {
  return JSON.stringify(example, (name, value) => VALUES[name] ?? value, 2).split("\n");
}

/** The customer of the sandbox, who is no operation of the platform. */
function customer(): [name: string, blocks: readonly Block[]] {
  const asked = {
    bank: "{{bank}}",
    client_id: "{{client_id}}",
    request_uri: "{{request_uri}}",
    outcome: "approve",
  };
  return ["Let the sandbox's customer approve", [
    ["post", ["url: {{banks_url}}/authorizations", "body: json", "auth: none"]],
    ["body:json", JSON.stringify(asked, null, 2).split("\n")],
    ["vars:post-response", ["code: res.body.parameters.code"]],
    ["assert", [
      "res.status: eq 200",
      "res.body.parameters.state: eq {{state}}",
      "res.body.parameters.iss: eq {{auth_url}}/{{bank}}",
    ]],
    ["docs", [
      "In a sandbox alone, a customer needs no browser. Elsewhere open {{auth_url}}/{{bank}}/authorization.oauth2",
      "with client_id and request_uri in a browser, check state and iss of the redirect, and set the variable code.",
    ]],
  ]];
}
