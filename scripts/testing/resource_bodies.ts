/** Bodies of the resource endpoints with every member, fit for the time of a test environment. */
import { FULL_INITIATION, FULL_RISK } from "./bodies.ts";
import type { JsonObject } from "./jwts.ts";

/** A consent request with every member. Its debtor account makes it implicit, and has a Name. */
export const FULL_CONSENT = {
  Data: {
    ReadRefundAccount: "Yes",
    Authorisation: { AuthorisationType: "Single", CompletionDateTime: "2040-01-16T10:30:00+02:00" },
    Initiation: FULL_INITIATION,
    SCASupportData: {
      RequestedSCAExemptionType: "EcommerceGoods",
      AppliedAuthenticationApproach: "SCA",
      ReferencePaymentOrderId: "58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11",
    },
  },
  Risk: FULL_RISK,
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
