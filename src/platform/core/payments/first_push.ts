/**
 * The first push of an order, by the request that created the payment. The TPP waits for it up to 3 s (Decision D4).
 * A push that takes longer continues, and a shutdown can wait for it.
 */
import { releasePlaceWhile } from "../../../base/http/context.ts";
import { errorText } from "../../../base/kernel/batches.ts";
import { isStoreFailure } from "../../../base/kernel/api_error.ts";
import { ORDER_FIRST_PUSH_SECONDS } from "../../../base/profile.ts";
import { type DeliverOrderDeps, deliverOwn } from "./deliver_order.ts";
import type { LeasedOrder } from "./payment_order.ts";

/** Pushes the order. Resolves when the push ends or after 3 s, whichever comes first. Never rejects. */
export async function firstPush(deps: DeliverOrderDeps, order: LeasedOrder): Promise<void> {
  const { paymentId, bank } = order;
  // If the bank is so slow that its slots are all in use, the background worker delivers the order later.
  const push: Promise<void> = deps.slots.take(bank)
    .then((free) => deliverOwn(deps, order).finally(free))
    .catch((error: Error) => {
      if (isStoreFailure(error)) return; // the order is still in the outbox and is pushed again
      deps.log.error("order.delivery_failed", { paymentId, error: errorText(error) });
    })
    .finally(() => void deps.underWay.delete(push));
  deps.underWay.add(push);
  const timeLimit = Promise.withResolvers<void>();
  const timer = setTimeout(timeLimit.resolve, ORDER_FIRST_PUSH_SECONDS * 1000);
  await releasePlaceWhile(() => Promise.race([push, timeLimit.promise])); // a slot for the push may be another request's
  clearTimeout(timer);
}
