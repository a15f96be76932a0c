/**
 * Stages a notice for each TPP whose software statement, key or certificate ends soon (contract EVT17, Decision T4). A sweep
 * goes through the clients, a page in each pass. A notice and the record that it was staged are one commit, so it is staged
 * once, however many processes sweep and whenever they stop.
 */
import { z } from "zod";
import { ApiError, isStoreFailure } from "../../base/kernel/api_error.ts";
import { errorText } from "../../base/kernel/batches.ts";
import type { SteadyClock } from "../../base/kernel/clock.ts";
import type { ClientId } from "../../base/kernel/identifiers.ts";
import { transact, type TransactDeps, type Transaction } from "../../base/store/transaction.ts";
import { count, defineRecord, instant, text } from "../../base/store/record.ts";
import type { Entry, Reader } from "../../base/store/store.ts";
import type { Log } from "../observed/log_events.ts";
import { notifiedExpiriesKey } from "../config/store_keys.ts";
import type { EventStore } from "./event_store.ts";
import { dueNotices, type Expiring, notifiedAfter, type NotifiedExpiry } from "./expiry.ts";
import type { ListedClient } from "./spread_notices.ts";
import type { NoticeId } from "./event.ts";

/** Of which of its expiries a TPP has a notice, so that each notice is staged once. */
interface NotifiedExpiries {
  readonly notified: readonly NotifiedExpiry[];
}

const noticeId = z.custom<NoticeId>((value) => typeof value === "string" && value.startsWith("t-"));

export const notifiedExpiriesRecord = defineRecord<NotifiedExpiries>({
  name: "notified_expiries",
  keyParts: ["client id"],
  what: "The ends of its statement, keys and certificates of which a TPP has a notice.",
  schema: z.looseObject({
    notified: z.array(
      z.looseObject({ name: text, expiresAt: instant, id: noticeId, days: count, position: instant }),
    ),
  }),
  version: 1,
  lifetime: "Until the last of them.",
  personalData: "participant",
  retention: "protocol",
  restore: "kept",
});

/** Returns the expiries of which the TPP has a notice. */
export async function findNotified(from: Reader, client: ClientId): Promise<Entry<NotifiedExpiries> | null> {
  return await notifiedExpiriesRecord.get(from, notifiedExpiriesKey(client));
}

/** Stages them. Of parallel changes one commits. */
export function stageNotified(
  tx: Transaction,
  client: ClientId,
  former: Entry<NotifiedExpiries> | null,
  notified: readonly NotifiedExpiry[],
): void {
  const keptUntil = Math.max(...notified.map(({ expiresAt }) => expiresAt));
  notifiedExpiriesRecord.replace(tx, notifiedExpiriesKey(client), former, { notified }, keptUntil);
}

interface NotifyExpiriesDeps<Client extends ListedClient> extends TransactDeps {
  /** It never goes back. */
  readonly steady: SteadyClock;
  readonly log: Log;
  readonly events: Pick<EventStore, "stageNotice">;
  /** Returns clients in the order of their ids. */
  readonly listClients: (after: ClientId | undefined, limit: number) => Promise<readonly Client[]>;
  /**
   * Returns what the directory states of an active TPP; nothing of another one.
   *
   * @throws {ApiError} without a fresh status list
   */
  readonly expiringOf: (client: Client) => Promise<readonly Expiring[]>;
}

/** The jobs that stage notices. Each returns how much it has done. */
export interface NoticeJobs {
  readonly notifyExpiries: (isStopped: () => boolean) => Promise<number>;
  readonly spreadNotices: (isStopped: () => boolean) => Promise<number>;
}

/** Clients that a pass looks at. The next one follows a second later. */
const PAGE = 20;
const SWEEP_MS = 3_600_000;

/** Opens the job. Its first sweep begins at once. It returns the number of clients that a pass has looked at. */
export function openExpirySweep<Client extends ListedClient>(
  deps: NotifyExpiriesDeps<Client>,
): (isStopped: () => boolean) => Promise<number> {
  let after: ClientId | undefined;
  let nextAt = -Infinity;
  return async (isStopped) => {
    if (deps.steady() < nextAt) return 0;
    const page = await deps.listClients(after, PAGE);
    for (const client of page) {
      if (isStopped() || (client.role === "PISP" && !await tellClient(deps, client))) return 0;
    }
    after = page.length < PAGE ? undefined : page.at(-1)?.clientId;
    if (after === undefined) nextAt = deps.steady() + SWEEP_MS; // the sweep has ended
    return page.length;
  };
}

/**
 * A client whose data cannot be read does not keep the others from theirs: the next sweep tries it again. Returns false
 * without a fresh status list: then the pass is repeated.
 */
async function tellClient<Client extends ListedClient>(
  deps: NotifyExpiriesDeps<Client>,
  client: Client,
): Promise<boolean> {
  try {
    await tell(deps, client.clientId, await deps.expiringOf(client));
    return true;
  } catch (error) {
    if (isStoreFailure(error)) throw error;
    if (error instanceof ApiError) return false;
    deps.log.error("events.expiry_unknown", { clientId: client.clientId, error: errorText(error) });
    return true;
  }
}

async function tell(
  deps: Omit<NotifyExpiriesDeps<ListedClient>, "expiringOf" | "listClients">,
  clientId: ClientId,
  all: readonly Expiring[],
): Promise<void> {
  await transact(deps, { what: "expiries", lost: () => undefined }, async (tx) => {
    const former = await findNotified(tx, clientId);
    const now = deps.clock();
    const due = dueNotices(all, former?.value.notified ?? [], now);
    if (due.length === 0) return;
    for (const { notice, notified: { id, position } } of due) {
      deps.events.stageNotice(tx, { clientId }, { position, resource: id }, notice);
    }
    stageNotified(tx, clientId, former, notifiedAfter(former?.value.notified ?? [], due, now));
  });
}
