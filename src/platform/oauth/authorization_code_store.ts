/**
 * Stores authorization codes by hash. A redeemed code is stored as long as its token may be valid, so that a second
 * use is noticed.
 */
import { newSecret, sha256 } from "../../base/kernel/identifiers.ts";
import { ACCESS_TOKEN_SECONDS, CHALLENGE_MEMORY_SECONDS, CODE_SECONDS } from "../profile.ts";
import { authorizationCodeKey, spentChallengeKey } from "../store_keys.ts";
import type { Entry, Reader, Store } from "../../base/store/store.ts";
import { check, set, type Transaction } from "../../base/store/transaction.ts";
import type { AuthorizationCode } from "./authorization_code.ts";

export interface AuthorizationCodeStore {
  /** Stages a new code and the record of its challenge, and returns the code. `now` is in milliseconds. */
  stageIssue(
    tx: Transaction,
    code: Omit<AuthorizationCode, "expiresAt" | "failures">,
    now: number,
  ): Promise<string>;
  find(codeHash: string, from?: Reader): Promise<Entry<AuthorizationCode> | null>;
  /** Stages a change. Of parallel changes, only one commits. */
  stageChange(tx: Transaction, former: Entry<AuthorizationCode>, changed: AuthorizationCode): void;
  /** Whether a code was issued before for this challenge of this client (RFC 9700 §2.1.1; contract PA14). */
  isChallengeSpent(
    code: Pick<AuthorizationCode, "clientId" | "codeChallenge">,
    now: number,
    from?: Reader,
  ): Promise<boolean>;
}

export function openAuthorizationCodeStore(store: Store): AuthorizationCodeStore {
  return {
    async stageIssue(tx, code, now) {
      const text = newSecret();
      const key = authorizationCodeKey(await sha256(text));
      const expiresAt = now + CODE_SECONDS * 1000;
      check(tx, key, null);
      set(tx, key, { ...code, expiresAt, failures: 0 }, keptUntil(expiresAt));
      const forgottenAt = now + CHALLENGE_MEMORY_SECONDS * 1000;
      set(tx, spentChallengeKey(code.clientId, code.codeChallenge), { expiresAt: forgottenAt }, forgottenAt);
      return text;
    },
    find: (codeHash, from = store) => from.get<AuthorizationCode>(authorizationCodeKey(codeHash)),
    stageChange(tx, former, changed) {
      check(tx, former.key, former.version);
      set(tx, former.key, changed, keptUntil(changed.expiresAt));
    },
    async isChallengeSpent({ clientId, codeChallenge }, now, from = store) {
      const spent = await from.get<{ expiresAt: number }>(spentChallengeKey(clientId, codeChallenge));
      return spent !== null && now < spent.value.expiresAt;
    },
  };
}

function keptUntil(expiresAt: number): number {
  return expiresAt + ACCESS_TOKEN_SECONDS * 1000;
}
