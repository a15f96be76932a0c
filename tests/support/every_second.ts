/** Planted faults of the certification, of which the gate runs a part. */

/** Whether `CERTIFY_ALL=1` asks for everything, which takes many minutes. */
export const isComplete = Deno.env.get("CERTIFY_ALL") === "1";

/** Returns every second one, or all if `CERTIFY_ALL=1`. */
export function everySecond<T>(faults: readonly T[]): readonly T[] {
  return isComplete ? faults : faults.filter((_, index) => index % 2 === 0);
}
