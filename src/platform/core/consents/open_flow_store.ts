/**
 * Records which authorization sessions of a consent have their customer at the bank. Only then may the bank report
 * accounts (Decision C11). The bank's return removes the session and fixes the accounts that the bank reported
 * (Decision G2).
 */
import { z } from "zod";
import { defineRecord, instant, text } from "../../../base/store/record.ts";
import { asConsentId, type ConsentId } from "../../../base/kernel/identifiers.ts";
import { isYetToPass, type WallTime } from "../../../base/kernel/clock.ts";
import { FLOW_SECONDS } from "../../../base/profile.ts";
import { openFlowKey } from "../../config/store_keys.ts";
import type { Entry, Key, Reader } from "../../../base/store/store.ts";
import { check, type Transaction } from "../../../base/store/transaction.ts";

/** A consent's open sessions, as stored. */
export interface OpenFlow {
  /** Milliseconds. When the newest session expires. */
  readonly expiresAt: WallTime;
  /** When each session expires (milliseconds), by correlation id. */
  readonly sessions: Readonly<Record<string, number>>;
}

export const openFlowRecord = defineRecord<OpenFlow>({
  name: "open_flow",
  keyParts: ["consent id"],
  what: "The authorization sessions of a consent whose customers are at the bank.",
  schema: z.looseObject({ expiresAt: instant, sessions: z.record(text, instant) }),
  version: 1,
  lifetime: "900 s after the newest session began.",
  personalData: "pseudonymous",
  retention: "protocol",
  restore: "deleted",
});

/**
 * Limit of the recorded sessions. Without a record, the accounts of the oldest one are fixed when a newer session
 * ends.
 */
const MAX_SESSIONS = 20;

/** Keys to prefetch for the open sessions of the consent that a path names. */
export function openFlowAhead(idText: unknown): readonly Key[] {
  const id = asConsentId(idText);
  return id === undefined ? [] : [openFlowKey(id)];
}

/** Returns the consent's open sessions. Some may have expired. */
export function findOpenFlow(from: Reader, consent: ConsentId): Promise<Entry<OpenFlow> | null> {
  return openFlowRecord.get(from, openFlowKey(consent));
}

/** Whether a customer is at the bank. `now` is in milliseconds. */
export function isOpen(flow: Entry<OpenFlow> | null, now: WallTime): boolean {
  if (flow === null) return false;
  return Object.values(flow.value.sessions).some((time) => isYetToPass(time, now, FLOW_SECONDS * 1000));
}

/** Stages that a session's customer is redirected to the bank. Of parallel changes, only one commits. */
export function stageFlowOpened(
  tx: Transaction,
  former: Entry<OpenFlow> | null,
  { consentId, correlationId, expiresAt }: {
    readonly consentId: ConsentId;
    readonly correlationId: string;
    readonly expiresAt: WallTime;
  },
  now: WallTime,
): void {
  const open = Object.entries(former?.value.sessions ?? {}).filter(([, time]) => now < time);
  const sessions = Object.fromEntries([...open, [correlationId, expiresAt]].slice(-MAX_SESSIONS));
  check(tx, openFlowKey(consentId), former?.version ?? null);
  openFlowRecord.set(tx, openFlowKey(consentId), { expiresAt, sessions }, expiresAt);
}

/** Stages that the bank has redirected the session's customer back. Of parallel changes, only one commits. */
export function stageFlowClosed(
  tx: Transaction,
  former: Entry<OpenFlow> | null,
  correlationId: string,
): void {
  if (former === null) return;
  const { expiresAt, sessions: { [correlationId]: _, ...sessions } } = former.value;
  check(tx, former.key, former.version);
  openFlowRecord.set(tx, former.key, { expiresAt, sessions }, expiresAt);
}
