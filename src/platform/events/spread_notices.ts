/**
 * Stages each notice about a bank for every TPP (contract EVT18, BH4, Decision T4). There may be thousands of TPPs, so the
 * commit of what the notice tells stages one record, and this job stages the notices a page of clients at a time. A page and
 * the place where the next one begins are one commit, so that each TPP has one notice, however many processes work and
 * whenever they stop.
 */
import type { ClientId } from "../../base/kernel/identifiers.ts";
import type { Entry } from "../../base/store/store.ts";
import { commitIfUnchanged, type TransactDeps } from "../../base/store/transaction.ts";
import type { EventStore } from "./event_store.ts";
import { findFirstSpread, type NoticeSpread, stageSpread } from "./notice_spread_store.ts";

/** A registered client, of which only a TPP gets notices. */
export interface ListedClient {
  readonly clientId: ClientId;
  readonly role: "PISP" | "ASPSP";
}

export interface SpreadNoticesDeps extends TransactDeps {
  readonly events: Pick<EventStore, "stageNotice">;
  /** Returns clients in the order of their ids. */
  readonly listClients: (after: ClientId | undefined, limit: number) => Promise<readonly ListedClient[]>;
}

/** Clients of one commit. Each is one write, of which Deno KV takes 1000. */
const PAGE = 200;
/** Commits of one pass. The next one follows a second later. */
const MAX_COMMITS = 10;

/** Stages the next notices. Returns how many. */
export async function spreadNotices(deps: SpreadNoticesDeps, isStopped: () => boolean): Promise<number> {
  let notified = 0;
  for (let commits = 0; commits < MAX_COMMITS && !isStopped(); commits++) {
    const spread = await findFirstSpread(deps.store);
    if (spread === undefined) break;
    notified += await spreadPage(deps, spread);
  }
  return notified;
}

async function spreadPage(deps: SpreadNoticesDeps, spread: Entry<NoticeSpread>): Promise<number> {
  const { value: { id, bank, position, notice, after, interactionId } } = spread;
  const page = await deps.listClients(after, PAGE);
  const tpps = page.filter(({ role }) => role === "PISP");
  const isCommitted = await commitIfUnchanged(deps, (tx) => {
    const cause = interactionId === undefined ? tx : { ...tx, interactionId };
    for (const { clientId } of tpps) {
      deps.events.stageNotice(cause, { clientId, bank }, { position, resource: `b-${id}` }, notice);
    }
    stageSpread(tx, spread, page.length < PAGE ? undefined : page.at(-1)?.clientId);
  });
  return isCommitted ? tpps.length : 0; // or another process has staged them
}
