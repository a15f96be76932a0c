/**
 * Every key of the directory in its store, with the type of its value. Only proposals and reminders expire: a trust root must be
 * able to prove its past statements. All keys begin with "directory", so that other parts may share the store.
 */
import type { Key } from "../../base/store/store.ts";
import type { OrgId } from "./identifiers.ts";

const ROOT = "directory";

/** Prefix of all participants. */
export const PARTICIPANTS: Key = [ROOT, "participant"];

/** A participant (`participant.ts`). Lower case, so that org_ids are unique regardless of case. */
export const participantKey = (orgId: OrgId): Key => [...PARTICIPANTS, orgId.toLowerCase()];

/** Written with every change of a participant, so that its version shows whether any participant has changed. */
export const PARTICIPANTS_CHANGED: Key = [ROOT, "participants_changed"];

/** Prefix of a participant's certified keys. */
export const certifiedKeysOf = (orgId: OrgId): Key => [ROOT, "certified_key", orgId.toLowerCase()];

/** A certified key of a participant (`certified_key.ts`), by kid. Written under the participant's version. */
export const certifiedKeyKey = (orgId: OrgId, kid: string): Key => [...certifiedKeysOf(orgId), kid];

/** Owner of every public key that was ever certified, by RFC 7638 thumbprint. Never removed. */
export const knownKeyKey = (thumbprint: string): Key => [ROOT, "known_key", thumbprint];

/** A certification report of a participant, by its id (`certification.ts`). Written under the participant's version. */
export const certificationReportKey = (orgId: OrgId, id: string): Key => [
  ROOT,
  "certification_report",
  orgId.toLowerCase(),
  id,
];

/** Prefix of proposed changes (`proposal.ts`), by their ids. Deleted after 30 days. */
export const PROPOSALS: Key = [ROOT, "proposal"];

/** The proposals that can be approved now. Written with every change of a proposal. */
export const OPEN_PROPOSALS: Key = [ROOT, "open_proposals"];

/** Whether a mail about something that ends was sent (`reminders`). Deleted 30 days after the end. */
export const reminderKey = (orgId: OrgId, ending: string, days: number): Key => [
  ROOT,
  "reminder",
  orgId.toLowerCase(),
  ending,
  String(days),
];

/** The history of what people attempt. No org_id has this form. */
export const PEOPLE = "@people";
/** Whose history: a participant's, or the one of what people attempt. */
export type HistorySubject = OrgId | typeof PEOPLE;

/** Length and newest hash of the history of what people attempt. A participant has those of its own. */
export const PEOPLE_HEAD: Key = [ROOT, "people_head"];

/** Prefix of a history. */
export const historyOf = (subject: HistorySubject): Key => [ROOT, "history", subject.toLowerCase()];

/** One entry of a history (`history.ts`), by its number: append-only. */
export const historyKey = (subject: HistorySubject, sequence: number): Key => [
  ...historyOf(subject),
  String(sequence).padStart(10, "0"),
];
