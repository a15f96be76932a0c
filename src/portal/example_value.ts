/** Makes an example of a schema: from the examples of the document, else from the schema's rules. */
import { type JsonObject, listAt, objectAt, objectsAt, objectsIn, textAt } from "./json_reading.ts";
import { type ShapeDeps, withParts } from "./schema_shape.ts";

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
export function knownValues(document: JsonObject): ReadonlyMap<string, unknown> {
  const known = new Map<string, unknown>();
  for (const { example, examples } of objectsIn(document)) {
    for (const [name, value] of [...objectsIn([example, examples])].flatMap((part) => Object.entries(part))) {
      if (typeof value !== "object" && !known.has(name)) known.set(name, value);
    }
  }
  return known;
}

/** An example of the schema: the first alternative, one element of each list, and deeper inside required members only. */
export function exampleFor(
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
