/**
 * Batches of background work. Several processes read the same list of due work at the same time. Each handles it in
 * batches, in a random order, so that two processes rarely commit the same batch at once. A batch that another process
 * has handled meanwhile costs a read and no commit. No process needs to know how many there are.
 */
import { isStoreFailure } from "./api_error.ts";

/**
 * Cuts `items` into batches of at most `size` neighbours, in a random order.
 *
 * @param random returns a number from 0 to less than 1, such as `Math.random`
 */
export function inRandomBatches<T>(items: readonly T[], size: number, random: () => number): T[][] {
  const batches: T[][] = [];
  for (let start = 0; start < items.length; start += size) {
    const batch = items.slice(start, start + size);
    const place = Math.floor(random() * (batches.length + 1)); // Fisher-Yates shuffle, inside out
    batches.push(batches[place] ?? batch);
    batches[place] = batch;
  }
  return batches;
}

/**
 * Handles a batch at once. If that throws, handles its items one at a time, so that a faulty one does not keep the
 * others back.
 *
 * @param failed called for each item that cannot be handled alone either
 * @returns what `handle` returned
 * @throws if the store failed, because no item can be handled then
 */
export async function handleBatch<T, R>(
  batch: readonly T[],
  handle: (items: readonly T[]) => Promise<R>,
  failed: (item: T, error: unknown) => void,
): Promise<R[]> {
  try {
    return [await handle(batch)];
  } catch (error) {
    if (isStoreFailure(error)) throw error;
  }
  const results: R[] = [];
  for (const item of batch) {
    try {
      results.push(await handle([item]));
    } catch (error) {
      if (isStoreFailure(error)) throw error;
      failed(item, error);
    }
  }
  return results;
}

/** Returns the results, or rejects with the first failure, when all have ended: none is under way after that. */
export async function allEnded<T>(all: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(all);
  return await Promise.all(all);
}

/** Describes an error for the log, with its stack if it has one. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.stack ?? error.message : String(error);
}
