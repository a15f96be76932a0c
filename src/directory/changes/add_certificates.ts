/** Certificates for new keys of a participant; the old ones stay valid until they expire or are revoked (Decision E3). */
import { activeKeys, type CertifiedKey } from "../participants/certified_key.ts";
import { certifyKeys, type IssuedKey, proveKeys, type SigningRequests } from "./certify_keys.ts";
import { type Change, changeParticipant, requireTrusted, type Target } from "./change_participant.ts";
import type { Directory } from "./directory.ts";
import { listKeys } from "../participants/participant_store.ts";
import { conflict } from "../participants/rejections.ts";

/** The new certificates and the set of keys that may be trusted from now on. */
export interface CertificatesAdded {
  readonly issued: readonly IssuedKey[];
  readonly active: readonly CertifiedKey[];
}

/** Maximum of certificates in force per participant. */
const MAX_IN_FORCE = 40;
/**
 * Maximum with those that are revoked and have not expired. All may be in the set of revoked keys, where an entry has
 * less than 4 KiB, and clients read 256 KiB (Decision A9). People who replace revoked keys reach it later than 40.
 */
const MAX_UNEXPIRED = 60;

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
        throw conflict("The software is revoked; it gets no certificates.");
      }
      const before = await listKeys(directory.store, target.orgId);
      requireSpace(before.filter((key) => now < key.notAfter), requested.length);
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

function requireSpace(unexpired: readonly CertifiedKey[], requested: number): void {
  const inForce = unexpired.filter(({ revoked }) => revoked === undefined);
  if (inForce.length + requested <= MAX_IN_FORCE && unexpired.length + requested <= MAX_UNEXPIRED) return;
  throw conflict(
    `A participant may have ${MAX_IN_FORCE} certificates in force, and ${MAX_UNEXPIRED} with the revoked ones that ` +
      "have not expired.",
  );
}
