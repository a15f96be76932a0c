/** A platform with an operator. */
import { down, later, openPushEnvironment, type PushEnvironment } from "support/orders.ts";
import { MARIA, OPERATIONS_URL } from "testing/operators.ts";

export const LIST = "/operations/payment-orders?state=dead";

export async function openOperated(): Promise<PushEnvironment> {
  return await openPushEnvironment(down);
}

/** Lets so much time pass that everything that fails is given up. */
export async function giveUp(env: PushEnvironment): Promise<void> {
  for (let hour = 0; hour < 12; hour++) await later(env, 3_600_000);
}

export function redriveOf(id: string): string {
  return `/operations/payment-orders/${id}/redrive`;
}

/** Maria's request, unless the headers say otherwise. No client certificate: operators are not participants. */
export function operate(
  env: PushEnvironment,
  path: string,
  headers: Record<string, string> = MARIA,
): Promise<Response> {
  const method = path.includes("redrive") ? "POST" : "GET";
  return env.platform.operations.fetch(new Request(`${OPERATIONS_URL}${path}`, { method, headers }));
}
