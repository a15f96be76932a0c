/**
 * Stages the notice of each change of a planned outage for every TPP (contract EVT18, Decision T4). There may be thousands
 * of TPPs, so the commit of the change stages one record, and this job stages the notices a page of clients at a time. A
 * page and the place where the next one begins are one commit, so that each TPP has one notice, however many processes work
 * and whenever they stop.
 */
import { wireDateTime } from "../../base/kernel/clock.ts";
import type { ClientId } from "../../base/kernel/identifiers.ts";
import type { Entry } from "../../base/store/store.ts";
import { commitIfUnchanged, type TransactDeps } from "../../base/store/transaction.ts";
import type { Notice } from "./event.ts";
import type { EventStore } from "./event_store.ts";
import type { OutageSpread, OutageSpreadStore } from "./outage_notice_store.ts";

/** A registered client, of which only a TPP gets notices. */
export interface ListedClient {
  readonly clientId: ClientId;
  readonly role: "PISP" | "ASPSP";
}

export interface TellOutagesDeps extends TransactDeps {
  readonly authUrl: string;
  readonly events: Pick<EventStore, "stageNotice">;
  readonly outages: OutageSpreadStore;
  /** Returns clients in the order of their ids. */
  readonly listClients: (after: ClientId | undefined, limit: number) => Promise<readonly ListedClient[]>;
}

/** Clients of one commit. Each is one write, of which Deno KV takes 1000. */
const PAGE = 200;
/** Commits of one pass. The next one follows a second later. */
const MAX_COMMITS = 10;

/** Stages the next notices. Returns how many. */
export async function tellOutages(deps: TellOutagesDeps, isStopped: () => boolean): Promise<number> {
  let told = 0;
  for (let commits = 0; commits < MAX_COMMITS && !isStopped(); commits++) {
    const change = await deps.outages.first();
    if (change === undefined) break;
    told += await tellPage(deps, change);
  }
  return told;
}

async function tellPage(deps: TellOutagesDeps, change: Entry<OutageSpread>): Promise<number> {
  const { value: { id, bank, position, after, interactionId } } = change;
  const page = await deps.listClients(after, PAGE);
  const tpps = page.filter(({ role }) => role === "PISP");
  const isCommitted = await commitIfUnchanged(deps, (tx) => {
    const cause = interactionId === undefined ? tx : { ...tx, interactionId };
    for (const { clientId } of tpps) {
      deps.events.stageNotice(
        cause,
        { clientId, bank },
        { position, resource: `b-${id}` },
        noticeOf(deps, change.value),
      );
    }
    deps.outages.stageProgress(tx, change, page.length < PAGE ? undefined : page.at(-1)?.clientId);
  });
  return isCommitted ? tpps.length : 0; // or another process has staged them
}

function noticeOf(
  { authUrl }: TellOutagesDeps,
  { bank, status, at, from, until, text }: OutageSpread,
): Notice {
  return {
    type: `outage-${status}`,
    status,
    at,
    about: "planned-outage",
    link: `${authUrl}/.well-known/oauth-authorization-server/${bank}`,
    details: { from: wireDateTime(from), until: wireDateTime(until), text },
  };
}
