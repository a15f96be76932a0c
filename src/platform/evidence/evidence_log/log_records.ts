/** The records of the evidence log. They have hashes and signatures, and no data of persons. */
import type { WallTime } from "../../../base/kernel/clock.ts";
import { z } from "zod";
import { logWaitingRecord } from "../../../base/store/base_records.ts";
import { count, defineRecord, instant, optional, text } from "../../../base/store/record.ts";

/** A restore after which the log went on from an earlier state. */
export interface LogEpoch {
  /** The id of the epoch (`operations/recovery/hold.ts`). */
  readonly id: string;
  /** Milliseconds. */
  readonly startedAt: WallTime;
  /** When the copy was taken, milliseconds. */
  readonly copyTakenAt: WallTime;
  /** Number of leaves in the copy. */
  readonly size: number;
}

/** The newest state of the log. */
export interface LogHead {
  readonly size: number;
  /** When it was signed, milliseconds. */
  readonly at: WallTime;
  /** The signed checkpoint (`checkpoint.ts`), and the key that signed it. Absent until the first one, and again after a restore. */
  readonly checkpoint?: string;
  readonly kid?: string;
  readonly epoch?: LogEpoch;
}

export const logRangeRecord = defineRecord<{ readonly end: number }>({
  name: "log_range",
  keyParts: ["start of the second (ms)", "first place"],
  what:
    "Places of the evidence log, from the first one to before `end`, whose entries have times in this second.",
  schema: z.looseObject({ end: count }),
  version: 1,
  lifetime: "Kept.",
  personalData: "none",
  retention: "proof",
  restore: "kept",
});

export const logTileRecord = defineRecord<{ readonly hashes: string }>({
  name: "log_tile",
  keyParts: ["level", "index"],
  what: "Up to 256 hashes of one level of the evidence log's tree, base64url.",
  schema: z.looseObject({ hashes: text }),
  version: 1,
  lifetime: "Kept.",
  personalData: "none",
  retention: "proof",
  restore: "kept",
});

export const logHeadRecord = defineRecord<LogHead>({
  name: "log_head",
  keyParts: [],
  what: "The size of the evidence log, its newest signed checkpoint, and the restore after which it went on.",
  schema: z.looseObject({
    size: count,
    at: instant,
    checkpoint: optional(text),
    kid: optional(text),
    epoch: optional(z.looseObject({ id: text, startedAt: instant, copyTakenAt: instant, size: count })),
  }),
  version: 1,
  lifetime: "Kept.",
  personalData: "none",
  retention: "proof",
  restore: "begun",
});

export const logCheckpointRecord = defineRecord<{ readonly checkpoint: string }>({
  name: "log_checkpoint",
  keyParts: ["start of the hour (ms)"],
  what: "The newest signed checkpoint of an hour in which the evidence log has grown.",
  schema: z.looseObject({ checkpoint: text }),
  version: 1,
  lifetime: "Kept.",
  personalData: "none",
  retention: "proof",
  restore: "kept",
});

export const logRecords = [
  logWaitingRecord,
  logRangeRecord,
  logTileRecord,
  logHeadRecord,
  logCheckpointRecord,
] as const;
