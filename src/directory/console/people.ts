/** Who may sign in to the directory's console, and what for. */
import type { Person } from "../../base/http/bearer.ts";
import type { Identified } from "../../base/http/credentials.ts";

/** The role of the directory's administrators at an OpenID provider. */
export const ADMINISTRATOR = "directory-administrator";

/** Names in histories. */
const SUBJECT = /^[\x21-\x7e]{1,128}$/;

/** The administrators of the list have tokens without roles, because each of them may do everything. */
export function asAdministrator({ name, ...found }: Identified): Identified {
  return name === undefined ? found : { ...found, name, roles: [ADMINISTRATOR] };
}

/** Returns the person of a provider's verified claims, or undefined if histories cannot name the subject. */
export function personOf(
  { issuer, rolesClaim }: { readonly issuer: string; readonly rolesClaim: string },
  claims: Readonly<Record<string, unknown>>,
): Person | undefined {
  const subject = claims["sub"];
  if (typeof subject !== "string" || !SUBJECT.test(subject)) return undefined;
  const claimed = claims[rolesClaim];
  const roles: readonly unknown[] = typeof claimed === "string"
    ? claimed.split(" ")
    : Array.isArray(claimed)
    ? claimed
    : [];
  return {
    name: `${subject}@${new URL(issuer).host}`,
    roles: roles.includes(ADMINISTRATOR) ? [ADMINISTRATOR] : [],
  };
}

/** Whether the person administers the directory. */
export function isAdministrator({ roles, organisation }: Person): boolean {
  return organisation === undefined && roles.includes(ADMINISTRATOR);
}
