/**
 * Whether the personal data of a record can be read. The store opens each record with one of these states, so no reader
 * has to know values that stand for "erased" or "lost".
 */
import { z } from "zod";
import type { WallTime } from "../../base/kernel/clock.ts";
import { instant } from "../../base/store/record.ts";

/** Its personal data does not exist any more. */
export interface Erased {
  readonly state: "erased";
  /** Milliseconds. */
  readonly at: WallTime;
  /**
   * - `consent`: a consent that was never authorised lost its personal data (contract EN9).
   * - `case`: the case was erased (contract EN11).
   * - `key`: only its data key was erased. The record is of a restored copy and does not know it yet.
   */
  readonly scope: "consent" | "case" | "key";
}

/** Lost: its data key is missing, and may come back with a better copy of the data key store. Never stored. */
export type PersonalData = { readonly state: "present" } | Erased | { readonly state: "lost" };

export const PRESENT = { state: "present" } as const;
export const LOST = { state: "lost" } as const;

/** A value with its personal data. Only such a value can be represented for a participant. */
export type Present<T extends { readonly personalData: PersonalData }> = T & {
  readonly personalData: typeof PRESENT;
};

/** What a reader does in each state. */
export interface Decisions<T extends { readonly personalData: PersonalData }, R> {
  readonly present: (value: Present<T>) => R;
  readonly erased: (erased: Erased) => R;
  readonly lost: () => R;
}

/** Returns the result of the decision for the value's state. A reader has to have one for each state. */
export function decide<T extends { readonly personalData: PersonalData }, R>(
  value: T,
  { present, erased, lost }: Decisions<T, R>,
): R {
  const { personalData } = value;
  if (isPresent(value)) return present(value);
  return personalData.state === "erased" ? erased(personalData) : lost();
}

function isPresent<T extends { readonly personalData: PersonalData }>(value: T): value is Present<T> {
  return value.personalData.state === "present";
}

/** Returns the erasure that the record itself knows, or undefined. */
export function recordedErasure(
  { personalData }: { readonly personalData: PersonalData },
): Erased | undefined {
  const isRecorded = personalData.state === "erased" && personalData.scope !== "key";
  return isRecorded ? personalData : undefined;
}

/** The member of a stored record. */
export const personalDataMember: z.ZodType<PersonalData> = z.discriminatedUnion("state", [
  z.strictObject({ state: z.literal("present") }),
  z.strictObject({ state: z.literal("erased"), at: instant, scope: z.enum(["consent", "case", "key"]) }),
  z.strictObject({ state: z.literal("lost") }),
]);
