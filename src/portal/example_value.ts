/** Makes an example of a schema: from the examples of the document, else from the schema's rules. */
import { isObject, type JsonObject, listAt, objectAt, objectsAt, textAt } from "./json_reading.ts";
import { resolved, type ShapeDeps, withParts } from "./schema_shape.ts";

/** Deeper members are left out. */
const MAX_DEPTH = 8;

/** Values by format. */
const OF_FORMAT: Readonly<Record<string, string>> = {
  "date-time": "2026-01-31T10:00:00+00:00",
  "date": "2026-01-31",
  "uuid": "58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11",
  "uri": "https://tpp.example.com/callback",
};

/** The values of members by their name, wherever the document has an example with them. */
export function knownValues(document: JsonObject): ReadonlyMap<string, unknown> {
  const known = new Map<string, unknown>();
  const keep = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(keep);
    if (!isObject(value)) return;
    for (const [name, member] of Object.entries(value)) {
      if (typeof member !== "object" && !known.has(name)) known.set(name, member);
      keep(member);
    }
  };
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(walk);
    if (!isObject(value)) return;
    if ("example" in value) keep(value["example"]);
    if ("examples" in value) keep(value["examples"]);
    Object.values(value).forEach(walk);
  };
  walk(document);
  return known;
}

/** Optional members are shown down to this depth. */
const OPTIONAL_DEPTH = 1;

/** An example of the schema: the first alternative, one element of each list, and deeper inside required members only. */
export function exampleFor(
  deps: ShapeDeps & { readonly known: ReadonlyMap<string, unknown> },
  schema: JsonObject,
  name = "",
  depth = 0,
): unknown {
  const whole = withParts(deps, schema, 0);
  const given = [whole["example"], listAt(whole, "examples")[0], whole["const"], listAt(whole, "enum")[0]];
  const first = given.find((value) => value !== undefined);
  if (first !== undefined) return first;
  const [alternative] = [...objectsAt(whole, "oneOf"), ...objectsAt(whole, "anyOf")];
  const members = objectAt(whole, "properties");
  if (Object.keys(members).length === 0 && alternative !== undefined) {
    return exampleFor(deps, resolved(deps.document, alternative), name, depth);
  }
  if (textAt(whole, "type") === "array" && depth < MAX_DEPTH) {
    return [exampleFor(deps, objectAt(whole, "items"), name, depth + 1)];
  }
  if (Object.keys(members).length === 0 && textAt(whole, "type") !== "object") {
    return scalarFor(whole, deps.known.get(name), name);
  }
  const required = new Set(listAt(whole, "required"));
  return Object.fromEntries(
    Object.keys(members).filter((one) => depth <= OPTIONAL_DEPTH || (required.has(one) && depth < MAX_DEPTH))
      .map((one) => [one, exampleFor(deps, objectAt(members, one), one, depth + 1)]),
  );
}

function scalarFor(schema: JsonObject, known: unknown, name: string): unknown {
  const { type, format, minimum } = schema;
  if (type === "boolean") return typeof known === "boolean" ? known : true;
  if (type === "integer" || type === "number") {
    return typeof known === "number" ? known : minimum ?? (name.endsWith("_at") ? 1_763_719_200 : 1);
  }
  const isOfAnotherPlace = format === "date" || format === "uri"; // the same name, another value
  if (known !== undefined && !isOfAnotherPlace) return known;
  return OF_FORMAT[String(format)] ?? `<${name}>`;
}
