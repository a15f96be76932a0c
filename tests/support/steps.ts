/** A step of its own for each case of a table, named by the case. */
export async function steps<T>(
  t: Deno.TestContext,
  cases: Readonly<Record<string, T>>,
  judge: (value: T, name: string) => void | Promise<void>,
): Promise<void> {
  for (const [name, value] of Object.entries(cases)) await t.step(name, async () => await judge(value, name));
}

/** A step of its own for each item of a list. */
export async function stepsOf<T>(
  t: Deno.TestContext,
  list: Iterable<T>,
  nameOf: (item: T) => string,
  judge: (item: T) => void | Promise<void>,
): Promise<void> {
  for (const item of list) await t.step(nameOf(item), async () => await judge(item));
}
