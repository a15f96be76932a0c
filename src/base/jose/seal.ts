/**
 * Values that a browser keeps without being able to read or change them: encrypted, authenticated, for one purpose, with
 * an end. The key is in this process's memory only, so a restart makes every value unreadable.
 */
import { EncryptJWT, jwtDecrypt } from "jose";
import type { Clock } from "../kernel/clock.ts";

export interface Seal {
  /** Returns the sealed members. `expiresAt` is in milliseconds. */
  close(purpose: string, members: object, expiresAt: number): Promise<string>;
  /** Returns undefined for a text that {@link Seal.close} has not made for this purpose, or that has ended. */
  open(purpose: string, sealed: string | undefined): Promise<unknown>;
}

const ALGORITHM = { alg: "dir", enc: "A256GCM" } as const;

export function openSeal(clock: Clock): Seal {
  const key = crypto.getRandomValues(new Uint8Array(32));
  return {
    close: (purpose, members, expiresAt) =>
      new EncryptJWT({ members }).setProtectedHeader(ALGORITHM).setAudience(purpose)
        .setExpirationTime(Math.floor(expiresAt / 1000)).encrypt(key),
    async open(purpose, sealed) {
      if (sealed === undefined) return undefined;
      try {
        const { payload } = await jwtDecrypt(sealed, key, {
          audience: purpose,
          currentDate: new Date(clock()),
          keyManagementAlgorithms: [ALGORITHM.alg],
          contentEncryptionAlgorithms: [ALGORITHM.enc],
          requiredClaims: ["exp"],
        });
        return payload["members"];
      } catch {
        return undefined;
      }
    },
  };
}
