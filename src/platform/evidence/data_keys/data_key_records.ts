/** The records of the data key store: one wrapped data key for each case, or the tombstone of an erased one. */
import type { WallTime } from "../../../base/kernel/clock.ts";
import { z } from "zod";
import { baseRecords } from "../../../base/store/base_records.ts";
import { defineRecord, instant, text } from "../../../base/store/record.ts";
import type { Wrapped } from "./wrapping_keys.ts";

/** A data key as it is stored: wrapped, or erased at an instant in milliseconds. It is never made again. */
export type StoredDataKey = Wrapped | { readonly erasedAt: WallTime };

const wrappedKey = z.looseObject({ wrappedBy: text, wrapped: text });

export const dataKeyRecord = defineRecord<StoredDataKey>({
  name: "data_key",
  keyParts: ["case id"],
  what: "The data key of a case, wrapped, or the time at which it was erased.",
  schema: z.union([z.looseObject({ erasedAt: instant }), wrappedKey]),
  version: 1,
  lifetime: "Until the case is erased. Then its tombstone is kept.",
  personalData: "pseudonymous",
  retention: "evidence",
  restore: "kept",
});

/** A known value. If it cannot be unwrapped at the start, the wrapping keys are not those of this store. */
export const dataKeyCheckRecord = defineRecord<Wrapped>({
  name: "data_key_check",
  keyParts: [],
  what:
    "A value wrapped like the data keys, which shows at the start that the wrapping keys are the right ones.",
  schema: wrappedKey,
  version: 1,
  lifetime: "Kept.",
  personalData: "none",
  retention: "system",
  restore: "kept",
});

/** Absent in a data key store that was never restored. There, a missing key is a fault and not a loss. */
export const dataKeyRestoreRecord = defineRecord<{ readonly takenAt: WallTime }>({
  name: "data_key_restore",
  keyParts: [],
  what: "When the copy was taken from which the data key store was restored last.",
  schema: z.looseObject({ takenAt: instant }),
  version: 1,
  lifetime: "Kept.",
  personalData: "none",
  retention: "system",
  restore: "kept",
});

export const dataKeyRecords = [
  dataKeyRecord,
  dataKeyCheckRecord,
  dataKeyRestoreRecord,
  ...baseRecords,
] as const;
