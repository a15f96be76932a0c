/** Large sets of cases, of which a run of all tests takes a part. */

/** Whether `TEST_ALL=1` asks for every case, which takes many minutes. */
export const isComplete = Deno.env.get("TEST_ALL") === "1";

/** Returns every n-th case, from the one with the index `first` on. Returns all if `TEST_ALL=1`. */
export function partOf<T>(cases: readonly T[], n: number, first = 0): readonly T[] {
  return isComplete ? cases : cases.filter((_, index) => index % n === first % n);
}
