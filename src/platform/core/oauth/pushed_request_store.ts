/**
 * Stores pushed requests by hash of their reference. A request is completed once: of parallel completions, only one
 * commits.
 */
import { z } from "zod";
import {
  bankCode,
  clientId,
  consentId,
  count,
  defineRecord,
  flag,
  instant,
  optional,
  text,
  texts,
} from "../../../base/store/record.ts";
import { newSecret, sha256 } from "../../../base/kernel/identifiers.ts";
import {
  FLOW_SECONDS,
  LATE_CUSTOMER_SECONDS,
  REQUEST_URI_PREFIX,
  REQUEST_URI_SECONDS,
} from "../../../base/profile.ts";
import { pushedRequestKey } from "../../config/store_keys.ts";
import type { Entry, Reader } from "../../../base/store/store.ts";
import type { Transaction } from "../../../base/store/transaction.ts";
import type { PushedRequest } from "./pushed_request.ts";

export const pushedRequestRecord = defineRecord<PushedRequest>({
  name: "pushed_request",
  keyParts: ["SHA-256 of the reference in the request_uri"],
  what: "A pushed authorization request.",
  schema: z.looseObject({
    clientId,
    registration: count,
    bank: bankCode,
    consentId,
    redirectUri: text,
    state: optional(text),
    codeChallenge: text,
    dpopJkt: optional(text),
    uiLocales: optional(texts),
    expiresAt: instant,
    completed: flag,
    sessions: count,
  }),
  version: 1,
  lifetime: "Valid for 599 s. Kept for 900 s and 24 h more, as long as its sessions.",
  personalData: "pseudonymous",
  retention: "protocol",
  restore: "ended",
});

/** Stages the request and returns its `request_uri`. `now` is in milliseconds. */
export async function stagePushedRequest(
  tx: Transaction,
  request: Omit<PushedRequest, "expiresAt" | "completed" | "sessions">,
  now: number,
): Promise<string> {
  const reference = newSecret();
  const expiresAt = now + REQUEST_URI_SECONDS * 1000;
  const value: PushedRequest = { ...request, expiresAt, completed: false, sessions: 0 };
  pushedRequestRecord.set(tx, pushedRequestKey(await sha256(reference)), value, keptUntil(expiresAt));
  return REQUEST_URI_PREFIX + reference;
}

export function findPushedRequest(
  from: Reader,
  referenceHash: string,
): Promise<Entry<PushedRequest> | null> {
  return pushedRequestRecord.get(from, pushedRequestKey(referenceHash));
}

/** Stages that it has started one more session. Of parallel changes, only one commits. */
export function stageSessionCount(tx: Transaction, former: Entry<PushedRequest>): void {
  stageChange(tx, former, { ...former.value, sessions: former.value.sessions + 1 });
}

/** Stages its completion. The commit fails if it was completed meanwhile. */
export function stageCompletion(tx: Transaction, former: Entry<PushedRequest>): void {
  stageChange(tx, former, { ...former.value, completed: true });
}

function stageChange(tx: Transaction, former: Entry<PushedRequest>, changed: PushedRequest): void {
  pushedRequestRecord.replace(tx, former.key, former, changed, keptUntil(changed.expiresAt));
}

// A session may start in the last second, take its full time, and its customer may return late (Decision G1).
function keptUntil(expiresAt: number): number {
  return expiresAt + (FLOW_SECONDS + LATE_CUSTOMER_SECONDS) * 1000;
}
