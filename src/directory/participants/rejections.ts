/** Errors of requests to the directory: faults that the sender can correct, and conflicts. They never quote a value. */
import type { z } from "zod";
import { ApiError } from "../../base/kernel/api_error.ts";

const MAX_FAULTS = 40;
const PLAIN_NAME = /^[A-Za-z0-9_.-]{1,64}$/;

/** An error that lists each problem as `place: what it must be`. */
export function invalidRequest(faults: readonly string[]): ApiError {
  const shown = faults.slice(0, MAX_FAULTS);
  const rest = faults.length - shown.length;
  const description = rest === 0 ? shown.join("; ") : `${shown.join("; ")}; and ${rest} more`;
  return new ApiError("directory.invalid_request", { description, detail: description });
}

/**
 * @param part in front of the name of each member
 * @throws {ApiError} `directory.invalid_request` with the problems that the schema finds, in its order
 */
export function decode<T>(schema: z.ZodType<T>, value: unknown, part = ""): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalidRequest(
    parsed.error.issues.map((issue) =>
      `${part}${issue.path.map(String).join(".") || "body"}: ${words(issue)}`
    ),
  );
}

function words(issue: z.core.$ZodIssue): string {
  if (issue.code === "unrecognized_keys") return unknownMembers(issue.keys);
  return issue.code === "invalid_type" && issue.expected === "object" ? "must be an object" : issue.message;
}

// Unknown names are the only text of the sender in a response, and only if they are plain.
function unknownMembers(names: readonly string[]): string {
  const plain = names.filter((name) => PLAIN_NAME.test(name)).slice(0, MAX_FAULTS);
  return plain.length === 0 ? "has unknown members" : `has unknown members (${plain.join(", ")})`;
}

/** A change that the present state does not allow, or that another one has overtaken. */
export function conflict(description: string): ApiError {
  return new ApiError("directory.conflict", { description });
}
