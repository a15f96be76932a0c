/** Waiting for an order's next push. */
import { dueAtOf, type PushEnvironment } from "support/orders.ts";

/** Milliseconds until the order is due. */
export async function wait(env: PushEnvironment, id: string): Promise<number> {
  return await dueAtOf(env, id) - env.now;
}
