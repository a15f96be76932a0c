/** The background work on payment orders: a pass every second, one at a time, until it is stopped. */
import { deliverDueOrders } from "./deliver_order.ts";
import type { FirstPushDeps } from "./first_push.ts";

/** A worker; several processes may each have one. */
export interface OrderWorker {
  /** Pushes the payment orders that are due; gives how many. For runtimes that keep time themselves. */
  readonly deliverDueOrders: () => Promise<number>;
  /** Does so every second until `stop`. */
  startWork(): void;
  /** Waits for the pushes under way; the store is the caller's to close. */
  stop(): Promise<void>;
}

const WORK_EVERY_MS = 1000;

/** A worker that has not started. */
export function openOrderWorker(deps: FirstPushDeps): OrderWorker {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let pass: Promise<unknown> = Promise.resolve();
  let stopped = false;
  const work = (): void => {
    pass = deliverDueOrders(deps)
      .catch((error: Error) => deps.log.error("work.failed", { error: error.stack ?? error.message }))
      .finally(() => void (stopped || (timer = setTimeout(work, WORK_EVERY_MS))));
  };
  return {
    deliverDueOrders: () => deliverDueOrders(deps),
    startWork: () => void (timer ??= setTimeout(work, WORK_EVERY_MS)),
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await Promise.all([pass, ...deps.underWay]);
    },
  };
}
