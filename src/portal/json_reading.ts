/** Reads plain JSON data whose shape is not promised: what is missing or of another kind is empty, never an error. */

/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The member as an object; without members if it is not one. */
export function objectAt(value: JsonObject, key: string): JsonObject {
  return asObject(value[key]);
}

/** The value as an object; without members if it is not one. */
export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The member's elements that are objects. */
export function objectsAt(value: JsonObject, key: string): readonly JsonObject[] {
  return listAt(value, key).filter(isObject);
}

/** The member's elements. */
export function listAt(value: JsonObject, key: string): readonly unknown[] {
  const member = value[key];
  return Array.isArray(member) ? member : [];
}

/** The member as text, or undefined. */
export function textAt(value: JsonObject, key: string): string | undefined {
  const member = value[key];
  return typeof member === "string" ? member : undefined;
}

/** Whether the value is a JSON object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Every object in the value, the value first. */
export function* objectsIn(value: unknown): Generator<JsonObject> {
  if (isObject(value)) yield value;
  for (const part of value instanceof Object ? Object.values(value) : []) yield* objectsIn(part);
}
