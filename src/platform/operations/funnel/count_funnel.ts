/**
 * Background work: counts the funnel from the histories of cases (contract FUN2). A case is looked at until it has ended, less
 * often the older it gets. Several processes may do so: the sums and the entries of their cases change in one commit.
 */
import { errorText, handleBatch } from "../../../base/kernel/batches.ts";
import { paymentIdOf } from "../../../base/kernel/identifiers.ts";
import { keyText } from "../../../base/store/request_reads.ts";
import type { Entry, Store } from "../../../base/store/store.ts";
import { commitIfUnchanged, type TransactDeps } from "../../../base/store/transaction.ts";
import type { ReasonCode } from "../../../base/values/reason_codes.ts";
import { languageAsked } from "../../../pages/language.ts";
import type { ConsentStore } from "../../core/consents/consent_store.ts";
import { readUiLocales } from "../../core/oauth/pushed_request.ts";
import type { PaymentStore } from "../../core/payments/payment_store.ts";
import {
  bodyOf,
  historyOf,
  piecesOf,
  type PlacedEntry,
  placedHistoryOf,
} from "../../evidence/audit_trail.ts";
import { dayOf } from "../../observed/figures/figures.ts";
import type { Log } from "../../observed/log_events.ts";
import type { PlatformMetrics } from "../../observed/metrics.ts";
import { countJourney, type FunnelPart, noSums } from "../../observed/funnel/funnel.ts";
import {
  type CountedCases,
  type FunnelCase,
  type FunnelDay,
  type FunnelStore,
  keysOf,
} from "../../observed/funnel/funnel_store.ts";
import { isOver, type Journey } from "../../observed/funnel/journey.ts";
import { journeyOf } from "./journey_of.ts";

export interface CountFunnelDeps extends TransactDeps {
  readonly funnel: FunnelStore;
  readonly consents: Pick<ConsentStore, "find">;
  readonly payments: Pick<PaymentStore, "find">;
  readonly log: Log;
  readonly metrics: PlatformMetrics;
}

/** A case whose entry or histories cannot be read. */
type Damaged = readonly [entry: Entry<unknown>, error: unknown];

/** Cases that are read at once. */
const PAGE = 200;
/** Cases of a commit: their entries and at most three sums for each are below the limits of a commit of every store. */
const BATCH = 20;
/** Pages of a pass. The next pass goes on. */
const MAX_PAGES = 10;
/** A case is looked at again when it is twice as old, but within these bounds. */
const [SOONEST_MS, LATEST_MS] = [30_000, 6 * 3_600_000];

/** Returns how many cases it has looked at. @throws {StoreFailure} */
export async function countFunnel(deps: CountFunnelDeps): Promise<number> {
  let counted = 0;
  for (let page = 0; page < MAX_PAGES; page++) {
    const damaged: Damaged[] = [];
    const due = await deps.funnel.due(deps.clock(), PAGE, (...one) => damaged.push(one));
    const done = await countPage(deps, due, damaged) + damaged.length;
    for (const one of damaged) await skip(deps, one);
    counted += done;
    if (done < PAGE) break; // no others are due, or another process counts
  }
  return counted;
}

/** Returns how many cases it has counted. Those that cannot be read are added to `damaged`. */
async function countPage(
  deps: CountFunnelDeps,
  due: readonly Entry<FunnelCase>[],
  damaged: Damaged[],
): Promise<number> {
  let counted = 0;
  for (const cases of Map.groupBy(due, ({ value }) => dayOf(value.createdAt)).values()) {
    const alike = cases.toSorted(({ value: one }, { value: other }) =>
      nameOfSums(one) < nameOfSums(other) ? -1 : 1
    );
    for (let from = 0; from < alike.length; from += BATCH) {
      const batch = alike.slice(from, from + BATCH);
      const before = damaged.length;
      const done = await handleBatch(batch, (some) => countBatch(deps, some), (...one) => damaged.push(one));
      if (done.includes(false)) return counted;
      counted += batch.length - (damaged.length - before);
    }
  }
  return counted;
}

/** Cases of one name change the same sums. */
function nameOfSums({ bank, clientId }: FunnelCase): string {
  return `${bank} ${clientId}`;
}

/** The case stays as it was counted, and is looked at again later: its record may be repaired, or be a newer program's. */
async function skip(deps: CountFunnelDeps, [{ key }, error]: Damaged): Promise<void> {
  const stored = await deps.funnel.stored(key);
  const at = deps.clock() + LATEST_MS;
  const isSkipped = stored !== null &&
    await commitIfUnchanged(deps, (tx) => deps.funnel.stagePostponed(tx, stored, at));
  if (!isSkipped) return; // another process has handled it
  deps.metrics.count("platform_funnel_cases_skipped_total", {});
  deps.log.error("case.not_counted", { consentId: key[2] ?? "", error: errorText(error) });
}

/** Returns false if another process has changed a case or a sum. */
async function countBatch(deps: CountFunnelDeps, cases: readonly Entry<FunnelCase>[]): Promise<boolean> {
  // Before the histories: a newer sum follows from newer ones.
  const formers = await deps.funnel.sumsOf(cases.map(({ value }) => value));
  const journeys = await Promise.all(cases.map(({ value }) => readJourney(deps, value)));
  const now = deps.clock();
  const read = cases.map(({ value }, place) => ({
    keys: new Set(keysOf(value).map(keyText)),
    of: value,
    journey: journeys[place],
  }));
  const counted: CountedCases = {
    sums: formers.map((former) => ({
      ...former,
      sums: sumsAfter(former.entry?.value, read.filter(({ keys }) => keys.has(keyText(former.key)))),
    })),
    cases: cases.map((entry, place) => {
      const journey = journeys[place];
      if (journey === undefined || isOver(journey)) return { former: entry };
      return { former: entry, next: { at: nextLook(entry.value.createdAt, now), counted: journey } };
    }),
  };
  return await commitIfUnchanged(deps, (tx) => deps.funnel.stageCounted(tx, counted));
}

function nextLook(createdAt: number, now: number): number {
  return now + Math.min(LATEST_MS, Math.max(SOONEST_MS, now - createdAt));
}

/** A case without a history, which was deleted, stays as it was counted. */
function sumsAfter(
  former: FunnelDay | undefined,
  cases: readonly { readonly of: FunnelCase; readonly journey: Journey | undefined }[],
): FunnelDay {
  const parts = new Map<string, FunnelPart>();
  for (const part of structuredClone(former?.parts ?? [])) parts.set(`${part.type} ${part.language}`, part);
  const count = ({ type }: FunnelCase, journey: Journey, by: 1 | -1): void => {
    const name = `${type} ${journey.language}`;
    const part = parts.get(name) ?? { type, language: journey.language, ...noSums() };
    parts.set(name, part);
    countJourney(part, journey, by);
  };
  for (const { of, journey } of cases) {
    if (journey === undefined) continue;
    if (of.counted !== undefined) count(of, of.counted, -1);
    count(of, journey, 1);
  }
  return { parts: [...parts.values()].filter(({ reached }) => reached.created !== 0) };
}

/** Returns undefined if the history was deleted. */
export async function readJourney(
  { store, consents, payments }: Pick<CountFunnelDeps, "store" | "consents" | "payments">,
  { consentId }: Pick<FunnelCase, "consentId">,
): Promise<Journey | undefined> {
  const paymentId = await paymentIdOf(consentId);
  const [placed, payment] = await Promise.all([
    placedHistoryOf(store, consentId),
    historyOf(store, paymentId),
  ]);
  const consent = placed.map(({ entry }) => entry);
  const asked = await askedLanguage(store, placed);
  const ended = consent.some(({ event }) => event === "consent.Rejected") ||
    payment.some(({ event }) => event === "payment.Rejected");
  const codes = ended
    ? await Promise.all([consents.find(store, consentId), payments.find(store, paymentId)])
    : [null, null];
  const [consentCode, paymentCode] = codes.map((entry): ReasonCode | undefined =>
    entry?.value.statusReasonCode
  );
  return journeyOf(consent, payment, { asked, consentCode, paymentCode });
}

/** Returns the language that the first pushed request asked for, unless a page shows which one the customer read. */
async function askedLanguage(
  store: Store,
  history: readonly PlacedEntry[],
): Promise<string | undefined> {
  const pushed = history.find(({ entry: { items: [item] = [] } }) => item?.kind === "pushed_request");
  const [piece] = pushed === undefined ? [] : piecesOf(pushed);
  if (piece === undefined || history.some(({ entry: { page } }) => page !== undefined)) return undefined;
  const body = await bodyOf(store, piece);
  if (body === null || body === "lost") return undefined;
  const form = new URLSearchParams(new TextDecoder().decode(body.bytes));
  return languageAsked(readUiLocales(form.get("ui_locales") ?? undefined));
}
