/** A participant's history: who did what, when and why. Entries are appended in the commit of the change itself, never altered. */

/** What can happen to a participant. */
export type Happening =
  | "participant.onboarded"
  | "statement.issued"
  | "certificates.issued"
  | "key.revoked"
  | "software.status"
  | "organisation.status";

/** One thing that happened, before it has a number and a time. */
export interface HistoryNote {
  readonly what: Happening;
  readonly reason?: string;
  /** Plain JSON: kids, statuses before and after, changed members. No contact data. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** One thing that happened, as stored. */
export interface HistoryEntry extends HistoryNote {
  /** 0, 1, 2 … without a gap. */
  readonly sequence: number;
  /** Milliseconds. */
  readonly at: number;
  /** The administrator whose credential the request had. */
  readonly who: string;
}
