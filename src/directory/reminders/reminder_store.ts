/**
 * The mark of each reminder. A process claims it before it sends the mail and marks it sent afterwards. If the process
 * ends in between, another one sends the mail again, with the same id, when the claim has ended.
 */
import type { WallTime } from "../../base/kernel/clock.ts";
import { z } from "zod";
import { count, defineRecord, instant } from "../../base/store/record.ts";
import type { Key } from "../../base/store/store.ts";
import { transact, type TransactDeps } from "../../base/store/transaction.ts";
import type { OrgId } from "../participants/identifiers.ts";
import type { Sent } from "./mailer.ts";
import type { Ending } from "./reminder.ts";

export interface Reminder {
  /** `given up`: the mail server has rejected it too often. */
  readonly state: "claimed" | "waiting" | "sent" | "given up";
  /** Milliseconds. Until then the process that has claimed it may send it. */
  readonly claimedUntil: WallTime;
  readonly rejections: number;
}

export const reminderRecord = defineRecord<Reminder>({
  name: "directory reminder",
  keyParts: ["org_id, lower case", "kid, or kind and id of what ends", "days before the end"],
  what: "Whether a mail about something that ends was sent.",
  schema: z.looseObject({
    state: z.enum(["claimed", "waiting", "sent", "given up"]),
    claimedUntil: instant,
    rejections: count,
  }),
  version: 1,
  lifetime: "30 days after the end.",
  personalData: "participant",
  retention: "protocol",
  restore: "kept",
});

/** A reminder that this process alone may send. */
export interface Claim {
  readonly key: Key;
  readonly expiresAt: number;
  readonly reminder: Reminder;
}

const CLAIM_MS = 5 * 60_000;
const KEPT_MS = 30 * 86_400_000;
/** Rejections by the mail server, after which a reminder is given up. */
export const MAX_REJECTIONS = 8;

/** Claims a reminder. Returns undefined if it is sent, given up or claimed by another process. */
export async function claimReminder(
  deps: TransactDeps,
  orgId: OrgId,
  { id, endsAt }: Pick<Ending, "id" | "endsAt">,
  days: number,
): Promise<Claim | undefined> {
  const key = ["directory", "reminder", orgId.toLowerCase(), id, String(days)];
  const options = { what: "reminder", attempts: 1, lost: () => undefined };
  return await transact(deps, options, async (tx) => {
    const former = await reminderRecord.get(tx, key);
    const { state, claimedUntil, rejections } = former?.value ??
      { state: "waiting", claimedUntil: 0, rejections: 0 };
    const now = deps.clock();
    if (state === "sent" || state === "given up" || (state === "claimed" && now < claimedUntil)) {
      return undefined;
    }
    const reminder: Reminder = { state: "claimed", claimedUntil: now + CLAIM_MS, rejections };
    reminderRecord.replace(tx, key, former, reminder, endsAt + KEPT_MS);
    return { key, expiresAt: endsAt + KEPT_MS, reminder };
  });
}

/**
 * Ends a claim. Returns the state of the reminder. A mail that was sent stays sent, and a process that did not send it ends
 * no claim that another one has made since.
 */
export async function settleReminder(
  deps: TransactDeps,
  { key, expiresAt, reminder: { claimedUntil, rejections } }: Claim,
  outcome: Sent["outcome"],
): Promise<Reminder["state"]> {
  return await transact(deps, { what: "reminder" }, async (tx) => {
    const former = await reminderRecord.get(tx, key);
    if (former?.value.state === "sent") return "sent";
    const isOwn = former?.value.claimedUntil === claimedUntil;
    if (former !== null && !isOwn && outcome !== "sent") return former.value.state;
    const count = rejections + (outcome === "rejected" ? 1 : 0);
    const state = outcome === "sent" ? "sent" : count >= MAX_REJECTIONS ? "given up" : "waiting";
    reminderRecord.replace(tx, key, former, { state, claimedUntil, rejections: count }, expiresAt);
    return state;
  });
}
