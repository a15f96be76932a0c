/**
 * The form of an OpenAPI document in few words, to compare all of it: a line for each operation, schema, answer and
 * header. Texts are left out: `*` marks what is described, and an example stands after `~`. `{ a, b?: uuid, ... }` is an object
 * with an optional member that may have others, `string` is left out.
 */

type Json = unknown;
type Members = Readonly<Record<string, Json>>;

/** The members of a schema that {@link writeForm} writes in its own way. */
const OWN: ReadonlySet<string> = new Set(
  [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "$ref",
    "description",
    "example",
    "enum",
  ],
);

/** The lines of a document, in its order. A parameter that several operations have is described once. */
export function outlineOf(document: object): readonly string[] {
  const { paths, components, webhooks } = document as Record<string, Record<string, Record<string, Members>>>;
  const shared = new Map<string, string>();
  const writeParameter = (parameter: Members): string => {
    const [name, form] = [`${parameter["in"]} ${parameter["name"]}`, writePart(parameter)];
    if (!shared.has(name)) shared.set(name, form);
    return shared.get(name) === form ? name : form;
  };
  const parts = Object.entries(components ?? {}).flatMap(([kind, named]) =>
    Object.entries(named).map(([name, part]) =>
      `${kind} ${name} ${kind === "schemas" ? writeForm(part) : writePart(part)}`
    )
  );
  const operations = Object.entries({ ...paths, ...webhooks }).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { parameters = [], ...operation }]) => {
      const named = (parameters as readonly Members[]).map(writeParameter);
      return `${method} ${path} (${named.join(", ")}) ${writePart(operation)}`;
    })
  );
  return [...operations, ...[...shared].map(([name, form]) => `parameter ${name} ${form}`), ...parts];
}

function isMembers(value: Json): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A part of the document that is not a schema. */
function writePart(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(writePart).join(" ")}]`;
  if (!isMembers(value)) return String(value);
  if (typeof value["$ref"] === "string") return lastSegment(value["$ref"]);
  const { description, summary, example, ...rest } = value;
  const members = Object.entries(rest).map(([name, member]) =>
    `${name}=${/schema$/i.test(name) ? writeForm(member) : writePart(member)}`
  );
  return `{${members.join(" ")}}${writeMarks(description ?? summary, example)}`;
}

function writeForm(schema: Json): string {
  if (!isMembers(schema)) return writePart(schema);
  const { type = "any", enum: values, items, properties, $ref, description, example } = schema;
  const rest = Object.entries(schema).filter(([name]) => !OWN.has(name)).map(([name, value]) =>
    `${name}=${Array.isArray(value) ? value.map(writeForm).join("|") : writeForm(value)}`
  );
  const form = typeof $ref === "string"
    ? lastSegment($ref)
    : properties !== undefined || schema["additionalProperties"] !== undefined
    ? writeObject(schema)
    : items !== undefined
    ? `${writeForm(items)}[]`
    : Array.isArray(values)
    ? values.map((value) => JSON.stringify(value)).join("|")
    : String(type);
  return [form, ...rest].join(" ") + writeMarks(description, example);
}

function writeObject({ properties, required, additionalProperties }: Members): string {
  const needed: ReadonlySet<Json> = new Set(Array.isArray(required) ? required : []);
  const members = Object.entries(isMembers(properties) ? properties : {}).map(([name, member]) => {
    const form = writeForm(member);
    return `${name}${needed.has(name) ? "" : "?"}${form === "string" ? "" : `: ${form}`}`;
  });
  const others = additionalProperties === false
    ? []
    : [`...${isMembers(additionalProperties) ? writeForm(additionalProperties) : ""}`];
  return `{ ${[...members, ...others].join(", ")} }`;
}

function lastSegment(reference: string): string {
  return reference.split("/").at(-1) ?? "";
}

function writeMarks(described: Json, example: Json): string {
  return `${described === undefined ? "" : "*"}${example === undefined ? "" : `~${JSON.stringify(example)}`}`;
}
