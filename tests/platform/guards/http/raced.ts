/** Requests that race. */
import { good } from "testing/flows.ts";
import type { Environment } from "testing/environment.ts";

export const SHOTS = 40;

/** The number of stored records of a kind: `consent`, `payment`, `payment_order`, `idempotency_claim`. */
export async function stored(env: Environment, kind: string): Promise<number> {
  return (await env.snapshot()).filter(({ key }) => key[0] === kind).length;
}

/** Every answer is a 201; gives the different ids among them. */
export async function idsOf(answers: readonly Response[], name: string): Promise<readonly string[]> {
  const bodies = await Promise.all(
    answers.map((answer) => good<{ Data: Record<string, string> }>(answer, 201)),
  );
  return [...new Set(bodies.map(({ Data }) => Data[name] ?? ""))];
}
