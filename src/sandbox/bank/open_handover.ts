/**
 * Opens the handover JWT of the platform: JWE, then JWS, then every claim (contract HO1 to HO9). Every check must pass.
 * The reason of a rejection is logged and never sent to the browser.
 */
import { compactDecrypt, decodeProtectedHeader, jwtVerify } from "jose";
import { z } from "zod";
import {
  CONTENT_ENCRYPTION_ALG,
  EXPIRY_SKEW_SECONDS,
  FUTURE_SKEW_SECONDS,
  HANDOVER_SECONDS,
  KEY_MANAGEMENT_ALG,
  MAX_JTI_CHARACTERS,
  MAX_JWT_CHARACTERS,
  SIGNATURE_ALG,
} from "../../client/party/profile.ts";
import type { BankKey } from "./bank_keys.ts";
import type { BankClock } from "./bank_profile.ts";
import { type PlatformKeys, sameKid } from "./platform_keys.ts";
import type { ReplayMemory } from "./replay_memory.ts";

/** The platform's request to the bank, authentic and fresh. */
export interface Handover {
  readonly consentId: string;
  readonly correlationId: string;
  /** True: implicit consent, the payer account is in the consent. */
  readonly debtorAccountPresent: boolean;
  readonly tppName: string;
  readonly tppClientId: string;
  /** The customer's languages, best first; empty if the TPP named none. */
  readonly uiLocales: readonly string[];
}

export interface OpenHandoverDeps {
  readonly authUrl: string;
  readonly bankCode: string;
  readonly decryption: BankKey;
  readonly platformKeys: PlatformKeys;
  readonly replay: ReplayMemory;
  readonly clock: BankClock;
}

/** The JWT is not a valid handover JWT of the platform for this bank. The message is for the log. */
export class HandoverRejected extends Error {
  override readonly name = "HandoverRejected";
}

const compactJwe = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+){4}$/;
const compactJws = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+){2}$/;
const outerHeaderSchema = z.strictObject({
  alg: z.literal(KEY_MANAGEMENT_ALG),
  enc: z.literal(CONTENT_ENCRYPTION_ALG),
  cty: z.string().toUpperCase().pipe(z.literal("JWT")), // Decision A10; RFC 7519 §5.2
  kid: z.string(),
  typ: z.string().optional(),
}); // strict: no zip, crit, jwk, epk, p2c
const innerHeaderSchema = z.strictObject({
  alg: z.literal(SIGNATURE_ALG),
  typ: z.literal("JWT"),
  kid: z.string().min(1),
});

/** Contract HO1 to HO9; Decision B3. Unknown claims are ignored (RFC 7519 §4). */
const claimsSchema = z.object({
  iss: z.string(),
  aud: z.string(), // a string: an array could address several banks at once
  exp: z.int(),
  iat: z.int(),
  nbf: z.int(),
  jti: z.string().min(1).max(MAX_JTI_CHARACTERS),
  debtor_account_present: z.enum(["true", "false"]),
  ref_id: z.uuid(),
  act: z.object({ sub: z.string().min(1), registration_no: z.string().min(1) }),
  correlation_id: z.string().min(1).max(256),
  ui_locales: z.string().default(""),
});

type HandoverClaims = z.infer<typeof claimsSchema>;

/**
 * Opens `oAuthUrl` and uses up its jti.
 * @throws {HandoverRejected} if the JWT is not valid
 * @throws {Error} if the platform's key set cannot be read
 */
export async function openHandover(deps: OpenHandoverDeps, token: string): Promise<Handover> {
  const signed = await decrypt(deps, token);
  const claims = await verify(deps, signed);
  checkClaims(deps, claims);
  // The last check: a forged JWT must not use up a jti.
  if (!deps.replay.useOnce(`${deps.bankCode} ${claims.jti}`, (claims.exp + EXPIRY_SKEW_SECONDS) * 1000)) {
    throw new HandoverRejected("jti was used before");
  }
  return {
    consentId: claims.ref_id,
    correlationId: claims.correlation_id,
    debtorAccountPresent: claims.debtor_account_present === "true",
    tppName: claims.act.sub,
    tppClientId: claims.act.registration_no,
    uiLocales: claims.ui_locales.split(" ").filter((tag) => tag !== ""),
  };
}

async function decrypt({ decryption }: OpenHandoverDeps, token: string): Promise<string> {
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

async function verify({ platformKeys, clock }: OpenHandoverDeps, signed: string): Promise<HandoverClaims> {
  if (!compactJws.test(signed)) throw new HandoverRejected("content is not a compact JWS");
  const key = await platformKeys.signatureKey(innerKid(signed));
  if (key === undefined) throw new HandoverRejected("kid is not the platform's");
  try {
    const { payload } = await jwtVerify(signed, key, {
      algorithms: [SIGNATURE_ALG],
      typ: "JWT",
      currentDate: new Date(clock()),
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

function checkClaims({ authUrl, bankCode, clock }: OpenHandoverDeps, claims: HandoverClaims): void {
  const now = Math.floor(clock() / 1000);
  if (claims.iss !== authUrl) throw new HandoverRejected("iss is not the platform"); // Decision A2
  if (claims.aud !== bankCode) throw new HandoverRejected("aud is not this bank"); // Decision B3
  if (now >= claims.exp + EXPIRY_SKEW_SECONDS) throw new HandoverRejected("expired");
  if (claims.exp - claims.iat > HANDOVER_SECONDS) throw new HandoverRejected("lives too long");
  if (Math.max(claims.iat, claims.nbf) > now + FUTURE_SKEW_SECONDS) {
    throw new HandoverRejected("from the future");
  }
}

function rejected(where: string, error: unknown): HandoverRejected {
  if (error instanceof HandoverRejected) return error;
  // The error name is enough (JWEDecryptionFailed, ZodError ...); messages could quote the token.
  return new HandoverRejected(`${where}: ${error instanceof Error ? error.name : "unknown"}`);
}
