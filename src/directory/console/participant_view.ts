/** The data on the page of a participant. */
import type { z } from "zod";
import type { Visit } from "../../console/visit.ts";
import type { history } from "../http/answer_schema.ts";
import type { ParticipantRecord } from "./changes.ts";

/** A page of a history. */
export interface HistoryView {
  readonly entries: z.infer<typeof history>["history"];
  /** Whether the entries fit their hashes. */
  readonly isIntact: boolean;
  /** The `before` of the page with older entries. Absent at the oldest. */
  readonly before: string | undefined;
}

export interface ParticipantView {
  readonly visit: Visit;
  readonly record: ParticipantRecord;
  /** Absent for the participant's people. */
  readonly history?: HistoryView;
  /** The path of the page, below which its changes and files are. */
  readonly at: string;
  /** Milliseconds. */
  readonly now: number;
}
