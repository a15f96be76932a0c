/** The requests of the collections, from the platform's OpenAPI document, before they have the format of a program. */
import { LEFT_OUT, type Step, STEPS, VALUES } from "./steps.ts";

/** The parts of an OpenAPI document that the collections are made of. */
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

/** Hosts of the document by the variable of the collection. */
export interface Hosts {
  readonly base_url: string;
  readonly auth_url: string;
}

/** The body of a request. `jose` is replaced by a JWT. */
export type Body =
  | { readonly kind: "none" | "jose" }
  | { readonly kind: "json"; readonly value: unknown }
  | { readonly kind: "form"; readonly fields: Readonly<Record<string, string>> };

/** A request. Its texts contain variables as `{{name}}`. */
export interface CollectionRequest {
  /** Place in the payment, from 1. Absent if the request is not part of the payment. */
  readonly seq?: number;
  readonly name: string;
  readonly method: string;
  readonly url: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
  /** Variables that later requests need, by the part of the response that they are taken from. */
  readonly keep: Readonly<Record<string, string>>;
  readonly statuses: readonly number[];
  /** Parts of the response and their required values. */
  readonly expected: Readonly<Record<string, string>>;
  readonly docs: readonly string[];
}

/**
 * Returns the requests of a payment, and a TPP's other operations behind them.
 *
 * @throws {Error} if a step has no operation
 */
export function collectionRequests(document: OpenApi, hosts: Hosts): readonly CollectionRequest[] {
  const places = placesOf(document);
  const used = new Set(STEPS.map((step) => step === "customer" ? step : step.operation));
  const others = [...places.values()].filter(({ operation: { operationId, tags } }) =>
    !used.has(operationId) && !tags.some((tag) => LEFT_OUT.includes(tag))
  );
  const steps = STEPS.map((step) =>
    step === "customer" ? CUSTOMER : request(document, hosts, findOperation(places, step), step)
  );
  return [
    ...steps.map((step, index) => ({ seq: index + 1, ...step })),
    ...others.map((place) => request(document, hosts, place, { operation: place.operation.operationId })),
  ];
}

function placesOf({ paths }: OpenApi): ReadonlyMap<string, Place> {
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).filter(([, { operationId }]) => operationId !== undefined)
        .map(([method, operation]) => [operation.operationId, { method, path, operation }] as const)
    ),
  );
}

function findOperation(places: ReadonlyMap<string, Place>, step: Step): Place {
  const place = places.get(step.operation);
  if (place === undefined) throw new Error(`the OpenAPI document has no operation ${step.operation}`);
  return place;
}

function request(
  document: OpenApi,
  hosts: Hosts,
  { method, path, operation }: Place,
  step: Step,
): CollectionRequest {
  const { parameters = [], servers, responses, summary, description } = operation;
  const host = Object.entries(hosts).find(([, url]) => url === servers[0]?.url)?.[0];
  if (host === undefined) throw new Error(`${operation.operationId} is on a host without a variable`);
  const isSent = (one: Parameter): boolean =>
    one.required === true || step.query?.includes(one.name) === true;
  const successes = Object.keys(responses).filter((status) => status.startsWith("2")).map(Number);
  return {
    name: step.name ?? operation.operationId,
    method,
    url: `{{${host}}}${path.replaceAll(/\{(\w+)\}/g, (_, name) => exampleValue(name))}`,
    query: parameters.filter((one) => one.in === "query" && isSent(one))
      .map(({ name }) => [name, exampleValue(name)]),
    headers: headersOf(operation, step),
    body: bodyOf(document, operation, step),
    keep: step.keep ?? {},
    statuses: step.statuses ?? successes,
    expected: {},
    docs: [`${summary}.`, ...(description === undefined ? [] : [description])],
  };
}

function headersOf(
  { parameters = [], security, requestBody }: Operation,
  step: Step,
): Readonly<Record<string, string>> {
  const isProtected = security.some((one) => Object.keys(one).some((scheme) => scheme.startsWith("DPoP")));
  const needed = parameters.filter((one) => one.in === "header" && one.required === true);
  const jose = Object.keys(requestBody?.content ?? {}).filter((type) => type === "application/jose");
  return {
    ...(isProtected ? { authorization: `DPoP {{${step.token ?? "own_token"}}}` } : {}),
    ...Object.fromEntries(needed.map(({ name }) => [name.toLowerCase(), exampleValue(name.toLowerCase())])),
    ...Object.fromEntries(jose.map((type) => ["content-type", type])),
  };
}

function exampleValue(name: string): string {
  return VALUES[name] ?? `{{${name.replaceAll(/[^A-Za-z0-9_]/g, "_")}}}`;
}

function bodyOf(document: OpenApi, { operationId, requestBody }: Operation, step: Step): Body {
  const [[type, { schema }] = ["none", { schema: {} }]] = Object.entries(requestBody?.content ?? {});
  if (type === "none") return { kind: "none" };
  if (type === "application/jose") return { kind: "jose" };
  const name = step.schema ?? schema.$ref?.split("/").at(-1) ?? "";
  const named = document.components.schemas[name];
  if (named === undefined) throw new Error(`${operationId}: name one of the body's schemas in steps.ts`);
  if (type === "application/json") return { kind: "json", value: withVariables(named) };
  const { properties = {}, required = [] } = named;
  const names = Object.keys(properties).filter((field) => required.includes(field) || field === "state");
  const fields = names.map((field) =>
    [field, VALUES[field] ?? properties[field]?.enum?.[0] ?? exampleValue(field)] as const
  );
  return { kind: "form", fields: Object.fromEntries(fields) };
}

/** The schema's example, with the collection's variables in place of what an earlier request has returned. */
function withVariables({ example = {} }: Schema): unknown {
  return JSON.parse(JSON.stringify(example, (name, value) => VALUES[name] ?? value));
}

/** The customer of the sandbox, who is no operation of the platform. */
const CUSTOMER: CollectionRequest = {
  name: "Let the sandbox's customer approve",
  method: "post",
  url: "{{banks_url}}/authorizations",
  query: [],
  headers: {},
  body: {
    kind: "json",
    value: {
      bank: "{{bank}}",
      client_id: "{{client_id}}",
      request_uri: "{{request_uri}}",
      outcome: "approve",
    },
  },
  keep: { code: "res.body.parameters.code" },
  statuses: [200],
  expected: { "res.body.parameters.state": "{{state}}", "res.body.parameters.iss": "{{auth_url}}/{{bank}}" },
  docs: [
    "In a sandbox alone, a customer needs no browser. Elsewhere open {{auth_url}}/{{bank}}/authorization.oauth2",
    "with client_id and request_uri in a browser, check state and iss of the redirect, and set the variable code.",
  ],
};
