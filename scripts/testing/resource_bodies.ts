/** Bodies of the resource endpoints with every member, fit for the time of a test environment. */
import { FULL } from "./bodies.ts";
import type { JsonObject } from "./jwts.ts";

/** A consent request with every member. Its debtor account makes it implicit, and has a Name. */
export const FULL_CONSENT = {
  ...FULL,
  Data: {
    ...FULL.Data,
    Authorisation: { AuthorisationType: "Single", CompletionDateTime: "2040-01-16T10:30:00+02:00" },
  },
};

/** A copy of an object without some of its members. */
export function omitting(value: JsonObject, ...names: string[]): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
}

/** The paths of a body's leaves: `Data.Initiation.CreditorPostalAddress.AddressLine[0]`. */
export function leavesOf(value: unknown, path = ""): string[] {
  if (Array.isArray(value)) return value.flatMap((item, i) => leavesOf(item, `${path}[${i}]`));
  if (typeof value !== "object" || value === null) return [path];
  return Object.entries(value).flatMap(([name, member]) =>
    leavesOf(member, path === "" ? name : `${path}.${name}`)
  );
}

/** The value with the members of each object in the opposite order. */
export function reverseMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reverseMembers);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).reverse().map(([name, member]) => [name, reverseMembers(member)]),
  );
}
