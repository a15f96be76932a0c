/**
 * Checks responses of the platform against its OpenAPI document: status, content type, headers and JSON body must match
 * the operation. Responses that the document does not describe fail, so that it stays complete.
 */
import type { ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

/** Any part of the document. */
type Json = { readonly [name: string]: unknown };

/** Headers that clients act on: a response with one of them must have it in its description. */
const CONTRACT_HEADERS = [
  "allow",
  "cache-control",
  "dpop-nonce",
  "etag",
  "location",
  "retry-after",
  "set-cookie",
  "www-authenticate",
  "x-fapi-interaction-id",
  "x-jws-signature",
];

/** An exchange with one host. */
export interface Exchange {
  readonly method: string;
  readonly pathname: string;
  readonly response: Response;
}

/** The description of one host. */
export interface Contract {
  /** Deviations of the response from the description, one sentence each. Does not read the body of the response. */
  faults(exchange: Exchange): Promise<readonly string[]>;
}

/** The contract of the host at `server`; `undocumented` are paths that the document omits on purpose. */
export function contractOf(document: object, server: string, undocumented: readonly RegExp[]): Contract {
  const schemas = openSchemas(document);
  const paths = Object.entries(objectAt(document, "paths"))
    .map(([path, item]) => ({ path, pattern: patternOf(path), item: asJson(item) }))
    .filter(({ item }) => Object.values(item).some((operation) => isAt(operation, server)));
  return {
    async faults({ method, pathname, response }): Promise<readonly string[]> {
      const path = pathname.replaceAll(/(?<=\/.+\/.*)%2D/gi, "-"); // contract HD11
      const found = paths.find(({ pattern }) => pattern.test(path));
      if (found === undefined) {
        const known = response.status === 404 || undocumented.some((pattern) => pattern.test(pathname));
        return known ? [] : [`answers ${response.status} at an address that the document does not have`];
      }
      const methods = Object.keys(found.item).filter((name) => isAt(found.item[name], server));
      const isHead = method === "HEAD" && response.status !== 405 && methods.includes("get"); // contract MD13
      const name = isHead ? "get" : method.toLowerCase();
      if (!methods.includes(name)) return notAllowed(methods, response);
      const operation = asJson(found.item[name]);
      const answer = objectAt(operation, "responses")[response.status];
      if (answer === undefined) return [`status ${response.status} is not documented`];
      const described = resolve(document, asJson(answer));
      return [
        ...headerFaults(document, schemas, described, response.headers),
        ...isHead ? [] : await contentFaults(schemas, described, response),
      ];
    },
  };
}

function notAllowed(methods: readonly string[], { status, headers }: Response): string[] {
  const allowed = (headers.get("allow") ?? "").replace("GET, HEAD", "GET").split(", ").toSorted().join(", ");
  const expected = methods.map((name) => name.toUpperCase()).toSorted().join(", ");
  return status === 405 && allowed === expected ? [] : [
    `answers ${status} and Allow "${allowed}" to a method that is not documented; expected 405, "${expected}"`,
  ];
}

function headerFaults(document: object, schemas: Schemas, answer: Json, headers: Headers): string[] {
  const described = objectAt(answer, "headers");
  const unknown = CONTRACT_HEADERS.filter((name) => headers.has(name) && !(name in described));
  const faulty = Object.entries(described).flatMap(([name, reference]) => {
    const header = resolve(document, asJson(reference));
    const value = headers.get(name);
    if (value === null) return header["required"] === true ? [`header ${name} is missing`] : [];
    const schema = asJson(header["schema"]);
    const read = schema["type"] === "integer" ? Number(value) : value;
    return schemas.faults(schema, read).map((fault) => `header ${name} ${fault}: ${value}`);
  });
  return [...unknown.map((name) => `header ${name} is not documented`), ...faulty];
}

async function contentFaults(schemas: Schemas, answer: Json, response: Response): Promise<string[]> {
  const content = objectAt(answer, "content");
  const sent = response.headers.get("content-type");
  const text = await response.clone().text();
  if (Object.keys(content).length === 0) {
    return sent === null && text === "" ? [] : [`has a body of type ${sent}; the document has none`];
  }
  if (response.status === 503 && sent === null && text === "") return []; // under overload: OpenAPI cannot describe it
  const type = sent?.split(";")[0]?.trim() ?? "";
  if (!(type in content)) return [`content type ${sent} is not documented`];
  if (type !== "application/json") return [];
  const schema = asJson(asJson(content[type])["schema"]);
  return schemas.faults(schema, JSON.parse(text)).map((fault) => `body${fault}`);
}

export interface Schemas {
  faults(schema: Json, value: unknown): readonly string[];
}

/** Schemas are compiled on first use. An unknown keyword is an error of the document. */
export function openSchemas(document: object): Schemas {
  const ajv = new Ajv2020({ allErrors: true, strict: true, strictTypes: false, strictRequired: false });
  addFormats.default(ajv);
  for (
    const keyword of ["example", "components", "openapi", "info", "servers", "paths", "tags", "webhooks"]
  ) {
    ajv.addKeyword(keyword);
  }
  ajv.addSchema({ $id: "openapi", ...document }, "openapi");
  const compiled = new Map<Json, ValidateFunction>();
  return {
    faults(schema, value): readonly string[] {
      const validate = compiled.get(schema) ?? ajv.compile(absolute(schema));
      compiled.set(schema, validate);
      if (validate(value)) return [];
      return (validate.errors ?? []).map(({ instancePath, message, params }) =>
        `${instancePath} ${message} ${JSON.stringify(params)}`
      );
    },
  };
}

/** The schema with absolute references, because it is compiled apart from the document. */
function absolute(schema: Json): Json {
  const text = JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"openapi#/');
  return JSON.parse(text) as Json;
}

function resolve(document: object, value: Json): Json {
  const reference = value["$ref"];
  if (typeof reference !== "string") return value;
  const steps = reference.slice(2).split("/").map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  return steps.reduce<Json>((at, step) => objectAt(at, step), asJson(document));
}

function patternOf(path: string): RegExp {
  const escaped = path.replaceAll(/[.*+?^$()|[\]\\]/g, "\\$&");
  return new RegExp(`^${escaped.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
}

function isAt(operation: unknown, server: string): boolean {
  const { servers } = asJson(operation);
  return Array.isArray(servers) && servers.some(({ url }) => url === server);
}

function objectAt(holder: object, name: string): Json {
  return asJson(Object.getOwnPropertyDescriptor(holder, name)?.value);
}

function asJson(value: unknown): Json {
  return typeof value === "object" && value !== null ? value as Json : {};
}
