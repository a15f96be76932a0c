/** The records that every program's store has. */
import type { AgesTime, WallTime } from "../kernel/clock.ts";
import { z } from "zod";
import { count, defineRecord, instant, optional, text } from "./record.ts";
import type { StoreIdentity } from "./store_identity.ts";

/** The clock of ages at a time of the computer's clock. */
export interface AgeMark {
  /** Milliseconds, by the computer's clock. */
  readonly at: WallTime;
  readonly age: AgesTime;
}

/** A single-use JWT or PKCE challenge that was used. */
export interface SpentJwt {
  readonly id: string;
  /** Milliseconds. */
  readonly expiresAt: WallTime;
}

export const ageMarkRecord = defineRecord<AgeMark>({
  name: "age_mark",
  keyParts: [],
  what: "The clock of ages at a time of the computer's clock, for the next start.",
  schema: z.looseObject({ at: instant, age: count }),
  version: 1,
  lifetime: "Kept. Replaced every 10 s.",
  personalData: "none",
  retention: "system",
  restore: "kept",
});

/**
 * A replay record is stored for one hour longer than needed, because its JWT may become valid again if the clock is
 * put back. After a larger step a proof for a resource has no valid token: access tokens expire after one hour.
 */
export const SPENT_KEPT_LONGER_MS = 3_600_000;

export const spentJwtRecord = defineRecord<{ readonly expiresAt: WallTime }>({
  name: "spent_jwt",
  keyParts: ["16 bytes of the SHA-256 of its kind, presenter and jti"],
  what:
    "The replay record of a single-use JWT, or of a PKCE challenge that has led to a code, on PostgreSQL.",
  schema: z.looseObject({ expiresAt: instant }),
  version: 1,
  lifetime: "One hour longer than the JWT is valid. Of a challenge: 25 h.",
  personalData: "none",
  retention: "protocol",
  restore: "kept",
});

const spentJwts = z.array(z.looseObject({ id: text, expiresAt: instant }));

/** Programs see {@link spentJwtRecord} in its place (`spent_jwts.ts`). */
export const spentJwtsRecord = defineRecord<{ readonly spent: readonly SpentJwt[] }>({
  name: "spent_jwts",
  keyParts: ["last expiry (ms)", "the first hash"],
  what: "The replay records of transactions of a file: their hashes and expiries.",
  schema: z.looseObject({ spent: spentJwts }),
  version: 1,
  lifetime: "One hour longer than the JWTs are valid. Of challenges: 25 h.",
  personalData: "none",
  retention: "protocol",
  restore: "kept",
});

/** A leaf hash (base64url) and the time that it was staged with (milliseconds). */
export interface TimedLeaf {
  readonly at: WallTime;
  readonly leaf: string;
}

/** What waits for the evidence log. A file has a transaction's replay records in the same row. */
export interface LogWaiting {
  readonly leaves: readonly TimedLeaf[];
  readonly spent?: readonly SpentJwt[];
}

export const logWaitingRecord = defineRecord<LogWaiting>({
  name: "log_waiting",
  keyParts: ["time of the first (ms)", "the first leaf hash"],
  what:
    "Leaf hashes that have no place in the evidence log yet, with their times. A file has those of one transaction in one row, and its replay records.",
  schema: z.looseObject({
    leaves: z.array(z.looseObject({ at: instant, leaf: text })),
    spent: optional(spentJwts),
  }),
  version: 1,
  lifetime: "Until they have places, about one second. Replay records are kept.",
  personalData: "none",
  retention: "protocol",
  restore: "kept",
});

/** `database_file.ts` reads and writes it before a program may use the store. */
export const storeIdentityRecord = defineRecord<StoreIdentity>({
  name: "store_identity",
  keyParts: [],
  what: "The program and the public address that the database belongs to, and the format of its values.",
  schema: z.looseObject({
    program: z.enum(["platform", "directory", "data-keys"]),
    issuer: text,
    id: text,
    schema: count,
    copyingFrom: optional(text),
    movedTo: optional(text),
  }),
  version: 1,
  lifetime: "Kept.",
  personalData: "none",
  retention: "system",
  restore: "kept",
});

/** `deno task store` writes it into a copy. */
export const storeCopyRecord = defineRecord<{ readonly takenAt: WallTime }>({
  name: "store_copy",
  keyParts: [],
  what: "The mark of a copy that was made for a restore, and when it was taken.",
  schema: z.looseObject({ takenAt: instant }),
  version: 1,
  lifetime: "Until the program has processed the restore.",
  personalData: "none",
  retention: "system",
  restore: "begun",
});

export const storeProbeRecord = defineRecord<boolean>({
  name: "store_probe",
  keyParts: [],
  what: "The entry that readiness writes to find out whether the store can be written.",
  schema: z.boolean(),
  version: 1,
  lifetime: "Kept.",
  personalData: "none",
  retention: "system",
  restore: "kept",
});

export const baseRecords = [ageMarkRecord, storeIdentityRecord, storeCopyRecord, storeProbeRecord] as const;
