/**
 * Turns an OpenAPI 3.1 document into the chapters of a reference: endpoints by tag, and the schemas that are used more
 * than once. Does not render.
 */
import { anchor } from "./paths.ts";
import {
  asObject,
  isObject,
  type JsonObject,
  listAt,
  objectAt,
  objectsAt,
  objectsIn,
  textAt,
} from "./json_reading.ts";
import {
  type Field,
  resolveReference,
  schemaNameOf,
  type ShapeDeps,
  shapeOf,
  withParts,
} from "./schema_shape.ts";

/** The address at which an operation, by its `operationId`, can be tried; undefined if it cannot. */
export type TryLink = (operationId: string) => string | undefined;

/** The reference as it is shown. */
export type ApiReference = ReturnType<typeof referenceOf>;
/** The endpoints of one tag. */
export type ApiGroup = ApiReference["groups"][number];
/** One operation. */
export type ApiEndpoint = ApiGroup["endpoints"][number];
/** A body in one media type. */
export type ApiContent = ApiEndpoint["body"][number];
/** One status that an endpoint answers with. */
export type ApiAnswer = ApiEndpoint["answers"][number];

const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/** Dependencies of reading. */
type ReferenceDeps = ShapeDeps & { readonly known: ReadonlyMap<string, unknown> };

/** The reference that the document describes; parts it lacks are empty. */
export function readApiReference(document: unknown, tryLink: TryLink = () => undefined): ApiReference {
  return referenceOf(asObject(document), tryLink);
}

function referenceOf(document: JsonObject, tryLink: TryLink) {
  const schemas = objectAt(objectAt(document, "components"), "schemas");
  const shared = sharedSchemas(document, schemas);
  const deps: ReferenceDeps = { document, shared, known: knownValues(document) };
  const groups = groupsOf(deps);
  const endpoints = groups.flatMap((group) => group.endpoints);
  return {
    tryLink,
    version: textAt(objectAt(document, "info"), "version") ?? "",
    baseUrl: textAt(objectsAt(document, "servers")[0] ?? {}, "url"),
    groups,
    commonParameters: commonAmong(endpoints.flatMap(({ parameters }) => parameters), "parameter", "name"),
    commonAnswers: commonAmong(endpoints.flatMap(({ answers }) => answers), "answer", "status"),
    /** Schemas that several places link to. */
    types: [...shared].toSorted().map((name) => {
      const schema = objectAt(schemas, name);
      return { name, shape: shapeOf(deps, schema), example: exampleOf(schema) };
    }),
  };
}

/** Component schemas that the document names more than once: describing them once keeps the page short. */
function sharedSchemas(document: JsonObject, known: JsonObject): ReadonlySet<string> {
  const uses = Map.groupBy(
    [...objectsIn(document)].flatMap((one) => schemaNameOf(one) ?? []),
    (name) => name,
  );
  return new Set([...uses].filter(([name, all]) => all.length > 1 && name in known).map(([name]) => name));
}

function groupsOf(deps: ReferenceDeps) {
  const tags = objectsAt(deps.document, "tags").map((tag) => ({
    name: textAt(tag, "name") ?? "",
    description: textAt(tag, "description"),
  }));
  const items = ["paths", "webhooks"].flatMap((kind) => Object.entries(objectAt(deps.document, kind)));
  const endpoints = items.flatMap(([path, value]) => {
    const item = resolveReference(deps.document, asObject(value));
    return METHODS.filter((method) => isObject(item[method]))
      .map((method) => endpointOf(deps, path, method, item));
  });
  const byTag = Map.groupBy(endpoints, ({ tag }) => tag);
  const untold = [...byTag.keys()].filter((name) => tags.every((tag) => tag.name !== name));
  return [...tags, ...untold.map((name) => ({ name, description: undefined }))]
    .map((tag) => ({ ...tag, endpoints: byTag.get(tag.name) ?? [] }))
    .filter(({ endpoints }) => endpoints.length > 0);
}

function endpointOf(deps: ReferenceDeps, path: string, method: string, item: JsonObject) {
  const { document } = deps;
  const operation = objectAt(item, method);
  const schemes = objectAt(objectAt(document, "components"), "securitySchemes");
  const inherited = (key: string): readonly JsonObject[] =>
    objectsAt(key in operation ? operation : document, key);
  return {
    tag: String(listAt(operation, "tags")[0] ?? "Other"),
    /** Anchor, unique in the document. */
    id: anchor(`${method}-${path}`),
    method: method.toUpperCase(),
    operationId: textAt(operation, "operationId") ?? "",
    /** Origin of its host. */
    server: textAt(inherited("servers")[0] ?? {}, "url") ?? "",
    path,
    /** Whether the platform sends it to a participant: an OpenAPI webhook, and `path` is its name. */
    isSent: !path.startsWith("/"),
    title: textAt(operation, "summary") ?? `${method.toUpperCase()} ${path}`,
    description: textAt(operation, "description"),
    deprecated: operation["deprecated"] === true,
    /** The security schemes that it asks for. */
    security: inherited("security").flatMap((one) => Object.keys(one))
      .map((name) => ({ name, description: textAt(objectAt(schemes, name), "description") })),
    parameters: [item, operation].flatMap((holder) => objectsAt(holder, "parameters")).map((one) => {
      const parameter = resolveReference(document, one);
      return {
        ...fieldOf(deps, textAt(parameter, "name") ?? "", parameter),
        place: textAt(parameter, "in") ?? "",
      };
    }),
    body: contentsOf(deps, resolveReference(document, objectAt(operation, "requestBody"))),
    answers: Object.entries(objectAt(operation, "responses")).map(([status, value]) =>
      describeAnswer(deps, status, resolveReference(document, asObject(value)))
    ),
  };
}

function describeAnswer(deps: ReferenceDeps, status: string, answer: JsonObject) {
  const headers = Object.entries(objectAt(answer, "headers")).map(([name, header]): Field =>
    fieldOf(deps, name, resolveReference(deps.document, asObject(header)))
  );
  const description = textAt(answer, "description") ?? "";
  return { status, description, headers, contents: contentsOf(deps, answer) };
}

function fieldOf(deps: ShapeDeps, name: string, parameter: JsonObject): Field {
  const shape = shapeOf(deps, objectAt(parameter, "schema"));
  const description = textAt(parameter, "description") ?? shape.description;
  return { name, required: parameter["required"] === true, shape: { ...shape, description } };
}

function contentsOf(deps: ReferenceDeps, holder: JsonObject) {
  return Object.entries(objectAt(holder, "content")).map(([mediaType, value]) => {
    const content = asObject(value);
    const schema = objectAt(content, "schema");
    const example = exampleOf(content) ?? text(exampleFor(deps, schema));
    return { mediaType, shape: shapeOf(deps, schema), example };
  });
}

function exampleOf(holder: JsonObject): string | undefined {
  const { example, examples } = holder;
  const first = Array.isArray(examples)
    ? examples[0]
    : asObject(Object.values(asObject(examples))[0])["value"];
  return text(example ?? first);
}

function text(example: unknown): string | undefined {
  return typeof example === "string" ? example : JSON.stringify(example, null, 2);
}

/** Deeper members are left out. */
const MAX_DEPTH = 8;
/** Optional members are shown down to this depth. */
const OPTIONAL_DEPTH = 1;

/** Values by format. */
const OF_FORMAT: Readonly<Record<string, string>> = {
  "date-time": "2026-01-31T10:00:00+00:00",
  "date": "2026-01-31",
  "uuid": "58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11",
  "uri": "https://tpp.example.com/callback",
};

/** The values of members by their name, wherever the document has an example with them. */
function knownValues(document: JsonObject): ReadonlyMap<string, unknown> {
  const known = new Map<string, unknown>();
  for (const { example, examples } of objectsIn(document)) {
    for (const [name, value] of [...objectsIn([example, examples])].flatMap((part) => Object.entries(part))) {
      if (typeof value !== "object" && !known.has(name)) known.set(name, value);
    }
  }
  return known;
}

/** An example of the schema: the first alternative, one element of each list, and deeper inside required members only. */
function exampleFor(
  deps: ShapeDeps & { readonly known: ReadonlyMap<string, unknown> },
  schema: JsonObject,
  name = "",
  depth = 0,
): unknown {
  const whole = withParts(deps, schema);
  const given = [whole["example"], listAt(whole, "examples")[0], whole["const"], listAt(whole, "enum")[0]];
  const first = given.find((value) => value !== undefined);
  if (first !== undefined) return first;
  const properties = objectAt(whole, "properties");
  const members = Object.keys(properties);
  const [alternative] = ["oneOf", "anyOf"].flatMap((key) => objectsAt(whole, key));
  if (members.length === 0 && alternative !== undefined) return exampleFor(deps, alternative, name, depth);
  const type = textAt(whole, "type");
  if (type === "array" && depth < MAX_DEPTH) {
    return [exampleFor(deps, objectAt(whole, "items"), name, depth + 1)];
  }
  if (members.length === 0 && type !== "object") return scalarFor(whole, deps.known.get(name), name);
  const required = listAt(whole, "required");
  return Object.fromEntries(
    members.filter((one) => depth <= OPTIONAL_DEPTH || (required.includes(one) && depth < MAX_DEPTH))
      .map((one) => [one, exampleFor(deps, objectAt(properties, one), one, depth + 1)]),
  );
}

function scalarFor({ type, format, minimum }: JsonObject, known: unknown, name: string): unknown {
  if (type === "boolean") return typeof known === "boolean" ? known : true;
  if (type === "integer" || type === "number") {
    return typeof known === "number" ? known : minimum ?? (name.endsWith("_at") ? 1_763_719_200 : 1);
  }
  if (name === "Self" || name === "Next") return "https://api.example.com/BANK/the-path-of-this-request";
  // A date or an address of the same name, in another place, is another one.
  if (known !== undefined && format !== "date" && format !== "uri") return known;
  return OF_FORMAT[String(format)] ?? `<${name}>`;
}

/** The common parts with the anchor of their description, by their content. */
export type CommonParts<Part> = ReadonlyMap<string, { readonly id: string; readonly part: Part }>;

/** From so many equal uses on, a part is common. */
const COMMON_USES = 3;

/** The parts that are there at least three times. The member `named` makes their anchors readable. */
function commonAmong<Named extends string, Part extends Readonly<Record<Named, string>>>(
  all: readonly Part[],
  kind: string,
  named: Named,
): CommonParts<Part> {
  const common = new Map<string, { readonly id: string; readonly part: Part }>();
  for (const [content, [part, ...more]] of Map.groupBy(all, partKey)) {
    if (part === undefined || more.length + 1 < COMMON_USES) continue;
    const name = anchor(`${kind}-${part[named]}`);
    const isTaken = common.values().some(({ id }) => id === name);
    common.set(content, { id: isTaken ? `${name}-${common.size}` : name, part });
  }
  return common;
}

/** The key of a part among the common ones. */
export function partKey(part: unknown): string {
  return JSON.stringify(part);
}
