/**
 * What retention may and must have done to a case, by the words of docs/contract/evidence.md (EN10, EN11, EN13 to EN15).
 * Slow and plain: it goes through the list of what happened to the case, and shares no code with the platform.
 */
export const LIMITS = { unauthorised: 3, unopened: 1, keep: 6, erase: 10, delete: 16 } as const;
export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

/** How much of a case exists. */
export type Extent = "whole" | "without person" | "gone";

export interface ModelCase {
  status: "awaiting" | "authorised" | "rejected" | "paying" | "paid";
  wasAuthorised: boolean;
  wasSentToBank: boolean;
  /** Of the newest entry that is not of a deletion, by its own time. */
  newest: number;
  /** When the log got that entry. */
  logged: number;
  extent: Extent;
}

/** An hour is the log's unit, and the background work of this test runs after each step of at most this time. */
const SLACK = 2 * HOUR;

export function isFinal({ status }: ModelCase): boolean {
  return status === "rejected" || status === "paid";
}

/** Returns every extent that the case may have at `now`, after the background work. */
export function allowed(one: ModelCase, now: number): readonly Extent[] {
  if (one.extent === "gone") return ["gone"];
  if (!isFinal(one)) return ["whole"];
  const never = one.status === "rejected" && !one.wasAuthorised;
  const erasures = [
    LIMITS.erase,
    ...(never ? [one.wasSentToBank ? LIMITS.unauthorised : LIMITS.unopened] : []),
  ];
  const days = Math.min(...erasures);
  const isEmptied = one.extent !== "whole";
  const mayBeEmptied = isEmptied || now - one.newest >= days * DAY;
  const mustBeEmptied = isEmptied || now - one.logged >= days * DAY + SLACK;
  const mayBeGone = mayBeEmptied && now - one.newest >= LIMITS.delete * DAY;
  const mustBeGone = mustBeEmptied && now - one.logged >= LIMITS.delete * DAY + SLACK;
  if (mustBeGone) return ["gone"];
  return [
    ...(mustBeEmptied ? [] : ["whole"] as const),
    ...(mayBeEmptied ? ["without person"] as const : []),
    ...(mayBeGone ? ["gone"] as const : []),
  ];
}

/** Returns the statuses that an operator's erasure may get. */
export function allowedAnswers(one: ModelCase, now: number): readonly number[] {
  if (one.extent === "gone") return [404];
  if (!isFinal(one)) return [409];
  if (now - one.newest < LIMITS.keep * DAY) return [200, 409].slice(one.extent === "whole" ? 1 : 0);
  return now - one.logged < LIMITS.keep * DAY + SLACK ? [200, 409] : [200];
}
