/** Who may sign in to the directory's console, and what for. */
import type { Person } from "../../base/http/bearer.ts";
import type { Identified } from "../../base/http/credentials.ts";
import { SIGN_OUT_PATH } from "../../console/paths.ts";
import { asOrgId } from "../participants/identifiers.ts";
import { PARTICIPANT } from "../participants/login.ts";

/** The role of the directory's administrators at an OpenID provider. */
export const ADMINISTRATOR = "directory-administrator";

/** Names in histories. */
const SUBJECT = /^[\x21-\x7e]{1,128}$/;

/** The administrators of the list have tokens without roles, because each of them may do everything. */
export function asAdministrator({ name, ...found }: Identified): Identified {
  return name === undefined ? found : { ...found, name, roles: [ADMINISTRATOR] };
}

/** The claims of a provider that name roles and organisation. */
export interface PersonClaims {
  readonly issuer: string;
  readonly rolesClaim: string;
  /** The claim with the org_id of a participant's person. Absent: the provider has no such people. */
  readonly organisationClaim?: string | undefined;
}

/**
 * Returns the person of a provider's verified claims, or undefined if histories cannot name the subject. A person with
 * the role of participants has no other role, and none without an organisation. Who has the claim of an organisation is
 * never an administrator.
 */
export function personOf(
  { issuer, rolesClaim, organisationClaim }: PersonClaims,
  claims: Readonly<Record<string, unknown>>,
): Person | undefined {
  const subject = claims["sub"];
  if (typeof subject !== "string" || !SUBJECT.test(subject)) return undefined;
  const name = `${subject}@${new URL(issuer).host}`;
  const claimed = claims[rolesClaim];
  const roles: readonly unknown[] = typeof claimed === "string"
    ? claimed.split(" ")
    : Array.isArray(claimed)
    ? claimed
    : [];
  const isParticipant = roles.includes(PARTICIPANT);
  const organisation = organisationClaim === undefined ? undefined : claims[organisationClaim];
  if (organisation === undefined && (organisationClaim === undefined || !isParticipant)) {
    return { name, roles: roles.includes(ADMINISTRATOR) ? [ADMINISTRATOR] : [], person: name };
  }
  const orgId = isParticipant ? asOrgId(organisation) : undefined;
  return orgId === undefined ? { name, roles: [] } : { name, roles: [PARTICIPANT], organisation: orgId };
}

/** The first page of a participant's people. */
export const OWN_PATH = "/console/own";

/** The page of what people attempted. */
export const PEOPLE_PATH = "/console/people";

/** Whether the person may open the page, such as `GET /console/own`. */
export function mayOpen({ roles, organisation }: Person, page: string): boolean {
  const path = page.slice(page.indexOf(" ") + 1);
  if (path === SIGN_OUT_PATH) return true;
  const isOwn = path === OWN_PATH || path.startsWith(`${OWN_PATH}/`);
  if (organisation !== undefined) return isOwn && roles.includes(PARTICIPANT);
  return !isOwn && roles.includes(ADMINISTRATOR);
}

/**
 * Whether the person may send the request to the administrators' endpoints: a participant's person only reads the own
 * participant, adds certificates, renews the statement as it is, and revokes keys.
 */
export function mayCall({ organisation }: Person, { method, url }: Pick<Request, "method" | "url">): boolean {
  if (organisation === undefined) return true;
  const { pathname } = new URL(url);
  const own = `/participants/${organisation}`;
  if (method === "GET") return pathname === own;
  if (method !== "POST" || !pathname.startsWith(`${own}/`)) return false;
  return /^\/(certificates|statement|keys\/[A-Za-z0-9_-]{27}\/revoke)$/.test(pathname.slice(own.length));
}
