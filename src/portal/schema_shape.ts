/**
 * Turns a JSON Schema (2020-12, as OpenAPI 3.1 embeds it) into what a reader needs: type, rules, members. References
 * are resolved; those to a shared component become a link to its one description.
 */
import { asObject, isObject, type JsonObject, listAt, objectAt, objectsAt, textAt } from "./json_reading.ts";

/** A schema as it is shown. */
export interface Shape {
  /** `string (date-time)`, `list of`, `object`, … */
  readonly type: string;
  /** Each a short phrase: `at most 35 characters`. */
  readonly rules: readonly string[];
  readonly description?: string | undefined;
  /** Name of the shared component that describes the rest. */
  readonly link?: string | undefined;
  readonly fields: readonly Field[];
  /** The shape of a list's items. */
  readonly items?: Shape | undefined;
  /** Of which one (or any) must fit. */
  readonly alternatives: readonly Shape[];
}

/** A named part: a member, a parameter, a header. */
export interface Field {
  readonly name: string;
  readonly required: boolean;
  readonly shape: Shape;
  /** Where a parameter is sent: `path`, `query`, `header` or `cookie`. */
  readonly place?: string;
}

/** Dependencies of resolving. */
export interface ShapeDeps {
  /** The whole document, to which `$ref`s point. */
  readonly document: JsonObject;
  /** Names of the component schemas that are linked to instead of being repeated. */
  readonly shared: ReadonlySet<string>;
}

const SCHEMA_PREFIX = "#/components/schemas/";
/** Deeper nesting is cut off: a document that refers to itself must not draw an endless page. */
const MAX_DEPTH = 12;

/** The component schema that a reference names. */
export function schemaNameOf(schema: JsonObject): string | undefined {
  const reference = textAt(schema, "$ref");
  return reference?.startsWith(SCHEMA_PREFIX) ? reference.slice(SCHEMA_PREFIX.length) : undefined;
}

/** The target of a local reference; the value itself if it is not a reference. */
export function resolveReference(document: JsonObject, value: JsonObject): JsonObject {
  const reference = textAt(value, "$ref");
  if (!reference?.startsWith("#/")) return value;
  let target = document;
  for (const part of reference.slice(2).split("/")) {
    target = objectAt(target, part.replaceAll("~1", "/").replaceAll("~0", "~")); // RFC 6901 §4
  }
  return target;
}

/** The schema as it is shown. */
export function shapeOf(deps: ShapeDeps, schema: JsonObject, depth = 0): Shape {
  const whole = withParts(deps, schema);
  const end = { type: typeOf(whole), rules: [], fields: [], alternatives: [] };
  const parts = [schema, ...objectsAt(schema, "allOf")].map(schemaNameOf);
  const link = parts.find((name) => name !== undefined && deps.shared.has(name));
  if (link !== undefined) {
    return { ...end, type: "", link, description: textAt(link === parts[0] ? schema : whole, "description") };
  }
  if (depth > MAX_DEPTH) return end;
  const { items } = whole;
  const layers = objectsAt(objectAt(whole, "contentSchema"), "prefixItems");
  return {
    ...end,
    rules: rulesOf(whole),
    description: textAt(whole, "description"),
    fields: [...fieldsOf(deps, whole, depth), ...listFields(deps, layers, depth)],
    items: isObject(items) ? shapeOf(deps, items, depth + 1) : undefined,
    alternatives: ["oneOf", "anyOf"].flatMap((key) => objectsAt(whole, key))
      .map((alternative) => shapeOf(deps, alternative, depth + 1)),
  };
}

/** The schema with its reference followed and its `allOf` folded in; the outermost word wins. */
export function withParts(deps: ShapeDeps, schema: JsonObject, depth = 0): JsonObject {
  if (depth > MAX_DEPTH) return {};
  const { $ref: _, allOf: __, ...own } = schema;
  const target = textAt(schema, "$ref") === undefined ? [] : [resolveReference(deps.document, schema)];
  const parts = [...target, ...objectsAt(schema, "allOf")].map((part) => withParts(deps, part, depth + 1));
  return [...parts, own].reduce<JsonObject>(mergeSchemas, {});
}

function mergeSchemas(left: JsonObject, right: JsonObject): JsonObject {
  return {
    ...left,
    ...right,
    properties: { ...objectAt(left, "properties"), ...objectAt(right, "properties") },
    required: [...listAt(left, "required"), ...listAt(right, "required")],
  };
}

function fieldsOf(deps: ShapeDeps, schema: JsonObject, depth: number): readonly Field[] {
  const required = listAt(schema, "required");
  return Object.entries(objectAt(schema, "properties")).map(([name, member]) => {
    return { name, required: required.includes(name), shape: shapeOf(deps, asObject(member), depth + 1) };
  });
}

/** The parts of a JWT (JSON Schema Validation 2020-12 §8.5). */
function listFields(deps: ShapeDeps, layers: readonly JsonObject[], depth: number): readonly Field[] {
  return layers.map((layer, index) => {
    const payload = typeOf(withParts(deps, layer)) === "string" ? "signed content" : "claims";
    return { name: index === 0 ? "header" : payload, required: true, shape: shapeOf(deps, layer, depth + 1) };
  });
}

function typeOf(schema: JsonObject): string {
  const given = schema["type"];
  const types = (Array.isArray(given) ? given : [given]).filter((type) => typeof type === "string");
  if (types.length === 0 && Object.keys(objectAt(schema, "properties")).length > 0) types.push("object");
  const format = textAt(schema, "format");
  const name = types.map((type) => type === "array" ? "list" : type).join(" or ");
  return format === undefined ? name : `${name} (${format})`;
}

/** Patterns that words say better. */
const PATTERN_WORDS: Readonly<Record<string, string>> = {
  "^[^\\u0000-\\u001f\\u007f\\ufdd0-\\ufdef\\ufffe\\uffff]*$": "no control characters, no noncharacters",
  "^[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$": "a compact JWS",
  "^[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+){4}$": "a compact JWE",
};

/** Keywords, and how they are said. */
const RULES: Readonly<Record<string, (value: unknown, schema: JsonObject) => string | undefined>> = {
  minimum: (value) => `at least ${valueText(value)}`,
  maximum: (value) => `at most ${valueText(value)}`,
  exclusiveMinimum: (value) => `more than ${valueText(value)}`,
  exclusiveMaximum: (value) => `less than ${valueText(value)}`,
  multipleOf: (value) => `a multiple of ${valueText(value)}`,
  minLength: (least, { maxLength }) => countRule(least, maxLength, "character"),
  maxLength: (most, { minLength }) =>
    minLength === undefined ? countRule(undefined, most, "character") : undefined,
  minItems: (least, { maxItems }) => countRule(least, maxItems, "element"),
  maxItems: (most, { minItems }) =>
    minItems === undefined ? countRule(undefined, most, "element") : undefined,
  const: (value) => `always ${quoteValue(value)}`,
  enum: (_value, schema) => `one of ${listAt(schema, "enum").map(quoteValue).join(", ")}`,
  pattern: (value) => PATTERN_WORDS[String(value)] ?? `pattern ${quoteValue(value)}`,
  default: (value) => `default ${quoteValue(value)}`,
  additionalProperties: (value) => value === false ? "no other members" : undefined,
  uniqueItems: (value) => value === true ? "no element twice" : undefined,
  deprecated: (value) => value === true ? "deprecated" : undefined,
};

function rulesOf(schema: JsonObject): string[] {
  return Object.entries(RULES).flatMap(([keyword, say]) =>
    keyword in schema ? say(schema[keyword], schema) ?? [] : []
  );
}

function countRule(least: unknown, most: unknown, thing: string): string {
  const things = most === 1 || (most === undefined && least === 1) ? thing : `${thing}s`;
  if (least === undefined) return `at most ${valueText(most)} ${things}`;
  if (most === undefined) return `at least ${valueText(least)} ${things}`;
  return `${least === most ? "" : `${valueText(least)} to `}${valueText(most)} ${things}`;
}

function quoteValue(value: unknown): string {
  return `\`${valueText(value)}\``;
}

function valueText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
