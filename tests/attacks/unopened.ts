/** Sealed JWTs that the platform does not open. */
import { assertEquals } from "@std/assert";
import { assertNotAuthentic, IMPLICIT, returnTo } from "testing/bank_return.ts";
import { costOf, FREE } from "support/crypto_meter.ts";
import { type AtBank, returnPath, toBank } from "testing/authorization_flow.ts";
import { assertCodeAnswer } from "testing/front_channel.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { segment } from "testing/raw_jws.ts";
import { steps } from "support/steps.ts";

/** Encrypted tokens, each rejected with the page for unauthentic returns. Then the valid one is accepted. */
export async function notAuthentic(
  t: Deno.TestContext,
  tokens: Readonly<Record<string, (env: Environment, flow: AtBank) => Promise<string>>>,
  judge: (act: () => Promise<void>) => Promise<void> = (act) => act(),
): Promise<void> {
  await using env = await openEnvironment();
  const flow = await toBank(env, { body: IMPLICIT });
  const fetched = [...env.fetched];
  await steps(t, tokens, async (make) => {
    const path = returnTo("BANKA", await make(env, flow));
    await judge(() => assertNotAuthentic(env, flow.browser, path));
  });
  assertEquals(env.fetched, fetched);
  await t.step("and nothing else was wrong with it", async () => {
    await assertCodeAnswer(await flow.browser.open(await returnPath(env, env.bankA, flow.handover)));
  });
}

/** Asserts that the act decrypts no JWE and verifies no signature. */
export async function unopened(act: () => Promise<void>): Promise<void> {
  assertEquals((await costOf(act)).cost, FREE);
}

export const PASSWORD = { alg: "PBES2-HS512+A256KW", enc: "A256GCM", p2s: "AAAAAAAAAAAAAAAAAAAAAA" };

export const OFF_CURVE = {
  kty: "EC",
  crv: "P-256",
  x: segment(new Uint8Array(32).fill(1)),
  y: segment(new Uint8Array(32).fill(2)),
};
