/** A platform with an operator. */
import { down, later, openPushEnvironment, type PushEnvironment } from "support/orders.ts";
import { BASE_URL } from "testing/environment.ts";

export const TOKEN = "an-operators-token-0123456789-abcdefghij";

export const LIST = "/operations/payment-orders?state=dead";

export const bearer = { authorization: `Bearer ${TOKEN}` };

export async function openOperated(): Promise<PushEnvironment> {
  return await openPushEnvironment(down, { environment: { OPERATOR_TOKEN: TOKEN } });
}

/** Lets so much time pass that everything that fails is given up. */
export async function giveUp(env: PushEnvironment): Promise<void> {
  for (let hour = 0; hour < 12; hour++) await later(env, 3_600_000);
}

export function redriveOf(id: string): string {
  return `/operations/payment-orders/${id}/redrive`;
}

/** No client certificate: operators are no participants. */
export function operate(
  env: PushEnvironment,
  path: string,
  headers: Record<string, string> = bearer,
): Promise<Response> {
  const method = path.includes("redrive") ? "POST" : "GET";
  return env.platform.api.fetch(new Request(`${BASE_URL}${path}`, { method, headers }));
}
