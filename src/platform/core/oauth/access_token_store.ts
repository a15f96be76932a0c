/**
 * Opaque access tokens, stored by hash with their rights. They are read for every request, so a revocation takes
 * effect at once.
 */
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
import { type Clock, isYetToPass } from "../../../base/kernel/clock.ts";
import { newSecret, sha256 } from "../../../base/kernel/identifiers.ts";
import { ACCESS_TOKEN_SECONDS } from "../../../base/profile.ts";
import type { AccessToken } from "../../guards/security/access_token.ts";
import { accessTokenKey } from "../../config/store_keys.ts";
import type { Reader } from "../../../base/store/store.ts";
import { remove, type Transaction } from "../../../base/store/transaction.ts";

export interface AccessTokenStore {
  /** Returns the rights of the token with this hash while it is valid, else null. */
  find(from: Reader, tokenHash: string): Promise<AccessToken | null>;
  /** Stages a new token. Its text is not returned to the client before the commit. */
  stageIssue(tx: Transaction, grant: Omit<AccessToken, "expiresAt">): Promise<IssuedToken>;
  /** Stages the revocation of a token by its hash. */
  stageRevocation(tx: Transaction, tokenHash: string): void;
}

export interface IssuedToken {
  readonly text: string;
  readonly hash: string;
}

export const accessTokenRecord = defineRecord<AccessToken>({
  name: "access_token",
  keyParts: ["SHA-256 of the token"],
  what: "The rights of an access token.",
  schema: z.looseObject({
    clientId,
    registration: count,
    bank: bankCode,
    scope: z.enum(["payments", "bank"]),
    grant: z.enum(["client_credentials", "authorization_code"]),
    consentId: optional(consentId),
    jkt: text,
    expiresAt: instant,
  }),
  version: 1,
  lifetime: "3,600 s, or until it is revoked.",
  personalData: "pseudonymous",
  retention: "protocol",
  restore: "deleted",
});

export function openAccessTokenStore(clock: Clock): AccessTokenStore {
  return {
    async find(from, tokenHash) {
      const entry = await accessTokenRecord.get(from, accessTokenKey(tokenHash));
      return entry !== null && isYetToPass(entry.value.expiresAt, clock(), ACCESS_TOKEN_SECONDS)
        ? entry.value
        : null;
    },
    async stageIssue(tx, grant) {
      const text = newSecret();
      const hash = await sha256(text);
      const expiresAt = clock() + ACCESS_TOKEN_SECONDS * 1000;
      accessTokenRecord.set(tx, accessTokenKey(hash), { ...grant, expiresAt }, expiresAt);
      return { text, hash };
    },
    stageRevocation: (tx, tokenHash) => remove(tx, accessTokenKey(tokenHash)),
  };
}
