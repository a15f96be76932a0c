/**
 * Changes that need two administrators, if the deployment is configured so (contract DRC8). They extend what others may
 * do in a participant's name, or end it. A change that a participant's own people may make as well needs one person.
 */
import { type NamePair, pairFaults } from "../../base/values/variables.ts";

/** The names of the configuration. */
export const FOUR_EYES_NAMES = [
  "onboard",
  "statement",
  "certificates",
  "login",
  "activate",
  "suspend",
  "revoke",
] as const;
export type FourEyesName = typeof FOUR_EYES_NAMES[number];

/** In production without `DIRECTORY_FOUR_EYES`: what extends what others may do (Decision E8). */
const USUAL_FOUR_EYES: readonly FourEyesName[] = [
  "onboard",
  "statement",
  "certificates",
  "login",
  "activate",
];

/** One administrator alone must not get by another way what two have to decide (contract DRC13). */
const PAIRS: readonly NamePair<FourEyesName>[] = [
  ["certificates", "login"], // a login's person adds certificates alone
  ["revoke", "login"], // and revokes keys alone
  ["suspend", "activate"],
  ["suspend", "revoke"],
];

export interface FourEyesValues {
  readonly DIRECTORY_FOUR_EYES?: readonly FourEyesName[] | undefined;
  readonly DIRECTORY_ENVIRONMENT?: string | undefined;
}

export function fourEyesFaults({ DIRECTORY_FOUR_EYES: names = [] }: FourEyesValues): string[] {
  return pairFaults("DIRECTORY_FOUR_EYES", names, PAIRS);
}

export function fourEyesOf(
  { DIRECTORY_FOUR_EYES: names, DIRECTORY_ENVIRONMENT: environment }: FourEyesValues,
): readonly FourEyesName[] {
  return names ?? (environment === "Production" ? USUAL_FOUR_EYES : []);
}

/** The operation ids of the endpoints whose changes can need two administrators. */
export const PROPOSABLE = [
  "onboardParticipant",
  "issueStatement",
  "issueCertificates",
  "issueLogin",
  "revokeKey",
  "setSoftwareStatus",
  "setOrganisationStatus",
] as const;
export type Proposable = typeof PROPOSABLE[number];

const OF_STATUS: Readonly<Record<string, FourEyesName>> = {
  Active: "activate",
  Suspended: "suspend",
  Inactive: "suspend",
  Withdrawn: "revoke",
  Revoked: "revoke",
};

/** Whether the change needs two administrators. The endpoint has decoded its body. */
export function needsTwo(names: readonly FourEyesName[], change: Proposable, body: unknown): boolean {
  const name = fourEyesName(change, Object(body));
  return name !== undefined && names.includes(name);
}

function fourEyesName(change: Proposable, body: Readonly<Record<string, unknown>>): FourEyesName | undefined {
  switch (change) {
    case "onboardParticipant":
      return "onboard";
    case "issueStatement": // with the same details it says nothing new
      return Object.keys(body).length === 0 ? undefined : "statement";
    case "issueCertificates":
      return "certificates";
    case "issueLogin":
      return "login";
    case "revokeKey":
      return "revoke";
    default:
      return OF_STATUS[String(body["status"])];
  }
}
