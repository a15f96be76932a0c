/** Reads and stages participants, their keys and their histories. The participant's version guards all of them. */
import { z } from "zod";
import {
  clientId,
  count,
  defineRecord,
  flag,
  instant,
  optional,
  type StoredRecord,
  text,
  texts,
} from "../../base/store/record.ts";
import { piecesBelow } from "../../base/store/page.ts";
import type { Entry, Key, Reader, Store } from "../../base/store/store.ts";
import { check, remove, type Transaction } from "../../base/store/transaction.ts";
import type { CertifiedKey } from "./certified_key.ts";
import { type Happened, type HistoryHead, stageHistory } from "./history_store.ts";
import { asOrgId, type OrgId } from "./identifiers.ts";
import { ORGANISATION_STATUSES, type Participant, SOFTWARE_STATUSES } from "./participant.ts";

/** No record of a participant expires: a trust root must be able to prove its past statements. */
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

const ROOT = "directory"; // of all keys, so that other parts may share the store
const PARTICIPANTS: Key = [ROOT, "participant"];
/** Lower case, so that org_ids are unique regardless of case. */
const participantKey = (orgId: OrgId): Key => [...PARTICIPANTS, orgId.toLowerCase()];
/** Written with every change of a participant, so that its version shows whether any participant has changed. */
const PARTICIPANTS_CHANGED: Key = [ROOT, "participants_changed"];
const certifiedKeysPrefix = (orgId: OrgId): Key => [ROOT, "certified_key", orgId.toLowerCase()];
/** Written under the participant's version. */
const certifiedKeyKey = (orgId: OrgId, kid: string): Key => [...certifiedKeysPrefix(orgId), kid];
/** By RFC 7638 thumbprint. Never removed. */
const knownKeyKey = (thumbprint: string): Key => [ROOT, "known_key", thumbprint];
/** Written under the participant's version. */
const reportKey = (orgId: OrgId, id: string): Key => [
  ROOT,
  "certification_report",
  orgId.toLowerCase(),
  id,
];

const PAGE = 100;

/** A report that is new, and the ids of those that leave. */
export interface ChangedReports {
  readonly added: { readonly id: string; readonly report: string };
  readonly removed: readonly string[];
}

/** The participant with exactly this org_id (case-sensitive), or null. */
export async function findParticipant(from: Reader, orgId: OrgId): Promise<Entry<Participant> | null> {
  const entry = await participantRecord.get(from, participantKey(orgId));
  return entry?.value.orgId === orgId ? entry : null;
}

/** Returns whether the org_id is taken, ignoring case. */
export async function isOrgIdTaken(store: Store, orgId: OrgId): Promise<boolean> {
  return await store.get(participantKey(orgId)) !== null;
}

/** Every participant, by org_id. */
export function listParticipants(store: Store): Promise<Participant[]> {
  return listAll(store, participantRecord, PARTICIPANTS);
}

/** Opaque; changes with every change of any participant. */
export async function participantsVersion(store: Store): Promise<string> {
  return (await store.get(PARTICIPANTS_CHANGED))?.version ?? "none since this key exists";
}

/** Every key ever certified for a participant, including revoked and expired ones. */
export function listKeys(store: Store, orgId: OrgId): Promise<CertifiedKey[]> {
  return listAll(store, certifiedKeyRecord, certifiedKeysPrefix(orgId));
}

/** A participant's key, or null. */
export async function findKey(from: Reader, orgId: OrgId, kid: string): Promise<CertifiedKey | null> {
  return (await certifiedKeyRecord.get(from, certifiedKeyKey(orgId, kid)))?.value ?? null;
}

/** The thumbprints of those public keys that were certified before, for any participant. */
export async function findKnownKeys(store: Store, thumbprints: readonly string[]): Promise<string[]> {
  const found = await store.getMany(thumbprints.map(knownKeyKey));
  return thumbprints.filter((_, index) => found[index] !== null);
}

/** Stages a participant against the version that was read (null: new), with its history entries. Returns the head. */
export async function stageParticipant(
  tx: Transaction,
  participant: Participant,
  version: string | null,
  happened: Happened,
): Promise<HistoryHead> {
  const { orgId, historyLength, historySha256 } = participant;
  check(tx, participantKey(orgId), version);
  const head = await stageHistory(tx, orgId, { length: historyLength, sha256: historySha256 }, happened);
  const { length, sha256 } = head;
  const changed = { ...participant, historyLength: length, historySha256: sha256 };
  participantRecord.set(tx, participantKey(orgId), changed);
  participantsChangedRecord.set(tx, PARTICIPANTS_CHANGED, happened.at); // no version check: changes of different participants must not conflict
  return head;
}

/** Stages a new key. The commit fails if its public key has been certified meanwhile. */
export function stageNewKey(tx: Transaction, orgId: OrgId, key: CertifiedKey): void {
  knownKeyRecord.replace(tx, knownKeyKey(key.thumbprint), null, { orgId, kid: key.kid });
  certifiedKeyRecord.set(tx, certifiedKeyKey(orgId, key.kid), key);
}

/** A certification report as its certifier signed it, or null. */
export async function findReport(store: Store, orgId: OrgId, id: string): Promise<string | null> {
  return (await certificationReportRecord.get(store, reportKey(orgId, id)))?.value.report ??
    null;
}

/** Stages a new certification report, and the removal of those whose place it takes. */
export function stageReport(tx: Transaction, orgId: OrgId, { added, removed }: ChangedReports): void {
  certificationReportRecord.set(tx, reportKey(orgId, added.id), { report: added.report });
  for (const id of removed) remove(tx, reportKey(orgId, id));
}

/** Stages a change of an existing key. */
export function stageKey(tx: Transaction, orgId: OrgId, key: CertifiedKey): void {
  certifiedKeyRecord.set(tx, certifiedKeyKey(orgId, key.kid), key);
}

async function listAll<T>(store: Store, record: StoredRecord<T>, prefix: Key): Promise<T[]> {
  const values: T[] = [];
  for await (const rows of piecesBelow(store, prefix, PAGE)) {
    values.push(...rows.map((entry) => record.decode(entry).value));
  }
  return values;
}
