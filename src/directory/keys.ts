/**
 * Every key of the directory in its store, with what lies under it. Nothing here expires: a trust root must be
 * able to say what it once vouched for. All keys begin with "directory", so that a store may be shared.
 */
import type { Key } from "../base/store/store.ts";
import type { OrgId } from "./identifiers.ts";

const ROOT = "directory";

/** Above every participant. */
export const PARTICIPANTS: Key = [ROOT, "participant"];

/** A participant (`participant.ts`). Lower case: org_ids are unique whatever their case. */
export const participantKey = (orgId: OrgId): Key => [...PARTICIPANTS, orgId.toLowerCase()];

/** Written with every change of a participant: its version in the store tells whether anything has changed since. */
export const PARTICIPANTS_CHANGED: Key = [ROOT, "participants_changed"];

/** Above the certified keys of a participant. */
export const certifiedKeysOf = (orgId: OrgId): Key => [ROOT, "certified_key", orgId.toLowerCase()];

/** A certified key of a participant (`certified_key.ts`), by kid. Written under the participant's version. */
export const certifiedKeyKey = (orgId: OrgId, kid: string): Key => [...certifiedKeysOf(orgId), kid];

/** A public key that was ever certified, by RFC 7638 thumbprint: whose it was. Never removed. */
export const knownKeyKey = (thumbprint: string): Key => [ROOT, "known_key", thumbprint];

/** Above the history of a participant. */
export const historyOf = (orgId: OrgId): Key => [ROOT, "history", orgId.toLowerCase()];

/** One entry of a participant's history (`history.ts`), by its number: append-only. */
export const historyKey = (orgId: OrgId, sequence: number): Key => [
  ...historyOf(orgId),
  String(sequence).padStart(10, "0"),
];
