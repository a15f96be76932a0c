/**
 * Stores authorization codes by hash. A redeemed code is stored as long as its token may be valid, so that a second
 * use is noticed.
 */
import type { WallTime } from "../../../base/kernel/clock.ts";
import { z } from "zod";
import {
  bankCode,
  clientId,
  consentId,
  count,
  defineRecord,
  instant,
  optional,
  text,
} from "../../../base/store/record.ts";
import { newSecret, sha256 } from "../../../base/kernel/identifiers.ts";
import { ACCESS_TOKEN_SECONDS, CHALLENGE_MEMORY_SECONDS, CODE_SECONDS } from "../../../base/profile.ts";
import { authorizationCodeKey, spentJwtKey } from "../../config/store_keys.ts";
import { SPENT_KEPT_LONGER_MS, spentJwtRecord } from "../../../base/store/base_records.ts";
import type { Entry, Reader } from "../../../base/store/store.ts";
import type { Transaction } from "../../../base/store/transaction.ts";
import type { AuthorizationCode } from "./authorization_code.ts";

export const authorizationCodeRecord = defineRecord<AuthorizationCode>({
  name: "authorization_code",
  keyParts: ["SHA-256 of the code"],
  what: "An authorization code. Its token's hash shows that it was redeemed.",
  schema: z.looseObject({
    clientId,
    registration: count,
    bank: bankCode,
    consentId,
    redirectUri: text,
    codeChallenge: text,
    dpopJkt: optional(text),
    expiresAt: instant,
    failures: count,
    redeemedFor: optional(text),
  }),
  version: 1,
  lifetime: "Valid for 60 s. Kept for 3,600 s more, so that a second use is noticed.",
  personalData: "pseudonymous",
  retention: "protocol",
  restore: "deleted",
});

/** Stages a new code and the record of its challenge. `now` is in milliseconds. */
export async function stageCode(
  tx: Transaction,
  code: Omit<AuthorizationCode, "expiresAt" | "failures">,
  now: WallTime,
): Promise<{ readonly text: string; readonly hash: string }> {
  const text = newSecret();
  const hash = await sha256(text);
  const key = authorizationCodeKey(hash);
  const expiresAt = now + CODE_SECONDS * 1000;
  authorizationCodeRecord.set(tx, key, { ...code, expiresAt, failures: 0 }, keptUntil(expiresAt));
  const forgottenAt = now + CHALLENGE_MEMORY_SECONDS * 1000;
  const challengeKey = spentJwtKey("code_challenge", code.clientId, code.codeChallenge);
  spentJwtRecord.set(tx, challengeKey, { expiresAt: forgottenAt }, forgottenAt + SPENT_KEPT_LONGER_MS);
  return { text, hash };
}

export function findCode(from: Reader, codeHash: string): Promise<Entry<AuthorizationCode> | null> {
  return authorizationCodeRecord.get(from, authorizationCodeKey(codeHash));
}

/** Stages a change. Of parallel changes, only one commits. */
export function stageCodeChange(
  tx: Transaction,
  former: Entry<AuthorizationCode>,
  changed: AuthorizationCode,
): void {
  authorizationCodeRecord.replace(tx, former.key, former, changed, keptUntil(changed.expiresAt));
}

/** Whether a code was issued before for this challenge of this client (RFC 9700 §2.1.1; contract PA14). */
export async function isChallengeSpent(
  from: Reader,
  { clientId, codeChallenge }: Pick<AuthorizationCode, "clientId" | "codeChallenge">,
  now: WallTime,
): Promise<boolean> {
  const spent = await spentJwtRecord.get(from, spentJwtKey("code_challenge", clientId, codeChallenge));
  return spent !== null && now < spent.value.expiresAt;
}

function keptUntil(expiresAt: number): number {
  return expiresAt + ACCESS_TOKEN_SECONDS * 1000;
}
