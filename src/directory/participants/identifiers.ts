/** Formats and generators of the directory's identifiers. */
import { asClientId, type ClientId } from "../../base/kernel/identifiers.ts";

declare const brand: unique symbol;

/** Id of an organisation. A bank's is its bank code (Decision A4). */
export type OrgId = string & { readonly [brand]: "OrgId" };

const ORG_ID = /^[A-Za-z0-9_-]{2,32}$/; // Decision A4, for every role: it is a path segment
const KID = /^[A-Za-z0-9_-]{27}$/; // base64url of 20 octets (Decision E4)

/** The value as an org_id, or undefined if it is not valid. */
export function asOrgId(value: unknown): OrgId | undefined {
  return typeof value === "string" && ORG_ID.test(value) ? value as OrgId : undefined;
}

/** Returns whether the value has the form of a key's kid, an x5t (Decision E4). */
export function isKid(value: string): boolean {
  return KID.test(value);
}

/** A new org_id for a third party that supplied none. 80 random bits. */
export function newOrgId(): OrgId {
  const random = crypto.getRandomValues(new Uint8Array(10));
  return `ORG-${random.toHex()}` as OrgId;
}

/** A new `SC-<UUID>` (contract SS2). */
export function newSoftwareClientId(): ClientId {
  const id = asClientId(`SC-${crypto.randomUUID()}`);
  if (id === undefined) throw new Error("a UUID without the form of a UUID");
  return id;
}
