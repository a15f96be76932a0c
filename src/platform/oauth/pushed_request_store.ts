/**
 * Stores pushed requests by hash of their reference. A request is completed once: of parallel completions, only one
 * commits.
 */
import { newSecret, sha256 } from "../../base/kernel/identifiers.ts";
import { FLOW_SECONDS, LATE_CUSTOMER_SECONDS, REQUEST_URI_PREFIX, REQUEST_URI_SECONDS } from "../profile.ts";
import { pushedRequestKey } from "../store_keys.ts";
import type { Entry, Reader, Store } from "../../base/store/store.ts";
import { check, set, type Transaction } from "../../base/store/transaction.ts";
import type { PushedRequest } from "./pushed_request.ts";

export interface PushedRequestStore {
  /** Stages the request and returns its `request_uri`. `now` is in milliseconds. */
  stage(
    tx: Transaction,
    request: Omit<PushedRequest, "expiresAt" | "completed">,
    now: number,
  ): Promise<string>;
  find(referenceHash: string, from?: Reader): Promise<Entry<PushedRequest> | null>;
  /** Stages that it has started one more session. Of parallel changes, only one commits. */
  stageSession(tx: Transaction, former: Entry<PushedRequest>): void;
  /** Stages its completion. The commit fails if it was completed meanwhile. */
  stageCompletion(tx: Transaction, former: Entry<PushedRequest>): void;
}

export function openPushedRequestStore(store: Store): PushedRequestStore {
  return {
    async stage(tx, request, now) {
      const reference = newSecret();
      const expiresAt = now + REQUEST_URI_SECONDS * 1000;
      const value: PushedRequest = { ...request, expiresAt, completed: false };
      set(tx, pushedRequestKey(await sha256(reference)), value, keptUntil(expiresAt));
      return REQUEST_URI_PREFIX + reference;
    },
    find: (referenceHash, from = store) => from.get<PushedRequest>(pushedRequestKey(referenceHash)),
    stageSession: (tx, former) =>
      stageChange(tx, former, { ...former.value, sessions: (former.value.sessions ?? 0) + 1 }),
    stageCompletion: (tx, former) => stageChange(tx, former, { ...former.value, completed: true }),
  };
}

function stageChange(tx: Transaction, former: Entry<PushedRequest>, changed: PushedRequest): void {
  check(tx, former.key, former.version);
  set(tx, former.key, changed, keptUntil(changed.expiresAt));
}

// A session may start in the last second, take its full time, and its customer may return late (Decision G1).
function keptUntil(expiresAt: number): number {
  return expiresAt + (FLOW_SECONDS + LATE_CUSTOMER_SECONDS) * 1000;
}
