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
export function resolved(document: JsonObject, value: JsonObject): JsonObject {
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
  const name = schemaNameOf(schema);
  if (name !== undefined && deps.shared.has(name)) return linkTo(name, schema);
  const whole = withParts(deps, schema, 0);
  if (depth > MAX_DEPTH) return { type: typeOf(whole), rules: [], fields: [], alternatives: [] };
  const linked = listAt(schema, "allOf").map((part) => schemaNameOf(asObject(part)))
    .find((part) => part !== undefined && deps.shared.has(part));
  if (linked !== undefined) return linkTo(linked, whole);
  const items = whole["items"];
  const layers = listAt(objectAt(whole, "contentSchema"), "prefixItems").map(asObject);
  return {
    type: typeOf(whole),
    rules: rulesOf(whole),
    description: textAt(whole, "description"),
    fields: [...fieldsOf(deps, whole, depth), ...contentOf(deps, layers, depth)],
    items: isObject(items) ? shapeOf(deps, items, depth + 1) : undefined,
    alternatives: [...objectsAt(whole, "oneOf"), ...objectsAt(whole, "anyOf")]
      .map((alternative) => shapeOf(deps, alternative, depth + 1)),
  };
}

function linkTo(name: string, schema: JsonObject): Shape {
  return {
    type: "",
    rules: [],
    link: name,
    description: textAt(schema, "description"),
    fields: [],
    alternatives: [],
  };
}

/** The schema with its reference followed and its `allOf` folded in; the outermost word wins. */
export function withParts(deps: ShapeDeps, schema: JsonObject, depth: number): JsonObject {
  if (depth > MAX_DEPTH) return {};
  const { $ref: _, allOf: __, ...own } = schema;
  const target = textAt(schema, "$ref") === undefined ? undefined : resolved(deps.document, schema);
  const parts = [...(target === undefined ? [] : [target]), ...objectsAt(schema, "allOf")]
    .map((part) => withParts(deps, part, depth + 1));
  return [...parts, own].reduce<JsonObject>(merged, {});
}

function merged(left: JsonObject, right: JsonObject): JsonObject {
  return {
    ...left,
    ...right,
    properties: { ...objectAt(left, "properties"), ...objectAt(right, "properties") },
    required: [...listAt(left, "required"), ...listAt(right, "required")],
  };
}

function fieldsOf(deps: ShapeDeps, schema: JsonObject, depth: number): readonly Field[] {
  const required = new Set(listAt(schema, "required"));
  return Object.entries(objectAt(schema, "properties")).map(([name, member]) => ({
    name,
    required: required.has(name),
    shape: shapeOf(deps, asObject(member), depth + 1),
  }));
}

/** The parts of a JWT (JSON Schema Validation 2020-12 §8.5). */
function contentOf(deps: ShapeDeps, layers: readonly JsonObject[], depth: number): readonly Field[] {
  return layers.map((layer, index) => ({
    name: index === 0
      ? "header"
      : typeOf(withParts(deps, layer, 0)) === "string"
      ? "signed content"
      : "claims",
    required: true,
    shape: shapeOf(deps, layer, depth + 1),
  }));
}

function typeOf(schema: JsonObject): string {
  const given = schema["type"];
  const types = (Array.isArray(given) ? given : [given]).filter((type) => typeof type === "string");
  if (types.length === 0 && Object.keys(objectAt(schema, "properties")).length > 0) types.push("object");
  const format = textAt(schema, "format");
  const name = types.map((type) => type === "array" ? "list" : type).join(" or ");
  return format === undefined ? name : `${name} (${format})`;
}

/** Keywords with a number, and how they are said. */
const NUMBER_RULES: Readonly<Record<string, (value: number) => string>> = {
  minimum: (value) => `at least ${value}`,
  maximum: (value) => `at most ${value}`,
  exclusiveMinimum: (value) => `more than ${value}`,
  exclusiveMaximum: (value) => `less than ${value}`,
  multipleOf: (value) => `a multiple of ${value}`,
};

/** Patterns that words say better. */
const PATTERN_WORDS: Readonly<Record<string, string>> = {
  "^[^\\u0000-\\u001f\\u007f\\ufdd0-\\ufdef\\ufffe\\uffff]*$": "no control characters, no noncharacters",
  "^[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$": "a compact JWS",
  "^[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+){4}$": "a compact JWE",
};

function rulesOf(schema: JsonObject): string[] {
  const rules = Object.entries(NUMBER_RULES).flatMap(([keyword, say]) => {
    const value = schema[keyword];
    return typeof value === "number" ? [say(value)] : [];
  });
  rules.push(
    ...countRule(schema["minLength"], schema["maxLength"], "character"),
    ...countRule(schema["minItems"], schema["maxItems"], "element"),
  );
  if ("const" in schema) rules.push(`always \`${valueText(schema["const"])}\``);
  const values = listAt(schema, "enum");
  if (values.length > 0) rules.push(`one of ${values.map((value) => `\`${valueText(value)}\``).join(", ")}`);
  const pattern = textAt(schema, "pattern");
  if (pattern !== undefined) rules.push(PATTERN_WORDS[pattern] ?? `pattern \`${pattern}\``);
  if ("default" in schema) rules.push(`default \`${valueText(schema["default"])}\``);
  if (schema["additionalProperties"] === false) rules.push("no other members");
  if (schema["uniqueItems"] === true) rules.push("no element twice");
  if (schema["deprecated"] === true) rules.push("deprecated");
  return rules;
}

function countRule(least: unknown, most: unknown, thing: string): string[] {
  const things = most === 1 || (most === undefined && least === 1) ? thing : `${thing}s`;
  if (typeof least !== "number") return typeof most === "number" ? [`at most ${most} ${things}`] : [];
  if (typeof most !== "number") return [`at least ${least} ${things}`];
  return [least === most ? `${most} ${things}` : `${least} to ${most} ${things}`];
}

function valueText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
