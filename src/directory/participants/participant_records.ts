/** The records of participants. None expires: a trust root must be able to prove its past statements. */
import { z } from "zod";
import {
  clientId,
  count,
  defineRecord,
  flag,
  instant,
  optional,
  text,
  texts,
} from "../../base/store/record.ts";
import type { CertifiedKey } from "./certified_key.ts";
import { asOrgId, type OrgId } from "./identifiers.ts";
import { ORGANISATION_STATUSES, type Participant, SOFTWARE_STATUSES } from "./participant.ts";

const KEPT = "Kept.";
const orgId = z.custom<OrgId>((value) => asOrgId(value) !== undefined);

const software = z.looseObject({
  clientName: text,
  description: text,
  version: text,
  clientUri: text,
  logoUri: text,
  redirectUris: texts,
  consentManagedByBank: flag,
  resultsOnBackChannel: flag,
  paymentOrdersUri: optional(text),
  eventNotificationUri: optional(text),
  clientId,
  status: z.enum(SOFTWARE_STATUSES),
  statusAt: instant,
  statementIat: count,
});

const certification = z.looseObject({
  id: text,
  certifier: text,
  kid: text,
  suite: text,
  passed: flag,
  cases: count,
  failed: count,
  issuedAt: instant,
  receivedAt: instant,
});

const login = z.looseObject({
  id: text,
  name: text,
  tokenSha256: text,
  issuedAt: instant,
  expiresAt: instant,
  revokedAt: optional(instant),
});

export const participantRecord = defineRecord<Participant>({
  name: "directory participant",
  keyParts: ["org_id, lower case"],
  what: "An organisation, its software client and its contacts.",
  schema: z.looseObject({
    orgId,
    orgName: text,
    registrationNumber: text,
    role: z.enum(["PISP", "ASPSP"]),
    contacts: z.array(
      z.looseObject({ type: z.enum(["business", "technical"]), name: text, email: text, phone: text }),
    ),
    since: instant,
    status: z.enum(ORGANISATION_STATUSES),
    statusAt: instant,
    software,
    historyLength: count,
    historySha256: optional(text),
    certifications: optional(z.array(certification)),
    logins: optional(z.array(login)),
  }),
  version: 1,
  lifetime: KEPT,
  personalData: "participant",
  retention: "register",
  restore: "kept",
});

export const participantsChangedRecord = defineRecord<number>({
  name: "directory participants_changed",
  keyParts: [],
  what: "The time of the last change of any participant. Its version shows whether any has changed.",
  schema: instant,
  version: 1,
  lifetime: KEPT,
  personalData: "none",
  retention: "register",
  restore: "kept",
});

export const certifiedKeyRecord = defineRecord<CertifiedKey>({
  name: "directory certified_key",
  keyParts: ["org_id, lower case", "kid"],
  what: "A certified public key of a participant, with its certificate.",
  schema: z.looseObject({
    kid: text,
    use: z.enum(["sig", "tls", "enc"]),
    n: text,
    e: text,
    certificate: text,
    x5tS256: text,
    thumbprint: text,
    issuedAt: instant,
    notBefore: instant,
    notAfter: instant,
    revoked: optional(z.looseObject({ at: instant, reason: text })),
  }),
  version: 1,
  lifetime: KEPT,
  personalData: "participant",
  retention: "register",
  restore: "kept",
});

export const knownKeyRecord = defineRecord<{ readonly orgId: OrgId; readonly kid: string }>({
  name: "directory known_key",
  keyParts: ["RFC 7638 thumbprint"],
  what: "The owner of a public key that was ever certified.",
  schema: z.looseObject({ orgId, kid: text }),
  version: 1,
  lifetime: KEPT,
  personalData: "participant",
  retention: "register",
  restore: "kept",
});

export const certificationReportRecord = defineRecord<{ readonly report: string }>({
  name: "directory certification_report",
  keyParts: ["org_id, lower case", "hash of the report's iss and jti"],
  what: "A certification report of a participant, as its certifier signed it.",
  schema: z.looseObject({ report: text }),
  version: 1,
  lifetime: "Removed when newer reports take its place.",
  personalData: "participant",
  retention: "register",
  restore: "kept",
});
