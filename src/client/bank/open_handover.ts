/**
 * Opens the handover JWT of the platform: JWE, then JWS, then every claim (contract HO1 to HO10). Every check must pass.
 * The reason of a rejection is logged and never sent to the browser.
 */
import { compactDecrypt, decodeProtectedHeader, jwtVerify } from "jose";
import * as z from "zod/mini";
import { $ZodError } from "zod/v4/core";
import {
  CONTENT_ENCRYPTION_ALG,
  EXPIRY_SKEW_SECONDS,
  FUTURE_SKEW_SECONDS,
  HANDOVER_SECONDS,
  KEY_MANAGEMENT_ALG,
  MAX_JTI_CHARACTERS,
  MAX_JWT_CHARACTERS,
  SIGNATURE_ALG,
} from "../party/profile.ts";
import type { Bank } from "./bank.ts";
import { sameKid } from "../party/platform_keys.ts";

/** The platform's request to the bank, authentic and fresh. */
export interface Handover {
  readonly consentId: string;
  readonly correlationId: string;
  /** True: implicit consent, the payer account is in the consent. */
  readonly debtorAccountPresent: boolean;
  /** What `transactionDigest` returns for the consent that the platform means (contract HO10). */
  readonly transactionDigest: string | undefined;
  readonly tppName: string;
  readonly tppClientId: string;
  /** The customer's languages, best first; empty if the TPP named none. */
  readonly uiLocales: readonly string[];
}

/** What opens a handover JWT. */
export type HandoverReader = Pick<
  Bank,
  "authUrl" | "code" | "decryption" | "platformKeys" | "replay" | "now"
>;

/** The JWT is not a valid handover JWT of the platform for this bank. The message is for the log. */
export class HandoverRejected extends Error {
  override readonly name = "HandoverRejected";
}

const nonEmpty = z.string().check(z.minLength(1));
const compactJwe = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+){4}$/;
const compactJws = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+){2}$/;
const outerHeaderSchema = z.strictObject({
  alg: z.literal(KEY_MANAGEMENT_ALG),
  enc: z.literal(CONTENT_ENCRYPTION_ALG),
  cty: z.string().check(z.regex(/^jwt$/i)), // Decision A10; RFC 7519 §5.2
  kid: z.string(),
  typ: z.optional(z.string()),
}); // strict: no zip, crit, jwk, epk, p2c
const innerHeaderSchema = z.strictObject({
  alg: z.literal(SIGNATURE_ALG),
  typ: z.literal("JWT"),
  kid: nonEmpty,
});

/** Contract HO1 to HO10; Decision B3. Unknown claims are ignored (RFC 7519 §4). */
const claimsSchema = z.object({
  iss: z.string(),
  aud: z.string(), // a string: an array could address several banks at once
  exp: z.int(),
  iat: z.int(),
  nbf: z.int(),
  jti: z.string().check(z.minLength(1), z.maxLength(MAX_JTI_CHARACTERS)),
  debtor_account_present: z.enum(["true", "false"]),
  ref_id: z.uuid(),
  act: z.object({ sub: nonEmpty, registration_no: nonEmpty }),
  correlation_id: z.string().check(z.minLength(1), z.maxLength(256)),
  transaction_digest: z.optional(nonEmpty),
  ui_locales: z._default(z.string(), ""),
});

type HandoverClaims = z.infer<typeof claimsSchema>;

/**
 * Opens `oAuthUrl` and uses up its jti.
 * @throws {HandoverRejected} if the JWT is not valid
 * @throws {Error} if the platform's key set cannot be read
 */
export async function openHandover(bank: HandoverReader, token: string): Promise<Handover> {
  const signed = await decrypt(bank, token);
  const claims = await verify(bank, signed);
  checkClaims(bank, claims);
  // The last check: a forged JWT must not use up a jti.
  if (!await bank.replay.useOnce(`${bank.code} ${claims.jti}`, (claims.exp + EXPIRY_SKEW_SECONDS) * 1000)) {
    throw new HandoverRejected("jti was used before");
  }
  return {
    consentId: claims.ref_id,
    correlationId: claims.correlation_id,
    debtorAccountPresent: claims.debtor_account_present === "true",
    transactionDigest: claims.transaction_digest,
    tppName: claims.act.sub,
    tppClientId: claims.act.registration_no,
    uiLocales: claims.ui_locales.split(" ").filter((tag) => tag !== ""),
  };
}

async function decrypt({ decryption }: HandoverReader, token: string): Promise<string> {
  if (token.length > MAX_JWT_CHARACTERS || !compactJwe.test(token)) {
    throw new HandoverRejected("not a compact JWE");
  }
  try {
    const header = outerHeaderSchema.parse(decodeProtectedHeader(token));
    if (!sameKid(header.kid, decryption.kid)) throw new HandoverRejected("encrypted to another key");
    const { plaintext } = await compactDecrypt(token, decryption.key, {
      keyManagementAlgorithms: [KEY_MANAGEMENT_ALG],
      contentEncryptionAlgorithms: [CONTENT_ENCRYPTION_ALG],
    });
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(plaintext);
  } catch (error) {
    throw rejected("outer layer", error);
  }
}

async function verify({ platformKeys, now }: HandoverReader, signed: string): Promise<HandoverClaims> {
  if (!compactJws.test(signed)) throw new HandoverRejected("content is not a compact JWS");
  const key = await platformKeys.signatureKey(innerKid(signed));
  if (key === undefined) throw new HandoverRejected("kid is not the platform's");
  try {
    const { payload } = await jwtVerify(signed, key, {
      algorithms: [SIGNATURE_ALG],
      typ: "JWT",
      currentDate: new Date(now()),
      clockTolerance: EXPIRY_SKEW_SECONDS,
    });
    return claimsSchema.parse(payload);
  } catch (error) {
    throw rejected("inner layer", error);
  }
}

function innerKid(signed: string): string {
  try {
    return innerHeaderSchema.parse(decodeProtectedHeader(signed)).kid;
  } catch (error) {
    throw rejected("inner header", error);
  }
}

function checkClaims({ authUrl, code, now: clock }: HandoverReader, claims: HandoverClaims): void {
  const now = Math.floor(clock() / 1000);
  if (claims.iss !== authUrl) throw new HandoverRejected("iss is not the platform"); // Decision A2
  if (claims.aud !== code) throw new HandoverRejected("aud is not this bank"); // Decision B3
  if (now >= claims.exp + EXPIRY_SKEW_SECONDS) throw new HandoverRejected("expired");
  if (claims.exp - claims.iat > HANDOVER_SECONDS) throw new HandoverRejected("lives too long");
  if (Math.max(claims.iat, claims.nbf) > now + FUTURE_SKEW_SECONDS) {
    throw new HandoverRejected("from the future");
  }
}

function rejected(where: string, error: unknown): HandoverRejected {
  if (error instanceof HandoverRejected) return error;
  // The error name is enough (such as JWEDecryptionFailed); messages could quote the token.
  const name = error instanceof $ZodError ? "another form" : error instanceof Error ? error.name : "unknown";
  return new HandoverRejected(`${where}: ${name}`);
}
