/** Schemas of the directory's responses for its OpenAPI document. */
import { z } from "zod";
import { HAPPENINGS } from "../participants/history.ts";
import { PROPOSABLE } from "../changes/four_eyes.ts";
import { PROPOSAL_STATES } from "../changes/proposal.ts";
import { ORGANISATION_STATUSES, SOFTWARE_STATUSES } from "../participants/participant.ts";

const dateTime = z.iso.datetime();
const pem = z.string().meta({ description: "PEM." });
const unixSeconds = z.int().meta({ description: "Unix seconds." });

const identity = {
  org_id: z.string(),
  org_status: z.enum(ORGANISATION_STATUSES),
  software_client_id: z.string().meta({ description: "`SC-` and a UUID: the OAuth client_id." }),
  software_client_status: z.enum(SOFTWARE_STATUSES),
};
const publicMembers = { ...identity, org_name: z.string(), role: z.enum(["PISP", "ASPSP"]), since: dateTime };

/** Every participant. */
export const participantList = z.array(z.strictObject(publicMembers).meta({ id: "PublicParticipant" }));

/** The status list. */
export const statusList = z.strictObject({
  participants: z.array(z.strictObject({
    ...identity,
    version: z.int().meta({ description: "Grows with every change of keys, statuses and statements." }),
    statement_issued_at: unixSeconds.meta({ description: "Unix seconds; 0 before the first statement." }),
  })),
}).meta({ id: "StatusList" });

const certifiedJwk = {
  kty: z.literal("RSA"),
  use: z.enum(["sig", "tls", "enc"]),
  kid: z.string().meta({ description: "The certificate's x5t." }),
  alg: z.string().optional(),
  n: z.string(),
  e: z.string(),
  x5c: z.array(z.string()),
  x5t: z.string(),
  "x5t#S256": z.string(),
};

/** The active keys of a participant. */
export const participantKeys = z.strictObject({ keys: z.array(z.strictObject(certifiedJwk)) })
  .meta({ id: "ParticipantKeySet" });

/** The revoked keys of a participant. */
export const revokedKeys = z.strictObject({
  keys: z.array(z.strictObject({ ...certifiedJwk, revoked_at: dateTime, reason: z.string() })),
}).meta({ id: "RevokedKeySet" });

/** Keys that verify software statements. */
export const statementKeySet = z.strictObject({
  keys: z.array(z.strictObject({
    kty: z.literal("RSA"),
    use: z.literal("sig"),
    alg: z.literal("PS256"),
    kid: z.string().meta({ description: "RFC 7638 thumbprint." }),
    n: z.string(),
    e: z.string(),
  })),
}).meta({ id: "StatementKeySet" });

/** A software statement. */
export const statement = z.strictObject({
  software_statement: z.string().meta({ description: "A signed JWT (PS256)." }),
}).meta({ id: "Statement" });

/** PEM blocks. */
export const pemText = pem;

/** An HTML page. */
export const htmlPage = z.string();

/** The health response. */
export const healthy = z.strictObject({ status: z.literal("ok") });

const certificates = z.strictObject({ signing: pem, transport: pem, encryption: pem }).partial();

/** The result of an onboarding. */
export const onboarded = z.strictObject({
  org_id: z.string(),
  software_client_id: z.string(),
  software_statement: statement.shape.software_statement.optional(),
  jwks: participantKeys,
  certificates,
  ca: pem,
}).meta({ id: "Onboarded" });

/** New certificates, with all active keys. */
export const certificatesAdded = z.strictObject({ certificates, jwks: participantKeys, ca: pem })
  .meta({ id: "CertificatesAdded" });

/** A revoked key. */
export const revokedKey = z.strictObject({ kid: z.string(), revoked_at: dateTime, reason: z.string() })
  .meta({ id: "RevokedKey" });

/** The statuses after a change. */
export const statuses = z.strictObject(identity).meta({ id: "Statuses" });

/** Whether the directory is a restored copy that is not yet confirmed. */
export const restoredCopy = z.strictObject({ restored: z.boolean(), taken_at: dateTime.optional() })
  .meta({ id: "RestoredCopy" });

const certificationMembers = {
  certification_id: z.string(),
  certifier: z.string().meta({ description: "The certifier's address: `iss` of the report." }),
  suite: z.string().meta({ description: "Name and version of the suite." }),
  passed: z.boolean(),
  cases: z.int(),
  failed: z.int().meta({ description: "How many of the cases failed." }),
  issued_at: dateTime,
  received_at: dateTime,
};

/** A certification report in short. */
export const certification = z.strictObject(certificationMembers).meta({ id: "Certification" });

/** A certification report. */
export const certificationReport = z.strictObject({
  ...certificationMembers,
  report: z.string().meta({ description: "A signed JWT (PS256) of the certifier." }),
}).meta({ id: "CertificationReport" });

const loginMembers = {
  login_id: z.string(),
  name: z.string(),
  status: z.enum(["Active", "Revoked", "Expired"]),
  issued_at: dateTime,
  expires_at: dateTime,
  revoked_at: dateTime.optional(),
};

/** A login of a participant's person. */
export const login = z.strictObject(loginMembers).meta({ id: "Login" });

/** A new login with its token. */
export const issuedLogin = z.strictObject({
  ...loginMembers,
  token: z.string().meta({ description: "Shown once: the directory keeps its hash alone." }),
}).meta({ id: "IssuedLogin" });

/** The administrator's full record. */
export const participantRecord = z.strictObject({
  ...publicMembers,
  registration_number: z.string(),
  org_status_at: dateTime,
  contacts: z.array(z.strictObject({
    type: z.enum(["business", "technical"]),
    name: z.string(),
    email: z.string(),
    phone: z.string(),
  })),
  software: z.strictObject({
    client_name: z.string(),
    description: z.string(),
    version: z.string(),
    client_uri: z.string(),
    logo_uri: z.string(),
    redirect_uris: z.array(z.string()),
    status_at: dateTime,
    statement_issued_at: dateTime.optional().meta({ description: "Absent before the first statement." }),
  }),
  consent_managedby_bank: z.boolean().optional(),
  results_on_back_channel: z.boolean().optional(),
  payment_orders_uri: z.string().nullable().optional(),
  event_notification_uri: z.string().nullable().optional(),
  keys: z.array(z.strictObject({
    kid: z.string(),
    use: z.enum(["sig", "tls", "enc"]),
    status: z.enum(["Active", "Revoked", "Expired"]),
    not_before: dateTime,
    not_after: dateTime,
    revoked_at: dateTime.optional(),
    reason: z.string().optional(),
  })),
  certifications: z.array(certification).meta({ description: "The newest reports, newest first." }),
  logins: z.array(login).meta({ description: "Logins of the participant's people, newest first." }),
}).meta({ id: "Participant" });

/** A change that was proposed. */
export const proposal = z.strictObject({
  proposal_id: z.string(),
  state: z.enum([...PROPOSAL_STATES, "expired", "stale"]).meta({
    description: "`stale`: the participant has changed, so the change must be proposed again.",
  }),
  change: z.enum(PROPOSABLE).meta({ description: "The operation id of its endpoint." }),
  org_id: z.string().optional(),
  kid: z.string().optional(),
  body: z.unknown().meta({
    description: "What an approval sends. Text of another person: escape it before you show it.",
  }),
  proposed_by: z.string(),
  proposed_at: dateTime,
  expires_at: dateTime,
  decided_by: z.string().optional(),
  decided_at: dateTime.optional(),
  reason: z.string().optional().meta({ description: "Why it was approved, rejected or withdrawn." }),
}).meta({ id: "Proposal" });

/** A page of proposals. */
export const proposals = z.strictObject({
  proposals: z.array(proposal),
  after: z.string().optional().meta({ description: "Where the next page begins. Absent at the end." }),
}).meta({ id: "Proposals" });

/** An approved proposal with the answer to its change. */
export const approved = proposal.extend({
  result: z.looseObject({}).meta({ description: "The answer to the change." }),
}).meta({ id: "ApprovedProposal" });

const hash = (description: string) => z.string().regex(/^[A-Za-z0-9_-]{43}$/).meta({ description });

/** A page of a history, oldest first. */
export const history = z.strictObject({
  history: z.array(
    z.strictObject({
      sequence: z.int(),
      at: dateTime,
      who: z.string().meta({
        description: "The person whose credential the request had, or `<proposer> with <approver>`.",
      }),
      proposal_id: z.string().optional().meta({
        description: "Of a change that needed two administrators, or whose approval was refused.",
      }),
      approval_reason: z.string().optional(),
      what: z.enum(HAPPENINGS),
      reason: z.string().optional(),
      details: z.looseObject({}),
      previous_sha256: hash("The `sha256` of the entry before it. Absent in the first.").optional(),
      sha256: hash("SHA-256 of the other members in the form of RFC 8785, base64url."),
    }).meta({ id: "HistoryLine" }),
  ),
  is_intact: z.boolean().meta({
    description: "False if an entry was changed, removed or added in the database, or the history was cut.",
  }),
  after: z.string().optional().meta({ description: "Where the next page begins. Absent at the end." }),
}).meta({ id: "History" });
