/**
 * Changes that need two administrators, if the deployment is configured so (contract DRC8). They extend what others may
 * do in a participant's name, or end it. A change that a participant's own people may make as well needs one person.
 */

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
  const name = nameOf(change, Object(body));
  return name !== undefined && names.includes(name);
}

function nameOf(change: Proposable, body: Readonly<Record<string, unknown>>): FourEyesName | undefined {
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
