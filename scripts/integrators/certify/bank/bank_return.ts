/** Opens a bank's result JWT as the platform does, and finds what is not as agreed (contract RT1 to RT9). */
import { compactDecrypt, decodeProtectedHeader, jwtVerify } from "jose";
import { z } from "zod";
import { BANK_REASON_CODES } from "../../../../src/base/values/reason_codes.ts";
import type { BankBench } from "./bench.ts";
import { importPlatformKey } from "./platform_side.ts";

const MAX_LIFETIME_SECONDS = 600;

const claimsSchema = z.object({
  iss: z.string(),
  aud: z.string(),
  iat: z.int(),
  exp: z.int(),
  jti: z.string().min(1).max(256),
  sub: z.string().min(1),
  debtor_account_present: z.enum(["true", "false"]),
  ref_id: z.string(),
  correlation_id: z.string().min(1),
  transaction_digest: z.string().optional(), // contract RT9
  bank_id: z.string(),
  status: z.string().min(1),
  status_code: z.string().min(1),
  reason_code: z.enum(BANK_REASON_CODES).optional(), // contract RSN5
});
export type ReturnClaims = z.infer<typeof claimsSchema>;

/**
 * Decrypts and verifies the result JWT in a return address.
 *
 * @returns its claims, and what the bank signed
 * @throws {Error} that names what is wrong
 */
export async function openReturn(
  { bank, platform: { decrypters, endpoints } }: BankBench,
  location: URL,
): Promise<{ readonly claims: ReturnClaims; readonly jws: string }> {
  const token = location.searchParams.get("oAuthUrl") ?? "";
  const { kid } = decodeProtectedHeader(token);
  const jwk = decrypters.find((key) => key.kid === kid);
  if (jwk === undefined) throw new Error("the result is encrypted to a key that is not the platform's");
  const { plaintext } = await compactDecrypt(token, await importPlatformKey(jwk, "RSA-OAEP-256"), {
    keyManagementAlgorithms: ["RSA-OAEP-256"],
    contentEncryptionAlgorithms: ["A256GCM"],
  });
  const jws = new TextDecoder().decode(plaintext);
  const { payload } = await jwtVerify(jws, bank.signers, {
    algorithms: ["PS256"],
    typ: "JWT",
    issuer: bank.code,
    audience: endpoints.auth_url,
    clockTolerance: 30,
  });
  const claims = claimsSchema.parse(payload);
  if (claims.exp - claims.iat > MAX_LIFETIME_SECONDS) {
    throw new Error(`the result lives ${claims.exp - claims.iat} s, more than ${MAX_LIFETIME_SECONDS}`);
  }
  if (claims.bank_id !== bank.code) throw new Error("bank_id is not the bank's code");
  return { claims, jws };
}
