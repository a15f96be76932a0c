/** The part of the configuration about operators: their list, their OpenID provider, the console. */

import { type NamePair, pairFaults } from "../../base/values/variables.ts";

/** The changes that can need two operators: those that cannot be undone, and those that lift a restriction. */
export const FOUR_EYES_NAMES = [
  "erase-case",
  "close-order",
  "release-restored",
  "revoke-tokens",
  "block-organisation",
  "block-software",
  "unblock-organisation",
  "unblock-software",
  "release-bank",
  "reconcile",
  "redrive",
] as const;
export type FourEyesChange = typeof FOUR_EYES_NAMES[number];

/** In production without `FOUR_EYES`: what extends what others may do (Decision O11). */
const USUAL_FOUR_EYES: readonly FourEyesChange[] = [
  "release-restored",
  "unblock-organisation",
  "unblock-software",
  "release-bank",
];

export function usualFourEyes(
  { ENVIRONMENT }: { readonly ENVIRONMENT: "Production" | "Sandbox" },
): readonly FourEyesChange[] {
  return ENVIRONMENT === "Production" ? USUAL_FOUR_EYES : [];
}

/** One operator alone must not undo what two have decided (contract FE7). */
const UNDONE_BY: readonly NamePair<FourEyesChange>[] = [
  ["block-organisation", "unblock-organisation"],
  ["block-software", "unblock-software"],
];

/** The OpenID provider of operators. */
export interface OidcSettings {
  readonly issuer: string;
  /** `aud` of their access tokens. */
  readonly audience: string;
  /** The claim with the roles: a list, or a text with spaces between them. */
  readonly rolesClaim: string;
  /** The claim with the organisation of a participant. Without it no participants are admitted. */
  readonly organisationClaim?: string;
  /** The console's registration at the provider. Without it operators do not sign in there. */
  readonly client?: { readonly id: string; readonly secret: string };
}

type Variables = Readonly<
  Partial<
    Record<
      | "OPERATORS"
      | "OPERATIONS_OIDC_ISSUER"
      | "OPERATIONS_OIDC_AUDIENCE"
      | "OPERATIONS_OIDC_ROLES"
      | "OPERATIONS_OIDC_ORGANISATION"
      | "OPERATIONS_OIDC_CLIENT_ID"
      | "OPERATIONS_OIDC_CLIENT_SECRET",
      string | undefined
    >
  > & {
    readonly OPERATIONS_PORT: number | undefined;
    readonly FOUR_EYES: readonly FourEyesChange[] | undefined;
  }
>;

export function oidcOf(values: Partial<Variables>): OidcSettings | undefined {
  const { OPERATIONS_OIDC_ISSUER: issuer, OPERATIONS_OIDC_AUDIENCE: audience } = values;
  const { OPERATIONS_OIDC_ROLES: rolesClaim = "roles" } = values;
  if (issuer === undefined || audience === undefined) return undefined;
  const { OPERATIONS_OIDC_CLIENT_ID: id, OPERATIONS_OIDC_CLIENT_SECRET: secret } = values;
  const client = id === undefined || secret === undefined ? {} : { client: { id, secret } };
  const { OPERATIONS_OIDC_ORGANISATION: claim } = values;
  const organisation = claim === undefined ? {} : { organisationClaim: claim };
  return Object.freeze({ issuer, audience, rolesClaim, ...organisation, ...client });
}

/** Variables that need others. */
export function operatorFaults(values: Partial<Variables>): string[] {
  const faults = pairFaults("FOUR_EYES", values.FOUR_EYES ?? [], UNDONE_BY);
  if ((values.OPERATIONS_OIDC_ISSUER === undefined) !== (values.OPERATIONS_OIDC_AUDIENCE === undefined)) {
    faults.push("OPERATIONS_OIDC_ISSUER and OPERATIONS_OIDC_AUDIENCE: set both, or neither");
  }
  const { OPERATIONS_OIDC_CLIENT_ID: id, OPERATIONS_OIDC_CLIENT_SECRET: secret } = values;
  if ((id === undefined) !== (secret === undefined)) {
    faults.push("OPERATIONS_OIDC_CLIENT_ID and OPERATIONS_OIDC_CLIENT_SECRET: set both, or neither");
  }
  if (id !== undefined && values.OPERATIONS_OIDC_ISSUER === undefined) {
    faults.push("OPERATIONS_OIDC_CLIENT_ID: set OPERATIONS_OIDC_ISSUER too, where the client is registered");
  }
  if (values.OPERATORS !== undefined && values.OPERATIONS_PORT === undefined) {
    faults.push("OPERATORS: set OPERATIONS_PORT too, the port on which operators are answered");
  }
  return faults;
}
