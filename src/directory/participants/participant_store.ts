/** Reads and stages participants, their keys and their histories. The participant's version guards all of them. */
import type { StoredRecord } from "../../base/store/record.ts";
import { piecesBelow } from "../../base/store/page.ts";
import type { Entry, Key, Reader, Store } from "../../base/store/store.ts";
import { check, remove, type Transaction } from "../../base/store/transaction.ts";
import type { CertifiedKey } from "./certified_key.ts";
import type { HistoryHead } from "./history_records.ts";
import { type Happened, stageHistory } from "./history_store.ts";
import type { OrgId } from "./identifiers.ts";
import {
  certificationReportKey,
  certifiedKeyKey,
  certifiedKeysOf,
  knownKeyKey,
  participantKey,
  PARTICIPANTS,
  PARTICIPANTS_CHANGED,
} from "./keys.ts";
import type { Participant } from "./participant.ts";
import {
  certificationReportRecord,
  certifiedKeyRecord,
  knownKeyRecord,
  participantRecord,
  participantsChangedRecord,
} from "./participant_records.ts";

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
  return listAll(store, certifiedKeyRecord, certifiedKeysOf(orgId));
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
  return (await certificationReportRecord.get(store, certificationReportKey(orgId, id)))?.value.report ??
    null;
}

/** Stages a new certification report, and the removal of those whose place it takes. */
export function stageReport(tx: Transaction, orgId: OrgId, { added, removed }: ChangedReports): void {
  certificationReportRecord.set(tx, certificationReportKey(orgId, added.id), { report: added.report });
  for (const id of removed) remove(tx, certificationReportKey(orgId, id));
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
