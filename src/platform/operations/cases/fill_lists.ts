/**
 * Corrects the lists of consents and payments (contract LS4): adds what a version without lists has created, and removes
 * what it has erased. A search goes through all consents. Another one follows a day later until one has found nothing,
 * because the former version may run beside this one. After each start one goes through those that are newer, because it
 * may have run meanwhile.
 */
import { errorText, handleBatch } from "../../../base/kernel/batches.ts";
import { type ConsentId, paymentIdOf } from "../../../base/kernel/identifiers.ts";
import { openRequestReads } from "../../../base/store/request_reads.ts";
import type { Entry, Reader } from "../../../base/store/store.ts";
import {
  check,
  commitIfUnchanged,
  transact,
  type TransactDeps,
  type Transaction,
} from "../../../base/store/transaction.ts";
import type { Consent } from "../../core/consents/consent.ts";
import type { ConsentStore } from "../../core/consents/consent_store.ts";
import type { Log } from "../../observed/log_events.ts";
import { type ListFill, listFillOf, stageListFill } from "../../guards/lookup/list_fill_store.ts";
import { keyOfListed, listedAmount, stageListed, stageListedGone } from "../../guards/lookup/lookup_store.ts";
import type { Payment } from "../../core/payments/payment.ts";
import type { PaymentStore } from "../../core/payments/payment_store.ts";
import { consentsAfter } from "./retention_store.ts";

export interface FillListsDeps extends TransactDeps {
  readonly log: Log;
  readonly consents: Pick<ConsentStore, "find">;
  readonly payments: Pick<PaymentStore, "find">;
}

/** Consents that a pass looks at. The next one follows a second later. */
const PAGE = 100;
const DAY_MS = 86_400_000;

/** Opens the job of a process that starts now. It returns the number of consents that a pass has looked at. */
export function openListFill(deps: FillListsDeps): () => Promise<number> {
  const startedAt = deps.clock();
  return async () => {
    const former = await listFillOf(deps.store);
    const begun = begunOf(former?.value, startedAt, deps.clock());
    if (begun === undefined) return 0;
    const page = await consentsAfter(deps.store, begun.after, PAGE);
    let failed = 0; // they are tried again by the next search
    const corrected = await handleBatch(page, (some) => correct(deps, some), ({ value: { id } }, error) => {
      failed++;
      deps.log.error("list.not_corrected", { consentId: id, error: errorText(error) });
    });
    const sum = corrected.reduce((all, one) => all + one, failed);
    const next = advanced(begun, page.at(-1)?.value.id, { corrected: sum, isEnded: page.length < PAGE });
    await commitIfUnchanged(deps, (tx) => stageListFill(tx, former, next)); // or another process has
    return page.length;
  };
}

/** Returns the search to go on with, or undefined if none is due. */
function begunOf(former: ListFill | undefined, startedAt: number, now: number): ListFill | undefined {
  if (former?.isEnded === false) return former;
  const isRecent = former !== undefined && Math.abs(now - former.beganAt) < DAY_MS;
  const isDone = former?.isComplete === true && former.beganAt >= startedAt;
  if (isRecent || isDone) return undefined;
  const { verified, isComplete = false } = former ?? {};
  const start = verified === undefined ? {} : { after: verified, verified };
  return { beganAt: now, ...start, corrected: 0, isEnded: false, isComplete };
}

function advanced(
  { after: before, corrected: former, verified: known, beganAt, isComplete }: ListFill,
  last: ConsentId | undefined,
  { corrected: more, isEnded }: Pick<ListFill, "corrected" | "isEnded">,
): ListFill {
  const corrected = former + more;
  const after = last ?? before;
  const verified = isEnded && corrected === 0 ? after : known;
  return {
    beganAt,
    ...(isEnded || after === undefined ? {} : { after }),
    ...(verified === undefined ? {} : { verified }),
    corrected,
    isEnded,
    isComplete: corrected === 0 && (isEnded || isComplete),
  };
}

/** Corrects the entries of some consents and of their payments, in one commit. Returns their number. */
async function correct(deps: FillListsDeps, page: readonly Entry<Consent>[]): Promise<number> {
  const reads = openRequestReads(deps.store);
  const found = await Promise.all(page.map((consent) => faultsOf(deps, reads, consent)));
  const faulty = page.filter((_, index) => found[index]?.length !== 0);
  if (faulty.length === 0) return 0;
  return await transact(deps, { what: "lists" }, async (tx) => {
    const consents = await Promise.all(faulty.map(({ value: { id } }) => deps.consents.find(tx, id)));
    const faults = await Promise.all(
      consents.map((consent) => consent === null ? [] : faultsOf(deps, tx, consent)),
    );
    faults.flat().forEach((fault) => stageCorrection(tx, fault));
    return faulty.length;
  });
}

/** An entry that is missing, or that should not be there. */
type ListFault =
  & { readonly isShown: boolean }
  & (
    | { readonly kind: "consent"; readonly of: Entry<Consent> }
    | { readonly kind: "payment"; readonly of: Entry<Payment> }
  );

async function faultsOf(
  { payments }: FillListsDeps,
  from: Reader,
  consent: Entry<Consent>,
): Promise<readonly ListFault[]> {
  const payment = await payments.find(from, await paymentIdOf(consent.value.id));
  const all: ListFault[] = [{
    kind: "consent",
    of: consent,
    isShown: consent.value.forgottenAt === undefined,
  }];
  if (payment !== null) {
    all.push({ kind: "payment", of: payment, isShown: payment.value.erasedAt === undefined });
  }
  const listed = await Promise.all(all.map(({ kind, of }) => from.get(keyOfListed(kind, of.value))));
  return all.filter(({ isShown }, index) => isShown !== (listed[index] !== null));
}

function stageCorrection(tx: Transaction, { isShown, ...fault }: ListFault): void {
  check(tx, fault.of.key, fault.of.version); // it may be erased meanwhile
  if (!isShown) stageListedGone(tx, fault.kind, fault.of.value);
  else if (fault.kind === "payment") stageListed(tx, "payment", fault.of.value);
  else stageListed(tx, "consent", fault.of.value, amountOf(fault.of.value));
}

function amountOf({ request }: Consent): string {
  return listedAmount(request.initiation.instructedAmount);
}
