/** Tables of pushed requests. */
import {
  type Case,
  type Deviation,
  type Expected,
  pushing,
  rejectedEverywhere,
} from "testing/oauth_requests.ts";

export const INVALID_REQUEST = [400, "invalid_request"] as const;

export function each(
  name: string,
  values: readonly (string | undefined)[],
): Record<string, Deviation["form"]> {
  return Object.fromEntries(
    values.map((value) => [
      `${name}: ${value === undefined ? "missing" : JSON.stringify(value).slice(0, 70)}`,
      { [name]: value },
    ]),
  );
}

export async function table(
  t: Deno.TestContext,
  env: Parameters<typeof pushing>[0],
  expected: Expected,
  forms: Readonly<Record<string, Deviation["form"]>>,
): Promise<void> {
  const cases = Object.entries(forms).map((
    [name, form],
  ): [string, Case] => [name, () => ({ form: form ?? {} })]);
  await rejectedEverywhere(t, env, expected, Object.fromEntries(cases), [await pushing(env)]);
}
