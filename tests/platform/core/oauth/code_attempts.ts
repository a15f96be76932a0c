/** Redemptions of a code that are rejected. */
import { assertEquals } from "@std/assert";
import { assertApiError, type Expected, type IssuedCode } from "testing/oauth_requests.ts";
import type { Environment } from "testing/environment.ts";

export const INVALID_GRANT = [400, "invalid_grant"] as const;

export type Attempt = (flow: IssuedCode) => Promise<Response>;

export async function rejectedOnce(
  env: Environment,
  expected: Expected,
  send: () => Promise<Response>,
): Promise<void> {
  const before = await withoutFailures(env);
  await assertApiError(await send(), expected);
  assertEquals(await withoutFailures(env), before);
}

/** The store, leaving out how often codes were tried in vain. */
export async function withoutFailures(env: Environment): Promise<unknown> {
  return (await env.snapshot()).map(({ key, value, version }) =>
    key[0] === "authorization_code"
      ? { key, value: { ...value as object, failures: 0 } }
      : { key, value, version }
  );
}
