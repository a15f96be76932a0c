/** The part of the configuration about operators: their list, their OpenID provider, the console. */

import { type NamePair, pairFaults } from "../../base/values/variables.ts";
import type { FourEyesChange, Values } from "./config_variables.ts";

/** In production without `PLATFORM_FOUR_EYES`: what extends what others may do (Decision O11). */
const USUAL_FOUR_EYES: readonly FourEyesChange[] = [
  "release-restored",
  "unblock-organisation",
  "unblock-software",
  "release-bank",
];

export function usualFourEyes({ environment }: Pick<Values, "environment">): readonly FourEyesChange[] {
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

export function readOidcSettings(
  {
    operationsOidcIssuer: issuer,
    operationsOidcAudience: audience,
    operationsOidcRoles: rolesClaim,
    operationsOidcOrganisation: organisationClaim,
    operationsOidcClientId: id,
    operationsOidcClientSecret: secret,
    operationsOidcAcrValues: acrValues,
  }: Values,
): OidcSettings | undefined {
  if (issuer === undefined || audience === undefined) return undefined;
  const acr = acrValues === undefined ? {} : { acrValues };
  const client = id === undefined || secret === undefined ? {} : { client: { id, secret, ...acr } };
  const organisation = organisationClaim === undefined ? {} : { organisationClaim };
  return Object.freeze({ issuer, audience, rolesClaim, ...organisation, ...client });
}

/** Variables that need others. */
export function operatorFaults(values: Partial<Values>): string[] {
  const { operationsOidcIssuer: issuer, operationsOidcClientId: id } = values;
  const faults = pairFaults("PLATFORM_FOUR_EYES", values.fourEyes ?? [], UNDONE_BY);
  if ((issuer === undefined) !== (values.operationsOidcAudience === undefined)) {
    faults.push(
      "PLATFORM_OPERATIONS_OIDC_ISSUER and PLATFORM_OPERATIONS_OIDC_AUDIENCE: set both, or neither",
    );
  }
  if ((id === undefined) !== (values.operationsOidcClientSecret === undefined)) {
    faults.push(
      "PLATFORM_OPERATIONS_OIDC_CLIENT_ID and PLATFORM_OPERATIONS_OIDC_CLIENT_SECRET: set both, or neither",
    );
  }
  if (values.operationsOidcAcrValues !== undefined && id === undefined) {
    faults.push("PLATFORM_OPERATIONS_OIDC_ACR_VALUES: set PLATFORM_OPERATIONS_OIDC_CLIENT_ID too");
  }
  if (id !== undefined && issuer === undefined) {
    faults.push(
      "PLATFORM_OPERATIONS_OIDC_CLIENT_ID: set PLATFORM_OPERATIONS_OIDC_ISSUER too, where the client is registered",
    );
  }
  if (values.operators !== undefined && values.operationsPort === undefined) {
    faults.push(
      "PLATFORM_OPERATORS: set PLATFORM_OPERATIONS_PORT too, the port on which operators are answered",
    );
  }
  return faults;
}
