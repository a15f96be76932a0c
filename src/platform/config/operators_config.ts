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

/** In production without `PLATFORM_FOUR_EYES`: what extends what others may do (Decision O11). */
const USUAL_FOUR_EYES: readonly FourEyesChange[] = [
  "release-restored",
  "unblock-organisation",
  "unblock-software",
  "release-bank",
];

export function usualFourEyes(
  { PLATFORM_ENVIRONMENT: environment }: { readonly PLATFORM_ENVIRONMENT: "Production" | "Sandbox" },
): readonly FourEyesChange[] {
  return environment === "Production" ? USUAL_FOUR_EYES : [];
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
  readonly client?: {
    readonly id: string;
    readonly secret: string;
    /** `acr` of an authentication that may make changes. Without them every one may. */
    readonly acrValues?: readonly string[];
  };
}

type Variables = Readonly<
  Partial<
    Record<
      | "PLATFORM_OPERATORS"
      | "PLATFORM_OPERATIONS_OIDC_ISSUER"
      | "PLATFORM_OPERATIONS_OIDC_AUDIENCE"
      | "PLATFORM_OPERATIONS_OIDC_ROLES"
      | "PLATFORM_OPERATIONS_OIDC_ORGANISATION"
      | "PLATFORM_OPERATIONS_OIDC_CLIENT_ID"
      | "PLATFORM_OPERATIONS_OIDC_CLIENT_SECRET",
      string | undefined
    >
  > & {
    readonly PLATFORM_OPERATIONS_OIDC_ACR_VALUES?: readonly string[] | undefined;
    readonly PLATFORM_OPERATIONS_PORT: number | undefined;
    readonly PLATFORM_FOUR_EYES: readonly FourEyesChange[] | undefined;
  }
>;

export function oidcOf(values: Partial<Variables>): OidcSettings | undefined {
  const { PLATFORM_OPERATIONS_OIDC_ISSUER: issuer, PLATFORM_OPERATIONS_OIDC_AUDIENCE: audience } = values;
  const { PLATFORM_OPERATIONS_OIDC_ROLES: rolesClaim = "roles" } = values;
  if (issuer === undefined || audience === undefined) return undefined;
  const { PLATFORM_OPERATIONS_OIDC_CLIENT_ID: id, PLATFORM_OPERATIONS_OIDC_CLIENT_SECRET: secret } = values;
  const { PLATFORM_OPERATIONS_OIDC_ACR_VALUES: acrValues } = values;
  const acr = acrValues === undefined ? {} : { acrValues };
  const client = id === undefined || secret === undefined ? {} : { client: { id, secret, ...acr } };
  const { PLATFORM_OPERATIONS_OIDC_ORGANISATION: claim } = values;
  const organisation = claim === undefined ? {} : { organisationClaim: claim };
  return Object.freeze({ issuer, audience, rolesClaim, ...organisation, ...client });
}

/** Variables that need others. */
export function operatorFaults(values: Partial<Variables>): string[] {
  const faults = pairFaults("PLATFORM_FOUR_EYES", values.PLATFORM_FOUR_EYES ?? [], UNDONE_BY);
  if (
    (values.PLATFORM_OPERATIONS_OIDC_ISSUER === undefined) !==
      (values.PLATFORM_OPERATIONS_OIDC_AUDIENCE === undefined)
  ) {
    faults.push(
      "PLATFORM_OPERATIONS_OIDC_ISSUER and PLATFORM_OPERATIONS_OIDC_AUDIENCE: set both, or neither",
    );
  }
  const { PLATFORM_OPERATIONS_OIDC_CLIENT_ID: id, PLATFORM_OPERATIONS_OIDC_CLIENT_SECRET: secret } = values;
  if ((id === undefined) !== (secret === undefined)) {
    faults.push(
      "PLATFORM_OPERATIONS_OIDC_CLIENT_ID and PLATFORM_OPERATIONS_OIDC_CLIENT_SECRET: set both, or neither",
    );
  }
  if (values.PLATFORM_OPERATIONS_OIDC_ACR_VALUES !== undefined && id === undefined) {
    faults.push("PLATFORM_OPERATIONS_OIDC_ACR_VALUES: set PLATFORM_OPERATIONS_OIDC_CLIENT_ID too");
  }
  if (id !== undefined && values.PLATFORM_OPERATIONS_OIDC_ISSUER === undefined) {
    faults.push(
      "PLATFORM_OPERATIONS_OIDC_CLIENT_ID: set PLATFORM_OPERATIONS_OIDC_ISSUER too, where the client is registered",
    );
  }
  if (values.PLATFORM_OPERATORS !== undefined && values.PLATFORM_OPERATIONS_PORT === undefined) {
    faults.push(
      "PLATFORM_OPERATORS: set PLATFORM_OPERATIONS_PORT too, the port on which operators are answered",
    );
  }
  return faults;
}
