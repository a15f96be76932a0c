/**
 * A participant on the wire: the public record, the administrator's full record, the responses to changes, and its key sets
 * (Decision E4; RFC 7517), of public members only.
 */
import type { Certification } from "../certification/certification.ts";
import type { CertifiedKey, KeyUse, RevokedKey } from "../participants/certified_key.ts";
import type { IssuedKey } from "../changes/certify_keys.ts";
import { isInForce, type Login } from "../participants/login.ts";
import type { Participant } from "../participants/participant.ts";
import type { JsonObject } from "../../base/jose/compact_jws.ts";
import { KEY_MANAGEMENT_ALG, SIGNATURE_ALG } from "../../base/limits.ts";

/** The public data of a participant (Decision E2). */
export interface PublicParticipant {
  readonly org_id: string;
  readonly org_name: string;
  readonly role: string;
  readonly org_status: string;
  readonly software_client_id: string;
  readonly software_client_status: string;
  readonly since: string;
}

export function publicParticipant(
  { orgId, orgName, role, status, software, since }: Participant,
): PublicParticipant {
  return {
    org_id: orgId,
    org_name: orgName,
    role,
    org_status: status,
    software_client_id: software.clientId,
    software_client_status: software.status,
    since: dateTime(since),
  };
}

/** The administrator's full record, including contacts and every key ever certified. */
export function fullParticipant(
  participant: Participant,
  keys: readonly CertifiedKey[],
  now: number,
): unknown {
  const { software } = participant;
  return {
    ...publicParticipant(participant),
    registration_number: participant.registrationNumber,
    org_status_at: dateTime(participant.statusAt),
    contacts: participant.contacts,
    software: {
      client_name: software.clientName,
      description: software.description,
      version: software.version,
      client_uri: software.clientUri,
      logo_uri: software.logoUri,
      redirect_uris: software.redirectUris,
      status_at: dateTime(software.statusAt),
      ...(software.statementIat === 0 ? {} : { statement_issued_at: dateTime(software.statementIat * 1000) }),
    },
    ...(participant.role === "ASPSP" ? bankMembers(participant) : tppMembers(participant)),
    keys: keys.map((key) => keyRecord(key, now)),
    certifications: (participant.certifications ?? []).map(certificationRecord),
    logins: (participant.logins ?? []).map((login) => loginRecord(login, now)),
  };
}

/** A login without its token. */
export function loginRecord(login: Login, now: number): Record<string, unknown> {
  const { id, name, issuedAt, expiresAt, revokedAt } = login;
  return {
    login_id: id,
    name,
    status: revokedAt !== undefined ? "Revoked" : isInForce(login, now) ? "Active" : "Expired",
    issued_at: dateTime(issuedAt),
    expires_at: dateTime(expiresAt),
    ...(revokedAt === undefined ? {} : { revoked_at: dateTime(revokedAt) }),
  };
}

/** A certification report in short. */
export function certificationRecord(
  { id, certifier, suite, passed, cases, failed, issuedAt, receivedAt }: Certification,
): Record<string, unknown> {
  return {
    certification_id: id,
    certifier,
    suite,
    passed,
    cases,
    failed,
    issued_at: dateTime(issuedAt),
    received_at: dateTime(receivedAt),
  };
}

/** The statuses after a change. */
export function participantStatuses({ orgId, status, software }: Participant): unknown {
  return {
    org_id: orgId,
    org_status: status,
    software_client_id: software.clientId,
    software_client_status: software.status,
  };
}

/** Whether the directory is a restored copy that is not yet confirmed; `takenAt` in ms. */
export function restoredCopy(takenAt: number | undefined): unknown {
  return takenAt === undefined ? { restored: false } : { restored: true, taken_at: dateTime(takenAt) };
}

/** Certificates as PEM, by the names of their requests (Decision E1). */
export function certificatesPem(issued: readonly IssuedKey[]): Record<string, string> {
  return Object.fromEntries(issued.map(({ name, key }) => [name, certificatePem(key.certificate)]));
}

/** ISO 8601 in UTC, milliseconds. */
export function dateTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

function bankMembers({ software }: Participant): Record<string, unknown> {
  return {
    consent_managedby_bank: software.consentManagedByBank,
    results_on_back_channel: software.resultsOnBackChannel,
    payment_orders_uri: software.paymentOrdersUri ?? null,
  };
}

function tppMembers({ software }: Participant): Record<string, unknown> {
  return { event_notification_uri: software.eventNotificationUri ?? null };
}

function keyRecord({ kid, use, notBefore, notAfter, revoked }: CertifiedKey, now: number): unknown {
  const status = revoked !== undefined ? "Revoked" : now < notAfter ? "Active" : "Expired";
  return {
    kid,
    use,
    status,
    not_before: dateTime(notBefore),
    not_after: dateTime(notAfter),
    ...(revoked === undefined ? {} : { revoked_at: dateTime(revoked.at), reason: revoked.reason }),
  };
}

/** A stored certificate as PEM. */
export function certificatePem(base64: string): string {
  const lines = base64.match(/.{1,64}/g) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}

/** JWK sets (RFC 7517 §8.5.2). */
export const JWK_SET_TYPE = "application/jwk-set+json";
/** PEM files. */
export const PEM_TYPE = "application/x-pem-file";

/** A JWK set. */
interface KeySet {
  readonly keys: readonly JsonObject[];
}

/** The active keys: by use, oldest first, so that a new key is last. */
export function keySet(keys: readonly CertifiedKey[]): KeySet {
  return { keys: inOrder(keys, (key) => key).map(publicJwk) };
}

/** The revoked keys, each with time and reason, in the same order. */
export function revokedKeySet(revoked: readonly RevokedKey[]): KeySet {
  const keys = inOrder(revoked, ({ key }) => key).map(({ key, revocation }) => ({
    ...publicJwk(key),
    revoked_at: new Date(revocation.at).toISOString(),
    reason: revocation.reason,
  }));
  return { keys };
}

// A network key has no alg: TLS negotiates the signature algorithm.
const ALG: Readonly<Record<KeyUse, JsonObject>> = {
  sig: { alg: SIGNATURE_ALG },
  tls: {},
  enc: { alg: KEY_MANAGEMENT_ALG },
};

function publicJwk({ kid, use, n, e, certificate, x5tS256 }: CertifiedKey): JsonObject {
  return { kty: "RSA", use, kid, ...ALG[use], n, e, x5c: [certificate], x5t: kid, "x5t#S256": x5tS256 };
}

const USES: readonly KeyUse[] = ["sig", "tls", "enc"];

function inOrder<T>(values: readonly T[], keyOf: (value: T) => CertifiedKey): T[] {
  return [...values].sort((left, right) => {
    const [a, b] = [keyOf(left), keyOf(right)];
    const byUse = USES.indexOf(a.use) - USES.indexOf(b.use);
    return byUse || a.issuedAt - b.issuedAt || (a.kid < b.kid ? -1 : 1);
  });
}
