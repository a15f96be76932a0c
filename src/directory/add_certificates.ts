/** Certificates for new keys of a participant; the old ones stay valid until they expire or are revoked (Decision E3). */
import { ApiError } from "../base/kernel/api_error.ts";
import { activeKeys, type CertifiedKey } from "./certified_key.ts";
import { certifyKeys, type IssuedKey, proveKeys, type SigningRequests } from "./certify_keys.ts";
import { type Change, changeParticipant, requireTrusted, type Target } from "./change_participant.ts";
import type { Directory } from "./directory.ts";
import { listKeys } from "./participant_store.ts";

/** The new certificates and the set of keys that may be trusted from now on. */
export interface CertificatesAdded {
  readonly issued: readonly IssuedKey[];
  readonly active: readonly CertifiedKey[];
}

/**
 * Maximum of unexpired certificates per participant: keeps its key sets far below the 256 KiB that clients read
 * (Decision A9).
 */
const MAX_UNEXPIRED = 40;

/**
 * Certifies new keys in addition to the old ones.
 *
 * @throws {ApiError} `directory.not_found`, `directory.invalid_request` for requests without proof of possession,
 * `directory.conflict` for known keys, revoked software, too many certificates, or a person of a
 * participant that is not active
 */
export async function addCertificates(
  directory: Directory,
  target: Target,
  csrs: SigningRequests,
): Promise<CertificatesAdded> {
  const requested = await proveKeys(csrs);
  return await changeParticipant(
    directory,
    target,
    async (participant, now): Promise<Change<CertificatesAdded>> => {
      requireTrusted(target, participant);
      if (participant.software.status === "Revoked") {
        throw conflict(
          "The software is revoked; it gets no certificates.",
        );
      }
      const before = await listKeys(directory.store, target.orgId);
      if (before.filter((key) => now < key.notAfter).length + requested.length > MAX_UNEXPIRED) {
        throw conflict(`A participant may have ${MAX_UNEXPIRED} unexpired certificates.`);
      }
      const subject = { ...participant, softwareClientId: participant.software.clientId };
      const issued = await certifyKeys(directory, { subject, requested }, now);
      const newKeys = issued.map(({ key }) => key);
      const kids = Object.fromEntries(issued.map(({ name, key }) => [name, key.kid]));
      const active = activeKeys(participant, [...before, ...newKeys], now);
      return {
        participant,
        notes: [{ what: "certificates.issued", details: { kids } }],
        newKeys,
        answer: { issued, active },
      };
    },
  );
}

function conflict(description: string): ApiError {
  return new ApiError("directory.conflict", { description });
}
