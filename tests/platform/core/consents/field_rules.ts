/** Values of single fields of a consent request, judged over HTTP. */
import { assertEquals } from "@std/assert";
import { call, clientToken } from "testing/flows.ts";
import { assertFaults } from "testing/resource_answers.ts";
import { FULL_CONSENT } from "testing/resource_bodies.ts";
import { CONSENTS } from "support/resource_calls.ts";
import { openEnvironment } from "testing/environment.ts";
import { edited } from "../../guards/http/edited.ts";
import { unchanged } from "testing/store_contents.ts";

/** Values of one field: those that are taken, and those that are rejected with a code. */
export interface FieldRule {
  readonly path: string;
  readonly takes?: readonly unknown[];
  readonly rejects: readonly unknown[];
  /** `Field.Invalid` unless given. */
  readonly code?: string;
  /** Path of the fault, if it is not the field's own. */
  readonly at?: string;
}

export const CREDITOR = "Data.Initiation.CreditorAccount";
export const DEBTOR = "Data.Initiation.DebtorAccount";

/** Posts a full consent request with each value. A rejected one changes no state. */
export async function judgeFields(t: Deno.TestContext, rules: readonly FieldRule[]): Promise<void> {
  await using env = await openEnvironment();
  const bound = await clientToken(env, env.tpp);
  for (const { path, takes = [], rejects, code = "Field.Invalid", at = path } of rules) {
    const post = (value: unknown): Promise<Response> =>
      call(env, env.tpp, bound, CONSENTS, { body: JSON.stringify(edited(FULL_CONSENT, path, value)) });
    await t.step(path, async () => {
      for (const value of takes) {
        const response = await post(value);
        assertEquals([value, response.status], [value, 201], await response.text());
      }
      for (const value of rejects) {
        await assertFaults(await unchanged(env, () => post(value)), 400, [[code, at]]);
      }
    });
  }
}
