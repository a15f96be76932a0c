/** Values of single fields that a request is rejected for, each with the code and path of its only fault. */
import { assertFaults } from "testing/resource_answers.ts";

/** `undefined` among the values leaves the field out. */
export type FaultyField = readonly [path: string, code: string, values: readonly unknown[]];

/** @param send the good request, with this value in this field */
export async function rejectsFields(
  t: Deno.TestContext,
  fields: readonly FaultyField[],
  send: (path: string, value: unknown) => Promise<Response>,
): Promise<void> {
  for (const [path, code, values] of fields) {
    await t.step(`${code} ${path}`, async () => {
      for (const value of values) await assertFaults(await send(path, value), 400, [[code, path]]);
    });
  }
}
