/**
 * Stages each notice about a bank for every TPP (contract EVT18, BH4, Decision T4). There may be thousands of TPPs, so the
 * commit of what the notice tells stages one record, and this job stages the notices a page of clients at a time. A page and
 * the place where the next one begins are one commit, so that each TPP has one notice, however many processes work and
 * whenever they stop.
 */
import { z } from "zod";
import type { BankCode, ClientId } from "../../base/kernel/identifiers.ts";
import { wireDateTime } from "../../base/kernel/clock.ts";
import type { Entry, Store } from "../../base/store/store.ts";
import {
  causeOf,
  check,
  commitIfUnchanged,
  remove,
  type TransactDeps,
  type Transaction,
} from "../../base/store/transaction.ts";
import { bankCode, clientId, count, defineRecord, instant, optional, text } from "../../base/store/record.ts";
import { noticeSpreadKey } from "../config/store_keys.ts";
import type { OutageChange } from "../guards/security/controls_store.ts";
import type { EventStore } from "./event_store.ts";
import { BANK_NOTICE_TYPES, type BankNoticeType, type Notice } from "./event.ts";

/** A notice about a bank, for every TPP. */
export interface NoticeToAll {
  readonly bank: BankCode;
  /** A UUID. Notices with one id are delivered in the order of their positions. */
  readonly id: string;
  /** Milliseconds. It grows with every notice of this id. */
  readonly position: number;
  readonly notice: Notice & { readonly type: BankNoticeType };
}

/** A notice that is being staged. */
interface NoticeSpread extends NoticeToAll {
  /** Of the operator's request; absent if none caused it. */
  readonly interactionId?: string;
  /** The last client whose notice is staged, in the order of their ids; absent before the first page. */
  readonly after?: ClientId;
}

export const noticeSpreadRecord = defineRecord<NoticeSpread>({
  name: "notice_spread",
  keyParts: ["bank code", "position (ms)", "id"],
  what: "A notice about a bank that not every TPP has yet, and how far that is.",
  schema: z.looseObject({
    bank: bankCode,
    id: text,
    position: instant,
    notice: z.looseObject({
      type: z.enum(BANK_NOTICE_TYPES),
      status: text,
      at: instant,
      about: text,
      link: text,
      details: z.record(z.string(), z.union([text, count])),
    }),
    interactionId: optional(text),
    after: optional(clientId),
  }),
  version: 1,
  lifetime: "Until every TPP has its notice.",
  personalData: "none",
  retention: "protocol",
  restore: "kept",
});

/** Stages a notice, in the transaction of what it tells. */
export function stageNoticeToAll(tx: Transaction, { bank, id, position, notice }: NoticeToAll): void {
  const spread = { bank, id, position, notice, ...causeOf(tx) };
  noticeSpreadRecord.set(tx, noticeSpreadKey(bank, position, id), spread);
}

/** Returns the first one that not every TPP has. Those of one bank are in the order of their positions. */
async function findFirstSpread(store: Store): Promise<Entry<NoticeSpread> | undefined> {
  return (await noticeSpreadRecord.list(store, { limit: 1 }))[0];
}

/** Stages how far it is, or that every TPP has it. The commit fails if another process was faster. */
function stageSpread(
  tx: Transaction,
  { key, value, version }: Entry<NoticeSpread>,
  after: ClientId | undefined,
): void {
  check(tx, key, version);
  if (after === undefined) remove(tx, key);
  else noticeSpreadRecord.set(tx, key, { ...value, after });
}

/** A registered client, of which only a TPP gets notices. */
export interface ListedClient {
  readonly clientId: ClientId;
  readonly role: "PISP" | "ASPSP";
}

interface SpreadNoticesDeps extends TransactDeps {
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

/** Stages that TPPs are told of the outage, in the commit that changes it. */
export function stageOutageNotice(
  tx: Transaction,
  authUrl: string,
  { id, bank, position, status, at, from, until, text }: OutageChange,
): void {
  stageNoticeToAll(tx, {
    bank,
    id,
    position,
    notice: {
      type: `outage-${status}`,
      status,
      at,
      about: "planned-outage",
      link: `${authUrl}/.well-known/oauth-authorization-server/${bank}`,
      details: { from: wireDateTime(from), until: wireDateTime(until), text },
    },
  });
}
