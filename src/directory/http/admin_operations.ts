/** Descriptions of the administrators' endpoints for the OpenAPI document. */
import { z } from "zod";
import {
  certificatesAdded,
  certification,
  certificationReport,
  history,
  issuedLogin,
  login,
  onboarded,
  participantRecord,
  restoredCopy,
  revokedKey,
  statement,
  statuses,
} from "./answer_schema.ts";
import {
  certificationBody,
  loginBody,
  organisationStatusBody,
  revocationBody,
  signingRequestsBody,
  softwareChangesBody,
  softwareStatusBody,
} from "./change_schema.ts";
import { operation } from "./endpoint.ts";
import { onboardingBody, type OnboardingRules } from "./onboarding_schema.ts";
import { oncePerRules } from "../participants/web_address.ts";

const JSON_TYPE = "application/json";
const ONE = "/participants/{org_id}";

const HISTORY = {
  query: { after: z.string().meta({ description: "The `after` of an earlier page." }) },
  answer: "At most 200 entries",
  content: { [JSON_TYPE]: history },
};

const onboardingAndReading = (rules: OnboardingRules) => ({
  onboard: operation(true, {
    id: "onboardParticipant",
    isProposable: true,
    method: "post",
    path: "/participants",
    summary: "Onboard a participant",
    description:
      "Certifies the keys of the signing requests and issues the first software statement. Nothing is written if any part is rejected.",
    body: onboardingBody(rules),
    status: 201,
    answer: "Onboarded",
    content: { [JSON_TYPE]: onboarded },
    errors: [409],
  }),
  show: operation(true, {
    id: "getParticipant",
    method: "get",
    path: ONE,
    summary: "Everything about a participant",
    description: "Registered data, contacts, both statuses and all certificates.",
    answer: "The record, with contacts and every key ever certified",
    content: { [JSON_TYPE]: participantRecord },
  }),
  history: operation(true, {
    id: "getHistory",
    method: "get",
    path: `${ONE}/history`,
    summary: "Who changed a participant, when and why",
    description:
      "Oldest first. Each entry names the administrator of the credential that made the change. Go on with `after` from the `after` of a page.",
    ...HISTORY,
  }),
  peopleHistory: operation(true, {
    id: "getPeopleHistory",
    method: "get",
    path: "/people/history",
    summary: "Who signed in, opened a forbidden page, or had an approval refused",
    description: "Administrators and participants' people, oldest first.",
    ...HISTORY,
  }),
});

const issuing = (rules: OnboardingRules) => ({
  issueStatement: operation(true, {
    id: "issueStatement",
    isProposable: true,
    method: "post",
    path: `${ONE}/statement`,
    summary: "Issue a newer software statement",
    description:
      "With changed software members if the body has some; members that only banks have are rejected for TPPs.",
    body: softwareChangesBody(rules),
    bodyIsOptional: true,
    answer: "The statement",
    content: { [JSON_TYPE]: statement },
    errors: [409],
  }),
  issueCertificates: operation(true, {
    id: "issueCertificates",
    isProposable: true,
    method: "post",
    path: `${ONE}/certificates`,
    summary: "Certify new keys beside the old ones",
    description: "The old keys stay trusted until they are revoked or their certificates expire.",
    body: signingRequestsBody,
    status: 201,
    answer: "The certificates, and every key that may be trusted from now on",
    content: { [JSON_TYPE]: certificatesAdded },
    errors: [409],
  }),
});

const CERTIFYING = {
  certify: operation(true, {
    id: "recordCertification",
    method: "post",
    path: `${ONE}/certifications`,
    summary: "Record a certification report",
    description:
      "A configured certifier must have signed it about this participant. The same report again changes nothing.",
    body: certificationBody,
    status: 201,
    answer: "The report in short",
    content: { [JSON_TYPE]: certification },
    errors: [409],
  }),
  showReport: operation(true, {
    id: "getCertificationReport",
    method: "get",
    path: `${ONE}/certifications/{certification_id}`,
    summary: "A certification report",
    description: "As its certifier signed it. Reports that have left the ten newest are gone.",
    answer: "The report as its certifier signed it, and in short",
    content: { [JSON_TYPE]: certificationReport },
  }),
};

const LOGINS = {
  issueLogin: operation(true, {
    id: "issueLogin",
    isProposable: true,
    method: "post",
    path: `${ONE}/logins`,
    summary: "Issue a login for a participant's person",
    description:
      "The person signs in to the console with the token, for 90 days, and acts for the participant alone.",
    body: loginBody,
    status: 201,
    answer: "The login and its token, which is shown once",
    content: { [JSON_TYPE]: issuedLogin },
    errors: [409],
  }),
  revokeLogin: operation(true, {
    id: "revokeLogin",
    method: "post",
    path: `${ONE}/logins/{login_id}/revoke`,
    summary: "Revoke a login",
    description: "Its sessions end with their next request. Revoking a login again changes nothing.",
    body: revocationBody,
    answer: "The login, with the time of its first revocation",
    content: { [JSON_TYPE]: login },
    errors: [409],
  }),
};

const REVOKING = {
  revokeKey: operation(true, {
    id: "revokeKey",
    isProposable: true,
    method: "post",
    path: `${ONE}/keys/{kid}/revoke`,
    summary: "Revoke a key permanently",
    description: "The reason is published. Revoking a key again changes nothing.",
    body: revocationBody,
    answer: "The key, with the time and the reason of its first revocation",
    content: { [JSON_TYPE]: revokedKey },
    errors: [409],
  }),
  setSoftwareStatus: operation(true, {
    id: "setSoftwareStatus",
    isProposable: true,
    method: "put",
    path: `${ONE}/software/status`,
    summary: "Set the status of a participant's software",
    description: "Revoked is final.",
    body: softwareStatusBody,
    answer: "Both statuses",
    content: { [JSON_TYPE]: statuses },
    errors: [409],
  }),
  setOrganisationStatus: operation(true, {
    id: "setOrganisationStatus",
    isProposable: true,
    method: "put",
    path: `${ONE}/status`,
    summary: "Set the status of an organisation",
    description:
      "The software follows: Suspended makes it Inactive, Withdrawn makes it Revoked. Withdrawn is final.",
    body: organisationStatusBody,
    answer: "Both statuses",
    content: { [JSON_TYPE]: statuses },
    errors: [409],
  }),
};

const RESTORING = {
  showRestored: operation(true, {
    id: "getRestored",
    method: "get",
    path: "/restored",
    summary: "Whether this is a restored copy that is not confirmed",
    description: "Until it is confirmed, the directory publishes nothing.",
    answer: "Whether it is, and when the copy was taken",
    content: { [JSON_TYPE]: restoredCopy },
  }),
  confirmRestored: operation(true, {
    id: "confirmRestored",
    method: "post",
    path: "/restored/confirm",
    summary: "Publish again after a restore",
    description:
      "After every revocation, suspension and withdrawal since the copy was taken has been repeated.",
    answer: "Confirmed",
    content: { [JSON_TYPE]: restoredCopy },
  }),
};

/** One description per endpoint. */
export type AdminOperations =
  & ReturnType<typeof onboardingAndReading>
  & ReturnType<typeof issuing>
  & typeof CERTIFYING
  & typeof LOGINS
  & typeof REVOKING
  & typeof RESTORING;

/** The endpoints of a directory with these rules. */
export const adminOperations = oncePerRules((rules: OnboardingRules): AdminOperations => ({
  ...onboardingAndReading(rules),
  ...issuing(rules),
  ...CERTIFYING,
  ...LOGINS,
  ...REVOKING,
  ...RESTORING,
}));
