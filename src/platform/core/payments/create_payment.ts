/**
 * Creates a payment (contract EP9). Payment, payment order, consumed consent, idempotency claim, evidence and history
 * are one commit, so a consent yields at most one payment, in spite of retries, races and crashes (Decision C7).
 */
import { decide, PRESENT } from "../../evidence/personal_data.ts";
import { differencesFrom, withoutName } from "../consents/initiation.ts";
import { moveConsent, type ReadableConsent } from "../consents/consent.ts";
import type { ConsentStore } from "../consents/consent_store.ts";
import { readConsent } from "../consents/read_consent.ts";
import type { Claim, ClaimStore } from "../../guards/idempotency/idempotent.ts";
import { type PaymentId, paymentIdOf } from "../../../base/kernel/identifiers.ts";
import { ApiError, isStoreFailure } from "../../../base/kernel/api_error.ts";
import { type AccessToken, tokenOfAnotherConsent } from "../../guards/security/access_token.ts";
import type { Bank } from "../../guards/security/caller.ts";
import { type SignedBody, signedEvidence } from "../../guards/security/payload_signature.ts";
import { type RequestState, type TransactDeps, transactFor } from "../../../base/store/transaction.ts";
import type { FiguresRecorder } from "../../observed/figures/recorder.ts";
import type { PayingAccount, ReadablePayment } from "./payment.ts";
import { mismatchFaults, type PaymentRequest } from "./payment_schema.ts";
import type { OrderOutboxStore } from "./order_outbox_store.ts";
import type { PaymentStore } from "./payment_store.ts";
import { type LeasedOrder, openOrder } from "./payment_order.ts";
import { readPayment } from "./read_payment.ts";

export interface CreatePaymentDeps extends TransactDeps {
  readonly consents: ConsentStore;
  readonly payments: PaymentStore;
  readonly outbox: OrderOutboxStore;
  readonly claims: ClaimStore;
  readonly figures: Pick<FiguresRecorder, "payment">;
  /** Pushes the order, if the bank answers soon enough. Never rejects. */
  readonly firstPush: (order: LeasedOrder) => Promise<void>;
}

/** A decoded request whose token and signature are verified. */
export interface CreatePayment extends RequestState {
  readonly token: AccessToken;
  readonly bank: Pick<Bank, "code" | "paymentOrdersUri">;
  readonly request: PaymentRequest;
  readonly signedBody: SignedBody;
  readonly claim: Claim;
}

/**
 * Creates the payment, or returns the one that a parallel request with the same key and body created.
 *
 * @throws {ApiError} `token.insufficient_scope`, `resource.not_found`, `resource.invalid_consent_status`,
 * `resource.consent_mismatch`, `idempotency.key_reused`
 */
export async function createPayment(
  deps: CreatePaymentDeps,
  command: CreatePayment,
): Promise<ReadablePayment> {
  const { token, bank, request } = command;
  const { consents, payments, outbox, claims } = deps;
  const owner = { bank: bank.code, clientId: token.clientId };
  const pushed = bank.paymentOrdersUri !== undefined;
  const { payment, order, isNew } = await transactFor<Created>(
    deps,
    command,
    { what: "payment" },
    async (tx) => {
      const entry = await readConsent(deps, tx, request.consentId, owner);
      if (token.consentId !== entry.value.id) throw tokenOfAnotherConsent();
      // Read not before the consent: the winner of a race wrote claim and consent together, so a request that finds the
      // consent consumed also finds the claim.
      const found = await claims.claimFor(tx, command.claim);
      if ("resourceId" in found) {
        const made = await readPayment(deps, tx, found.resourceId, { bank: bank.code, token });
        return { payment: made.value, isNew: false };
      }
      const id = await paymentIdOf(entry.value.id);
      const { payment, consumed } = consume(entry.value, { id, request, pushed }, deps.clock());
      const order = pushed ? openOrder(payment.id, payment.bank, deps.clock()) : undefined;
      const used = { actor: payment.clientId, reason: `payment ${payment.id}` };
      const position = consents.stageChange(tx, entry, consumed, used, payment.createdAt);
      const proof = signedEvidence("payment_request", command.signedBody);
      const created = { actor: payment.clientId, reason: "created", ...proof };
      payments.stageCreation(tx, payment, created, { consumed: position });
      if (order !== undefined) outbox.stageOpening(tx, order);
      claims.stage(tx, found.free, payment.id);
      return { payment, order, isNew: true };
    },
  );
  if (isNew) deps.figures.payment(payment);
  return await awaitFirstAnswer(deps, payment, order);
}

/** A payment, and its order if this request has created it and must push it. */
interface Created {
  readonly payment: ReadablePayment;
  readonly isNew: boolean;
  readonly order?: LeasedOrder | undefined;
}

/** Checks the status, then compares the requests. A mismatch does not change the consent (Decision C6). */
function consume(
  consent: ReadableConsent,
  { id, request, pushed }: {
    readonly id: PaymentId;
    readonly request: PaymentRequest;
    readonly pushed: boolean;
  },
  now: number,
): { payment: ReadablePayment; consumed: ReadableConsent } {
  const consumed = moveConsent(consent, "consume", now);
  const { initiation, readRefundAccount } = consent.request;
  const faults = mismatchFaults(differencesFrom(consent.request, request, consent.selectedAccount));
  if (faults.length > 0) throw new ApiError("resource.consent_mismatch", { faults });
  const debtorAccount = initiation.debtorAccount ?? payingAccount(consent);
  if (debtorAccount === undefined) throw new Error("an authorised consent without an account that pays");
  const payment: ReadablePayment = {
    id,
    consentId: consent.id,
    clientId: consent.clientId,
    bank: consent.bank,
    initiation: { ...request.initiation, ...initiation }, // equal except for optional fields
    debtorAccount,
    readRefundAccount: readRefundAccount === "Yes",
    status: pushed ? "Pending" : "AcceptedSettlementInProcess", // Decision D4
    charges: [],
    createdAt: now,
    statusUpdatedAt: now,
    personalData: PRESENT,
  };
  return { payment, consumed };
}

/** Returns the chosen account, with its currency if it has another one than the payment (contract PO6). */
function payingAccount({ request, selectedAccount }: ReadableConsent): PayingAccount | undefined {
  if (selectedAccount === undefined) return undefined;
  const { currency = request.initiation.instructedAmount.currency } = selectedAccount;
  const isOwn = currency === request.initiation.instructedAmount.currency;
  return { ...withoutName(selectedAccount), ...(isOwn ? {} : { currency }) };
}

/**
 * Returns the payment after the bank's first response, or unchanged if there was none in time. The payment is made and
 * its proof is used, so the store failing from here on must not make the request fail.
 */
async function awaitFirstAnswer(
  deps: CreatePaymentDeps,
  payment: ReadablePayment,
  order: LeasedOrder | undefined,
): Promise<ReadablePayment> {
  if (order === undefined) return payment;
  await deps.firstPush(order);
  try {
    const stored = await deps.payments.find(deps.store, payment.id);
    if (stored === null) return payment;
    return decide(stored.value, { present: (now) => now, erased: () => payment, lost: () => payment });
  } catch (error) {
    if (!isStoreFailure(error)) throw error;
    return payment;
  }
}
