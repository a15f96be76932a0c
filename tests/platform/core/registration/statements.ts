/** Software statements that are rejected. */
import { assertEquals } from "@std/assert";
import type { JsonObject } from "testing/jwts.ts";
import { onboardOnly, type Participant } from "testing/participants.ts";
import {
  assertRejected,
  MANY_REGISTRATIONS,
  NEWCOMER,
  postRegistration,
  statementWith,
} from "testing/registration.ts";
import { DIRECTORY_URL, type Environment, openEnvironment } from "testing/environment.ts";
import { steps } from "support/steps.ts";

export type MakeStatement = (newcomer: Participant, env: Environment) => Promise<string>;

/** Tries each statement. Only the directory's own keys may be fetched for it. */
export async function rejectAll(
  t: Deno.TestContext,
  error: string,
  statements: Readonly<Record<string, MakeStatement>>,
): Promise<void> {
  await using env = await openEnvironment(MANY_REGISTRATIONS);
  const newcomer = await onboardOnly(env, NEWCOMER);
  await steps(t, statements, async (make) => {
    const statement = await make(newcomer, env);
    env.fetched.length = 0;
    const claims = { software_statement: statement };
    await assertRejected(env, () => postRegistration(env, newcomer, { claims }), 400, error);
    assertEquals(env.fetched.filter((url) => url !== `${DIRECTORY_URL}/jwks`), []);
  });
  await t.step("and nothing else was wrong with it", async () => {
    assertEquals((await postRegistration(env, newcomer)).status, 201);
  });
}

/** A statement with these claims, by the directory. */
export function claiming(claims: JsonObject): MakeStatement {
  return (newcomer) => statementWith(newcomer, { claims });
}
