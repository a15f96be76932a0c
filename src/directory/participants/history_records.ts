/** The records of histories. None expires: a trust root must be able to prove what was done in its name. */
import { z } from "zod";
import { count, defineRecord, instant, optional, text } from "../../base/store/record.ts";
import { HAPPENINGS, type HistoryEntry } from "./history.ts";

const KEPT = "Kept.";

/** Where a history ends. */
export interface HistoryHead {
  readonly length: number;
  /** The hash of the newest entry. Absent without one. */
  readonly sha256: string | undefined;
}

export const historyRecord = defineRecord<HistoryEntry>({
  name: "directory history",
  keyParts: ["org_id, lower case, or @people", "number"],
  what: "An entry in the append-only history of a participant, or of what people attempt.",
  schema: z.looseObject({
    what: z.enum(HAPPENINGS),
    reason: optional(text),
    details: z.record(text, z.unknown()),
    sequence: count,
    at: instant,
    who: text,
    previousSha256: optional(text),
    proposalId: optional(text),
    approvalReason: optional(text),
  }),
  version: 1,
  lifetime: KEPT,
  personalData: "participant",
  retention: "register",
  restore: "kept",
});

export const peopleHeadRecord = defineRecord<HistoryHead>({
  name: "directory people_head",
  keyParts: [],
  what: "The length of the history of what people attempt, and the hash of its newest entry.",
  schema: z.looseObject({ length: count, sha256: text }),
  version: 1,
  lifetime: KEPT,
  personalData: "none",
  retention: "register",
  restore: "kept",
});
