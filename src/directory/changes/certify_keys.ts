/**
 * Turns signing requests into certified keys. Every request must prove possession, and every key must be new to the
 * directory and unique in the request. Reports all errors at once.
 */
import { issueCertificate, type Subject } from "../keys/certificate_authority.ts";
import type { CertifiedKey, KeyUse } from "../participants/certified_key.ts";
import type { Directory } from "./directory.ts";
import { findKnownKeys } from "../participants/participant_store.ts";
import { conflict, invalidRequest } from "../participants/rejections.ts";
import { type ProvenKey, readSigningRequest } from "../keys/signing_request.ts";

/** The use of a signing request, by its wire name (Decision E1). */
export type KeyName = "signing" | "transport" | "encryption";

/** PEM signing requests by use. */
export type SigningRequests = { readonly [Name in KeyName]?: string | undefined };

/** A key that may be certified. */
export interface RequestedKey {
  readonly name: KeyName;
  readonly key: ProvenKey;
}

/** A key that was certified. */
export interface IssuedKey {
  readonly name: KeyName;
  readonly key: CertifiedKey;
}

const KEY_NAMES = ["signing", "transport", "encryption"] as const;
const USE: Readonly<Record<KeyName, KeyUse>> = { signing: "sig", transport: "tls", encryption: "enc" };

/**
 * Verifies the requests and returns their keys.
 *
 * @throws {ApiError} `directory.invalid_request` naming every request that does not prove possession or repeats a key
 */
export async function proveKeys(requests: SigningRequests): Promise<RequestedKey[]> {
  const given = KEY_NAMES.flatMap((name) => {
    const pem = requests[name];
    return pem === undefined ? [] : [{ name, pem }];
  });
  const judged = await Promise.all(
    given.map(async ({ name, pem }) => ({ name, verdict: await readSigningRequest(pem) })),
  );
  const faults = judged.flatMap(({ name, verdict }) =>
    verdict.ok ? [] : [`csrs.${name}: ${verdict.fault.why}`]
  );
  const proven = judged.flatMap(({ name, verdict }) => verdict.ok ? [{ name, key: verdict.value }] : []);
  const repeated = proven.filter(({ key }, index) =>
    proven.slice(0, index).some((other) => other.key.thumbprint === key.thumbprint)
  );
  faults.push(...repeated.map(({ name }) => `csrs.${name}: must have a key of its own`));
  if (faults.length > 0) throw invalidRequest(faults);
  return proven;
}

/**
 * Issues certificates for the keys.
 *
 * @throws {ApiError} `directory.conflict` naming the keys that were ever certified, for any participant
 */
export async function certifyKeys(
  deps: Pick<Directory, "store" | "authority" | "certificateDays" | "judgesClock">,
  order: { readonly subject: Subject; readonly requested: readonly RequestedKey[] },
  now: number,
): Promise<IssuedKey[]> {
  const { subject, requested } = order;
  const known = await findKnownKeys(deps.store, requested.map(({ key }) => key.thumbprint));
  const reused = requested.filter(({ key }) => known.includes(key.thumbprint)).map(({ name }) =>
    `csrs.${name}`
  );
  if (reused.length > 0) {
    throw conflict(`${reused.join(", ")}: this key was certified before; make a new one`);
  }
  const validity = { from: Math.min(now, deps.judgesClock()), days: deps.certificateDays };
  return await Promise.all(requested.map(async ({ name, key }) => ({
    name,
    key: await issueCertificate(deps.authority, { use: USE[name], key, subject, ...validity }, now),
  })));
}
