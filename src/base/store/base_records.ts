/** The records that every program's store has. */
import type { AgesTime, WallTime } from "../kernel/clock.ts";
import { z } from "zod";
import { defineRecord, optional } from "./record.ts";
import { count, instant, text } from "./record_fields.ts";
import type { StoreIdentity } from "./store_identity.ts";

/** The clock of ages at a time of the computer's clock. */
export interface AgeMark {
  /** Milliseconds, by the computer's clock. */
  readonly at: WallTime;
  readonly age: AgesTime;
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

/** A replay record. Kept for longer than its JWT is valid (`transaction.ts`). */
export const spentJwtRecord = defineRecord<{ readonly expiresAt: WallTime }>({
  name: "spent_jwt",
  keyParts: ["kind", "presenter", "jti or its hash"],
  what: "The replay record of a single-use JWT.",
  schema: z.looseObject({ expiresAt: instant }),
  version: 1,
  lifetime: "One hour longer than the JWT is valid.",
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

export const baseRecords = [
  ageMarkRecord,
  storeIdentityRecord,
  storeCopyRecord,
  storeProbeRecord,
] as const;
