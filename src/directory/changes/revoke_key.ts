/** Moves a key to the revoked set permanently (Decision E3). */
import { ApiError } from "../../base/kernel/api_error.ts";
import type { CertifiedKey, Revocation } from "../participants/certified_key.ts";
import { type Change, changeParticipant, type Target } from "./change_participant.ts";
import type { Directory } from "./directory.ts";
import { findKey } from "../participants/participant_store.ts";

/** The key and the reason, which is published. */
export interface RevokeKeyCommand {
  readonly kid: string;
  readonly reason: string;
}

/** A revoked key. */
export type RevokedCertifiedKey = CertifiedKey & { readonly revoked: Revocation };

/**
 * Revokes a key. Revoking it again has no effect; the first time and reason remain.
 *
 * @throws {ApiError} `directory.not_found` for an unknown participant or key
 */
export function revokeKey(
  directory: Directory,
  target: Target,
  { kid, reason }: RevokeKeyCommand,
): Promise<RevokedCertifiedKey> {
  return changeParticipant(
    directory,
    target,
    async (participant, now): Promise<Change<RevokedCertifiedKey>> => {
      const key = await findKey(directory.store, target.orgId, kid);
      if (key === null) throw new ApiError("directory.not_found", "no such key");
      if (key.revoked !== undefined) {
        return { participant, notes: [], answer: { ...key, revoked: key.revoked } };
      }
      const revoked = { ...key, revoked: { at: now, reason } };
      const note = { what: "key.revoked", reason, details: { kid, use: key.use } } as const;
      return { participant, notes: [note], changedKey: revoked, answer: revoked };
    },
  );
}
