/**
 * Which authorization sessions of a consent have their customer at the bank: only then may the bank report accounts
 * (Decision C11). A session is taken out by the bank's return, which fixes the accounts that it reported (Decision G2).
 */
import { asConsentId, type ConsentId } from "../../base/kernel/identifiers.ts";
import { isYetToPass } from "../../base/kernel/clock.ts";
import { FLOW_SECONDS } from "../profile.ts";
import { openFlowKey } from "../store_keys.ts";
import type { Entry, Key, Reader } from "../../base/store/store.ts";
import { check, set, type Transaction } from "../../base/store/transaction.ts";

/** A consent's open sessions, as stored. */
export interface OpenFlow {
  /** Milliseconds: when the newest session expires. */
  readonly expiresAt: number;
  /** When each expires (milliseconds), by correlation id. Older records have the newest session's time alone. */
  readonly sessions?: Readonly<Record<string, number>>;
}

/** More than these are not told apart: the oldest one's accounts are fixed when a newer session ends. */
const MAX_SESSIONS = 20;

/** The key of the open sessions of the consent that a path names: what to prefetch. */
export function openFlowAhead(idText: unknown): readonly Key[] {
  const id = asConsentId(idText);
  return id === undefined ? [] : [openFlowKey(id)];
}

/** The consent's open sessions; some may have expired. */
export function findOpenFlow(from: Reader, consent: ConsentId): Promise<Entry<OpenFlow> | null> {
  return from.get<OpenFlow>(openFlowKey(consent));
}

/** Whether a customer is at the bank. `now` in milliseconds. */
export function isOpen(flow: Entry<OpenFlow> | null, now: number): boolean {
  if (flow === null) return false;
  const { expiresAt, sessions } = flow.value;
  const times = sessions === undefined ? [expiresAt] : Object.values(sessions);
  return times.some((time) => isYetToPass(time, now, FLOW_SECONDS * 1000));
}

/** Stages that a customer leaves for the bank; of parallel changes, one commits. */
export function stageFlowOpened(
  tx: Transaction,
  former: Entry<OpenFlow> | null,
  { consentId, correlationId, expiresAt }: {
    readonly consentId: ConsentId;
    readonly correlationId: string;
    readonly expiresAt: number;
  },
  now: number,
): void {
  const open = Object.entries(former?.value.sessions ?? {}).filter(([, time]) => now < time);
  const sessions = Object.fromEntries([...open, [correlationId, expiresAt]].slice(-MAX_SESSIONS));
  check(tx, openFlowKey(consentId), former?.version ?? null);
  set(tx, openFlowKey(consentId), { expiresAt, sessions } satisfies OpenFlow, expiresAt);
}

/** Stages that the bank has sent the customer of this session back; of parallel changes, one commits. */
export function stageFlowClosed(
  tx: Transaction,
  former: Entry<OpenFlow> | null,
  correlationId: string,
): void {
  if (former === null) return;
  // A record from before sessions were told apart has one session: this one.
  const { [correlationId]: _, ...sessions } = former.value.sessions ?? {};
  check(tx, former.key, former.version);
  set(
    tx,
    former.key,
    { expiresAt: former.value.expiresAt, sessions } satisfies OpenFlow,
    former.value.expiresAt,
  );
}
