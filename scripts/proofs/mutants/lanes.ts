/** Work that is divided among a few workers. */

/** Does every item once, each by a worker that is free. */
export async function shared<Item, Worker>(
  items: readonly Item[],
  workers: readonly Worker[],
  work: (item: Item, worker: Worker) => Promise<void>,
): Promise<void> {
  const left = items.values();
  await Promise.all(workers.map(async (worker) => {
    for (const item of left) await work(item, worker);
  }));
}
