/** A step of its own for each case of a table, named by the case. */
export async function steps<T>(
  t: Deno.TestContext,
  cases: Readonly<Record<string, T>>,
  judge: (value: T, name: string) => void | Promise<void>,
): Promise<void> {
  for (const [name, value] of Object.entries(cases)) await t.step(name, async () => await judge(value, name));
}
