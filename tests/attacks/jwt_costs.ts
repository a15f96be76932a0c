/** The signatures that the platform checks for a request. */
import { assertEquals } from "@std/assert";
import { type Cost, costOf, FREE } from "support/crypto_meter.ts";
import { stepsOf } from "support/steps.ts";

/** A request that is built first and measured when sent, with its expected cost and response. */
export type Case = readonly [
  name: string,
  status: number,
  cost: Partial<Cost>,
  make: () => Promise<() => Promise<Response>>,
];

export async function assertCosts(t: Deno.TestContext, cases: readonly Case[]): Promise<void> {
  await stepsOf(t, cases, ([name]) => name, async ([, status, expected, make]) => {
    const send = await make();
    const { result, cost } = await costOf(send);
    assertEquals([result.status, cost], [status, { ...FREE, ...expected }]);
    await result.body?.cancel();
  });
}
