/**
 * Turns an OpenAPI 3.1 document into the chapters of a reference: endpoints by tag, and the schemas that are used more
 * than once. Does not render.
 */
import { anchor } from "./paths.ts";
import { asObject, isObject, type JsonObject, listAt, objectAt, objectsAt, textAt } from "./json_reading.ts";
import { commonAmong, type CommonParts } from "./common_parts.ts";
import { exampleFor, knownValues } from "./example_value.ts";
import { type Field, resolved, schemaNameOf, type Shape, type ShapeDeps, shapeOf } from "./schema_shape.ts";

/** The address at which an operation, by its `operationId`, can be tried; undefined if it cannot. */
export type TryLink = (operationId: string) => string | undefined;

/** The reference as it is shown. */
export interface ApiReference {
  readonly tryLink: TryLink;
  readonly title: string;
  readonly version: string;
  readonly description?: string | undefined;
  readonly servers: readonly { readonly url: string; readonly description?: string | undefined }[];
  readonly groups: readonly ApiGroup[];
  readonly commonParameters: CommonParts<Parameter>;
  readonly commonAnswers: CommonParts<ApiAnswer>;
  /** Schemas that several places link to. */
  readonly types: readonly {
    readonly name: string;
    readonly shape: Shape;
    readonly example?: string | undefined;
  }[];
}

/** Endpoints of one tag. */
export interface ApiGroup {
  readonly name: string;
  readonly description?: string | undefined;
  readonly endpoints: readonly ApiEndpoint[];
}

/** One operation. */
export interface ApiEndpoint {
  /** Anchor, unique in the document. */
  readonly id: string;
  readonly method: string;
  readonly operationId: string;
  /** Origin of its host. */
  readonly server: string;
  readonly path: string;
  /** Whether the platform sends it to a participant: an OpenAPI webhook, and `path` is its name. */
  readonly isSent: boolean;
  readonly title: string;
  readonly description?: string | undefined;
  readonly deprecated: boolean;
  /** The security schemes that it asks for. */
  readonly security: readonly SecurityScheme[];
  readonly parameters: readonly Parameter[];
  readonly body: readonly ApiContent[];
  readonly answers: readonly ApiAnswer[];
}

/** A security scheme by its name in the document. */
export interface SecurityScheme {
  readonly name: string;
  readonly description?: string | undefined;
}

/** A parameter; `place` is `path`, `query`, `header` or `cookie`. */
export interface Parameter extends Field {
  readonly place: string;
}

/** A body in one media type. */
export interface ApiContent {
  readonly mediaType: string;
  readonly shape: Shape;
  readonly example?: string | undefined;
}

/** One status an endpoint answers with. */
export interface ApiAnswer {
  readonly status: string;
  readonly description: string;
  readonly headers: readonly Field[];
  readonly contents: readonly ApiContent[];
}

const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"] as const;
const UNTAGGED = "Other";

/** Dependencies of reading. */
type ReferenceDeps = ShapeDeps & { readonly known: ReadonlyMap<string, unknown> };

/** The reference that the document describes; parts it lacks are empty. */
export function readApiReference(source: unknown, tryLink: TryLink = () => undefined): ApiReference {
  const document = asObject(source);
  const info = objectAt(document, "info");
  const deps: ReferenceDeps = { document, shared: sharedSchemas(document), known: knownValues(document) };
  const groups = groupsOf(deps);
  const endpoints = groups.flatMap((group) => group.endpoints);
  return {
    tryLink,
    title: textAt(info, "title") ?? "API",
    version: textAt(info, "version") ?? "",
    description: textAt(info, "description"),
    servers: objectsAt(document, "servers").map((server) => ({
      url: textAt(server, "url") ?? "",
      description: textAt(server, "description"),
    })),
    groups,
    commonParameters: commonAmong(
      endpoints.flatMap(({ parameters }) => parameters),
      ({ name }) => anchor(`parameter-${name}`),
    ),
    commonAnswers: commonAmong(
      endpoints.flatMap(({ answers }) => answers),
      ({ status }) => anchor(`answer-${status}`),
    ),
    types: [...deps.shared].toSorted().map((name) => {
      const schema = objectAt(objectAt(objectAt(document, "components"), "schemas"), name);
      return { name, shape: shapeOf(deps, schema), example: exampleOf(schema) };
    }),
  };
}

/** Component schemas that the document names more than once: describing them once keeps the page short. */
function sharedSchemas(document: JsonObject): ReadonlySet<string> {
  const uses = new Map<string, number>();
  const count = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(count);
    if (!isObject(value)) return;
    const name = schemaNameOf(value);
    if (name !== undefined) uses.set(name, (uses.get(name) ?? 0) + 1);
    Object.values(value).forEach(count);
  };
  count(document);
  const known = objectAt(objectAt(document, "components"), "schemas");
  return new Set([...uses].filter(([name, times]) => times > 1 && name in known).map(([name]) => name));
}

function groupsOf(deps: ReferenceDeps): ApiGroup[] {
  const described = new Map(
    objectsAt(deps.document, "tags").map((tag) => [textAt(tag, "name") ?? "", textAt(tag, "description")]),
  );
  const groups = new Map<string, ApiEndpoint[]>([...described.keys()].map((name) => [name, []]));
  const sent = Object.entries(objectAt(deps.document, "webhooks"));
  const called = Object.entries(objectAt(deps.document, "paths"));
  for (const [path, value] of [...called, ...sent]) {
    const item = resolved(deps.document, asObject(value));
    for (const method of METHODS.filter((name) => isObject(item[name]))) {
      const operation = objectAt(item, method);
      const tag = String(listAt(operation, "tags")[0] ?? UNTAGGED);
      const endpoint = endpointOf(deps, { path, method, item, operation, isSent: !path.startsWith("/") });
      groups.set(tag, [...groups.get(tag) ?? [], endpoint]);
    }
  }
  return [...groups].filter(([, endpoints]) => endpoints.length > 0)
    .map(([name, endpoints]) => ({ name, description: described.get(name), endpoints }));
}

interface Operation {
  readonly path: string;
  readonly method: string;
  readonly item: JsonObject;
  readonly operation: JsonObject;
  readonly isSent: boolean;
}

function endpointOf(deps: ReferenceDeps, { path, method, item, operation, isSent }: Operation): ApiEndpoint {
  const body = resolved(deps.document, objectAt(operation, "requestBody"));
  const security = "security" in operation ? operation : deps.document;
  const schemes = objectAt(objectAt(deps.document, "components"), "securitySchemes");
  return {
    id: anchor(`${method}-${path}`),
    method: method.toUpperCase(),
    operationId: textAt(operation, "operationId") ?? "",
    server: textAt(
      objectsAt(objectsAt(operation, "servers").length > 0 ? operation : deps.document, "servers")[0] ?? {},
      "url",
    ) ?? "",
    path,
    isSent,
    title: textAt(operation, "summary") ?? `${method.toUpperCase()} ${path}`,
    description: textAt(operation, "description"),
    deprecated: operation["deprecated"] === true,
    security: objectsAt(security, "security").flatMap((one) => Object.keys(one)).map((name) => ({
      name,
      description: textAt(objectAt(schemes, name), "description"),
    })),
    parameters: [...objectsAt(item, "parameters"), ...objectsAt(operation, "parameters")].map((parameter) =>
      parameterOf(deps, resolved(deps.document, parameter))
    ),
    body: contentsOf(deps, body),
    answers: Object.entries(objectAt(operation, "responses")).map(([status, answer]) =>
      answerOf(deps, status, resolved(deps.document, asObject(answer)))
    ),
  };
}

function parameterOf(deps: ShapeDeps, parameter: JsonObject): Parameter {
  return {
    ...fieldOf(deps, textAt(parameter, "name") ?? "", parameter),
    place: textAt(parameter, "in") ?? "",
  };
}

function fieldOf(deps: ShapeDeps, name: string, parameter: JsonObject): Field {
  const shape = shapeOf(deps, objectAt(parameter, "schema"));
  const description = textAt(parameter, "description") ?? shape.description;
  return { name, required: parameter["required"] === true, shape: { ...shape, description } };
}

function answerOf(deps: ReferenceDeps, status: string, answer: JsonObject): ApiAnswer {
  const headers = Object.entries(objectAt(answer, "headers")).map(([name, header]) =>
    fieldOf(deps, name, resolved(deps.document, asObject(header)))
  );
  return {
    status,
    description: textAt(answer, "description") ?? "",
    headers,
    contents: contentsOf(deps, answer),
  };
}

function contentsOf(deps: ReferenceDeps, holder: JsonObject): ApiContent[] {
  return Object.entries(objectAt(holder, "content")).map(([mediaType, value]) => {
    const content = asObject(value);
    const schema = objectAt(content, "schema");
    const example = exampleOf(content) ?? text(exampleFor(deps, schema));
    return { mediaType, shape: shapeOf(deps, schema), example };
  });
}

function exampleOf(holder: JsonObject): string | undefined {
  const examples = holder["examples"];
  const first = Array.isArray(examples)
    ? examples[0]
    : asObject(Object.values(asObject(examples))[0])["value"];
  const example = holder["example"] ?? first;
  return example === undefined ? undefined : text(example);
}

function text(example: unknown): string {
  return typeof example === "string" ? example : JSON.stringify(example, null, 2);
}
