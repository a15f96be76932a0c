/** Certification reports as a certifier signs them, and a directory that accepts them. */
import type { DirectoryParts } from "../../../src/directory/process/compose_directory.ts";
import type { CertificationTerms } from "../../../src/directory/certification/certification.ts";
import { openCertifiers } from "../../../src/directory/certification/certifiers.ts";
import type { Onboarded } from "testing/directory_answers.ts";
import {
  type DirectoryEnvironment,
  openDirectoryEnvironment,
  thirdParty,
} from "testing/directory_environment.ts";
import { type JsonObject, signBytes, withChanges } from "testing/jwts.ts";
import { testKey } from "testing/keys.ts";

export const CERTIFIER = "https://certifier.example";
export const CERTIFIER_KID = "certifier-1";
/** Of the pool. */
const CERTIFIER_KEY = 13;

/** The public key set of the certifier. */
export async function certifierKeys(changes: JsonObject = {}): Promise<string> {
  const { publicJwk } = await testKey(CERTIFIER_KEY);
  const jwk = withChanges(
    { ...publicJwk, kid: CERTIFIER_KID, iss: CERTIFIER, use: "sig", alg: "PS256" },
    changes,
  );
  return JSON.stringify({ keys: [jwk] });
}

/** A directory that accepts the certifier's reports, with one third party. */
export async function openCertified(
  terms: Partial<CertificationTerms> = {},
  parts: Partial<DirectoryParts> = {},
): Promise<{ readonly env: DirectoryEnvironment; readonly onboarded: Onboarded }> {
  const certifiers = await openCertifiers(await certifierKeys());
  const env = await openDirectoryEnvironment({ certification: { certifiers, ...terms }, ...parts });
  const { body } = await env.admin("POST", "/participants", await thirdParty([0, 1]));
  return { env, onboarded: body };
}

/** Changes of a report. */
export interface ReportChanges {
  readonly claims?: JsonObject;
  readonly header?: JsonObject;
  /** Number of the signing key in the pool. */
  readonly key?: number;
}

/** A report about the third party that the directory has; a passed one with one case unless changed. */
export async function reportOf(
  env: DirectoryEnvironment,
  softwareClientId: string | undefined,
  { claims = {}, header = {}, key = CERTIFIER_KEY }: ReportChanges = {},
): Promise<string> {
  const good = {
    iss: CERTIFIER,
    sub: "SHOP",
    iat: Math.floor(env.now / 1000),
    jti: crypto.randomUUID(),
    role: "PISP",
    software_id: softwareClientId,
    suite: "tpp 1.0",
    passed: true,
    cases: [{ id: "TPP-H01", requirement: "RP-N3", passed: true, seen: "a consent" }],
  };
  const payload = new TextEncoder().encode(JSON.stringify(withChanges(good, claims)));
  const protectedHeader = withChanges({ typ: "certification-report+jwt", kid: CERTIFIER_KID }, header);
  return await signBytes(await testKey(key), payload, protectedHeader);
}
