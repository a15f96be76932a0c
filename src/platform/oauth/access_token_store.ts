/**
 * Opaque access tokens, stored by hash with their rights. They are read for every request, so a revocation takes
 * effect at once.
 */
import { type Clock, isYetToPass } from "../../base/kernel/clock.ts";
import { newSecret, sha256 } from "../../base/kernel/identifiers.ts";
import { ACCESS_TOKEN_SECONDS } from "../profile.ts";
import type { AccessToken } from "../security/access_token.ts";
import { accessTokenKey } from "../store_keys.ts";
import type { Reader, Store } from "../../base/store/store.ts";
import { remove, set, type Transaction } from "../../base/store/transaction.ts";

export interface AccessTokenStore {
  /** Returns the rights of the token with this hash while it is valid, else null. */
  find(tokenHash: string, from?: Reader): Promise<AccessToken | null>;
  /** Stages a new token. Its text is not returned to the client before the commit. */
  stageIssue(tx: Transaction, grant: Omit<AccessToken, "expiresAt">): Promise<IssuedToken>;
  /** Stages the revocation of a token by its hash. */
  stageRevocation(tx: Transaction, tokenHash: string): void;
}

export interface IssuedToken {
  readonly text: string;
  readonly hash: string;
}

export function openAccessTokenStore(store: Store, clock: Clock): AccessTokenStore {
  return {
    async find(tokenHash, from = store) {
      const entry = await from.get<AccessToken>(accessTokenKey(tokenHash));
      return entry !== null && isYetToPass(entry.value.expiresAt, clock(), ACCESS_TOKEN_SECONDS * 1000)
        ? entry.value
        : null;
    },
    async stageIssue(tx, grant) {
      const text = newSecret();
      const hash = await sha256(text);
      const expiresAt = clock() + ACCESS_TOKEN_SECONDS * 1000;
      set(tx, accessTokenKey(hash), { ...grant, expiresAt }, expiresAt);
      return { text, hash };
    },
    stageRevocation: (tx, tokenHash) => remove(tx, accessTokenKey(tokenHash)),
  };
}
