/**
 * Decodes JSON values by a schema and by rules that a schema cannot express, and reports all faulty places at once.
 * Messages never quote the input.
 */
import type { z } from "@hono/zod-openapi";
import { ApiError, type Fault, type FaultCode } from "../../../base/kernel/api_error.ts";
import type { MiddlewareHandler } from "hono";

/** Maximum number of faults in one response (contract EB1 to EB4). */
export const MAX_FAULTS = 20;

const SHOWABLE_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Parameter of a schema's `refine` for a rejection with its own code:
 * `.refine(isAmount, rejectedAs("Field.Invalid", "Must be …"))`. The message is shown to the caller.
 */
export function rejectedAs(
  fault: FaultCode,
  message: string,
): { message: string; params: { fault: FaultCode } } {
  return { message, params: { fault } };
}

/**
 * Decodes the value by the schema.
 *
 * @param rules faults that concern more than one field. If the schema reports the same path, its fault wins.
 * @throws {ApiError} `resource.invalid_fields` with at most 20 faults, one per path, in the order of their paths;
 * `resource.invalid_format` if the body is not an object
 */
export function decode<T>(schema: z.ZodType<T>, value: unknown, rules: readonly Fault[] = []): T {
  const parsed = schema.safeParse(value);
  if (parsed.success && rules.length === 0) return parsed.data;
  const issues = parsed.success ? [] : parsed.error.issues;
  if (issues.some((issue) => issue.code === "invalid_type" && issue.path.length === 0)) {
    const message = "The body must be a JSON object.";
    throw new ApiError("resource.invalid_format", { faults: [{ code: "Resource.InvalidFormat", message }] });
  }
  const faults = oneForEachPath([...issues.flatMap((issue) => faultsOf(issue, value)), ...rules]);
  throw new ApiError("resource.invalid_fields", { faults: faults.slice(0, MAX_FAULTS) });
}

/**
 * Returns the value at a path of own members and array positions, or undefined. For rules, which read unchecked
 * bodies.
 */
export function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (at, step) =>
      typeof at === "object" && at !== null ? Object.getOwnPropertyDescriptor(at, step)?.value : undefined,
    root,
  );
}

function faultsOf(issue: z.core.$ZodIssue, root: unknown): Fault[] {
  if (issue.code === "unrecognized_keys") return issue.keys.map((name) => unknownMember(issue.path, name));
  const path = wirePath(issue.path);
  const found = valueAt(root, issue.path);
  if (found === undefined) return [{ code: "Field.Missing", path, message: "This field is required." }];
  if (found === null) {
    return [{ code: "Field.Invalid", path, message: "Must not be null. Omit the field instead." }];
  }
  return [{ code: codeOf(issue), path, message: messageOf(issue) }];
}

/** A schema's own words for a value of another type or length. zod's begin otherwise. */
const OWN_WORDS = /^Must /;
const WORDS_OF_TYPE: Readonly<Record<string, string>> = {
  array: "a JSON array",
  boolean: "true or false",
  number: "a number",
  object: "a JSON object",
  record: "a JSON object",
  string: "a JSON string",
};

function codeOf(issue: z.core.$ZodIssue): FaultCode {
  if (issue.code === "too_small" && issue.origin === "array") return "Field.Missing";
  const own: FaultCode | undefined = issue.code === "custom" ? issue.params?.fault : undefined;
  return own ?? "Field.Invalid";
}

function messageOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return OWN_WORDS.test(issue.message)
        ? issue.message.replace(/^Must be /, issue.expected === "string" ? "Must be a JSON string: " : "$&")
        : `Must be ${WORDS_OF_TYPE[issue.expected] ?? "of another type"}.`;
    case "invalid_value":
      return `Must be one of: ${issue.values.map(String).join(", ")}.`;
    case "too_small":
      return OWN_WORDS.test(issue.message)
        ? issue.message
        : `Must have at least ${issue.minimum} element(s).`;
    case "too_big":
      return OWN_WORDS.test(issue.message) ? issue.message : `Must have at most ${issue.maximum} elements.`;
    case "custom":
      return issue.message; // written by `rejectedAs`
    default:
      return "Is not valid.";
  }
}

/** Reports an unknown member by its path, or by its object's path if its name cannot be shown. */
function unknownMember(parent: readonly PropertyKey[], name: string): Fault {
  const code = "Field.Unexpected";
  if (SHOWABLE_NAME.test(name)) {
    return { code, path: wirePath([...parent, name]), message: "This field is not known." };
  }
  const message = "Contains an unknown field.";
  return parent.length === 0 ? { code, message } : { code, path: wirePath(parent), message };
}

/** `Data.DebtorAccount[0].Identification` (contract EB1 to EB4). */
function wirePath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    return text === "" ? String(step) : `${text}.${String(step)}`;
  }, "");
}

/** In the order of code units of their paths, and array positions by number. */
function oneForEachPath(faults: readonly Fault[]): Fault[] {
  const byPlace = new Map<string, Fault>();
  for (const fault of faults) {
    const place = (fault.path ?? "").replace(/\d+/g, (digits) => digits.padStart(6, "0"));
    if (!byPlace.has(place)) byPlace.set(place, fault);
  }
  return [...byPlace.keys()].sort().flatMap((place) => byPlace.get(place) ?? []);
}

/**
 * @param decoder throws {ApiError} naming every faulty place
 */
export function decoded<T>(
  decoder: (json: unknown) => T,
): MiddlewareHandler<{ Variables: { json: unknown; request: T } }> {
  return async function decode(c, next) {
    c.set("request", decoder(c.get("json")));
    await next();
  };
}
