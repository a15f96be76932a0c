/**
 * Erases a case (contract EN11, Decision P3). The first commit takes the personal data out of the consent and its
 * payment and adds the tombstones, entries that say when and why. Then the evidence and the data key are deleted. What
 * a process leaves unfinished, the background work of another one completes.
 */
import { ApiError } from "../../../base/kernel/api_error.ts";
import { errorText } from "../../../base/kernel/batches.ts";
import {
  type BankCode,
  type ConsentId,
  type PaymentId,
  paymentIdOf,
} from "../../../base/kernel/identifiers.ts";
import type { Entry, Reader, Store } from "../../../base/store/store.ts";
import { transact, type TransactDeps, type Transaction } from "../../../base/store/transaction.ts";
import { asOf, type Consent, eraseCustomer, type ErasedConsent } from "../../core/consents/consent.ts";
import type { ConsentStore } from "../../core/consents/consent_store.ts";
import { caseIdOf, type CaseKeys } from "../../evidence/data_keys/case_keys.ts";
import {
  type Erasure,
  stageErasure,
  stageErasureDone,
  unfinishedErasures,
} from "../../evidence/data_keys/erasure_store.ts";
import { recordedErasure } from "../../evidence/personal_data.ts";
import { stageOutOfRows } from "../../evidence/audit_trail.ts";
import { storedPiecesOf } from "../../evidence/read_case.ts";
import type { Log } from "../../observed/log_events.ts";
import { isDecided, type Payment, withoutPerson } from "../../core/payments/payment.ts";
import type { OrderOutboxStore } from "../../core/payments/order_outbox_store.ts";
import { hasOpenDispute } from "../../core/disputes/dispute_store.ts";
import type { PaymentStore } from "../../core/payments/payment_store.ts";
import { type CaseAgeDeps, youngerThan } from "./case_age.ts";
import type { KeptTime } from "./kept_time.ts";

export interface EraseCaseDeps extends TransactDeps, CaseAgeDeps {
  readonly consents: ConsentStore;
  readonly payments: PaymentStore;
  readonly outbox: OrderOutboxStore;
  readonly log: Log;
  /** Whether the orders of the bank are held, so that its cases may change (Decision G9). */
  readonly isHeld: (from: Reader, bank: BankCode) => Promise<boolean>;
  /** Absent in a sandbox without sealing. Then only the store itself loses the data, not its backups. */
  readonly caseKeys: CaseKeys | undefined;
  /** Legal retention period of a case after its newest entry, milliseconds. */
  readonly keepCasesMs: number;
  /** By which the retention period is judged. */
  readonly keptTime: Pick<KeptTime, "now">;
}

/** A case as it is stored. */
export interface CaseParts {
  readonly caseId: PaymentId;
  readonly consent: Entry<Consent>;
  readonly payment: Entry<Payment> | null;
  readonly order: Entry<unknown> | null;
  /** Whether the orders of its bank are held. */
  readonly isHeld: boolean;
  /** Whether a dispute about it has not ended: its evidence is needed. */
  readonly isDisputed: boolean;
}

/** Pieces of evidence that one commit deletes. */
const MAX_PIECES = 100;
const PAGE = 20;

/**
 * Erases the case of a consent. Returns when that was requested first, milliseconds: an erased case stays as it is.
 *
 * @throws {ApiError} `operations.case_unknown`, `operations.case_open`, `operations.case_retained`
 */
export async function eraseCase(deps: EraseCaseDeps, command: Omit<Erasure, "at">): Promise<number> {
  const { consentId } = command;
  const keptNow = await deps.keptTime.now();
  const erasedAt = await transact(deps, { what: "erased case" }, async (tx) => {
    const parts = await readCaseParts(deps, tx, consentId);
    if (parts === null) throw new ApiError("operations.case_unknown");
    const { consent: { value: consent } } = parts;
    const former = recordedErasure(consent);
    if (former?.scope === "case") return former.at;
    const now = deps.clock();
    if (isOpen(parts, now)) throw new ApiError("operations.case_open");
    await rejectRetained(deps, parts, keptNow);
    stageCaseErased(deps, tx, parts, { actor: command.actor, reason: command.reason, at: now });
    return now;
  });
  await finishErasure(deps, { ...command, at: erasedAt });
  return erasedAt;
}

/** Reads a case in a transaction. Null if its consent does not exist. */
export async function readCaseParts(
  { consents, payments, outbox, isHeld }: EraseCaseDeps,
  tx: Transaction,
  consentId: ConsentId,
): Promise<CaseParts | null> {
  const caseId = await paymentIdOf(consentId);
  const [consent, payment, order] = await Promise.all([
    consents.find(tx, consentId),
    payments.find(tx, caseId),
    outbox.find(tx, caseId),
  ]);
  if (consent === null) return null;
  const { bank, clientId } = consent.value;
  const isDisputed = await hasOpenDispute(tx, { paymentId: caseId, bank, clientId });
  return { caseId, consent, payment, order, isHeld: await isHeld(tx, bank), isDisputed };
}

/** Stages the tombstones of a case. {@link openErasures} deletes its evidence and its data key. */
export function stageCaseErased(
  { consents, payments }: EraseCaseDeps,
  tx: Transaction,
  { consent, payment }: CaseParts,
  { at, ...cause }: Omit<Erasure, "consentId">,
): void {
  stageErasure(tx, { consentId: consent.value.id, ...cause, at });
  consents.stageErased(tx, consent, erasedConsent(consent.value, at), cause);
  if (payment !== null) payments.stageErased(tx, payment, withoutPerson(payment.value, at), cause);
}

/**
 * Returns the job that completes erasures that another process has left unfinished, and returns their number. Each pass
 * goes on behind the one before, so if some fail, the others are still completed.
 */
export function openErasures(deps: EraseCaseDeps): () => Promise<number> {
  let last: Erasure | undefined;
  return async () => {
    const page = await unfinishedErasures(deps.store, PAGE, last);
    last = page.length < PAGE ? undefined : page.at(-1);
    let finished = 0;
    for (const erasure of page) {
      try {
        await finishErasure(deps, erasure);
        finished++;
      } catch (error) {
        deps.log.error("case.not_erased", { consentId: erasure.consentId, error: errorText(error) });
      }
    }
    return finished;
  };
}

/** Deletes the evidence, then the data key, then the note that the erasure is not complete. */
async function finishErasure(deps: EraseCaseDeps, { consentId, actor, reason }: Erasure): Promise<void> {
  const paymentId = await paymentIdOf(consentId);
  for (const subject of [consentId, paymentId]) {
    const stage = async (tx: Transaction, deleted: readonly string[]): Promise<void> => {
      const entry = { at: deps.clock(), actor, reason, deleted };
      if (subject === consentId) {
        await deps.consents.stageNote(tx, consentId, { ...entry, event: "consent.evidence_deleted" });
      } else await deps.payments.stageNote(tx, paymentId, { ...entry, event: "payment.evidence_deleted" });
    };
    await deleteEvidence(deps, subject, stage);
  }
  const caseId = caseIdOf(consentId);
  if (caseId !== undefined) await deps.caseKeys?.erase(caseId, deps.clock());
  await transact(
    deps,
    { what: "completed erasure" },
    (tx) => Promise.resolve(stageErasureDone(tx, consentId)),
  );
  deps.log.warn("case.erased", { consentId, by: actor });
}

async function deleteEvidence(
  deps: TransactDeps & { readonly store: Store },
  subject: string,
  stage: (tx: Transaction, deleted: readonly string[]) => Promise<void>,
): Promise<void> {
  for (;;) {
    const left = await transact(deps, { what: "evidence of an erased case" }, async (tx) => {
      const stored = await storedPiecesOf(deps.store, subject);
      const deleted = stored.slice(0, MAX_PIECES);
      if (deleted.length > 0) await stage(tx, deleted.map(({ place }) => place));
      stageOutOfRows(tx, deleted);
      return stored.length - MAX_PIECES;
    });
    if (left <= 0) return;
  }
}

function erasedConsent({ selectedAccount: _, ...consent }: Consent, now: number): ErasedConsent {
  return eraseCustomer(consent, now, "case");
}

/** Whether the customer, the TPP or the bank may still change the case, or a comparison with the bank. */
export function isOpen({ consent, payment, order, isHeld, isDisputed }: CaseParts, now: number): boolean {
  const { status } = asOf(consent.value, now);
  return isHeld || isDisputed || status === "AwaitingAuthorisation" || status === "Authorized" ||
    order !== null ||
    (payment !== null && !isDecided(payment.value));
}

async function rejectRetained(deps: EraseCaseDeps, parts: CaseParts, now: number): Promise<void> {
  const { keepCasesMs } = deps;
  if (keepCasesMs === 0) return;
  const { caseId, consent: { value: { id: consentId } } } = parts;
  const young = await youngerThan(deps, { consentId, caseId }, now - keepCasesMs);
  if (young === undefined) return;
  const until = young === "contradicts the log"
    ? "longer than its times say, because the evidence log got its entries later"
    : `until ${new Date(young.newest + keepCasesMs).toISOString()}`;
  throw new ApiError("operations.case_retained", {
    description: `The law requires that this case is kept ${until} (PLATFORM_KEEP_CASES_DAYS).`,
  });
}
