/**
 * Every key in the platform's store, with what lies under it and for how long. Secrets and attacker-sized ids
 * are SHA-256 hashes here, so that a copy of the database holds nothing that can be presented.
 */
import {
  type BankCode,
  type ClientId,
  type ConsentId,
  type PaymentId,
  sha256,
} from "../base/kernel/identifiers.ts";
import type { Key } from "../base/store/store.ts";

/** Longest id of somebody else's choosing that is a part of a key as it is. */
const MAX_PLAIN_CHARACTERS = 64;

/**
 * An id of somebody else's choosing, such as a `jti`, as part of a key: itself where it is short, as nearly all are,
 * else its hash. The first character tells the two apart.
 */
export async function idPart(id: string): Promise<string> {
  return id.length <= MAX_PLAIN_CHARACTERS ? `=${id}` : `#${await sha256(id)}`;
}

/** A registered client (`platform/registration/client.ts`). Kept. */
export const clientKey = (client: ClientId): Key => ["client", client];

/** The software statement that a client stands on, as signed. Kept; apart from the client, which every request reads. */
export const softwareStatementKey = (client: ClientId): Key => ["software_statement", client];

/** The client that is the bank of this code: its ClientId. Kept. */
export const bankKey = (bank: BankCode): Key => ["bank", bank];

/** An access token, by hash (`platform/oauth/access_token_store.ts`). 3600 s. */
export const accessTokenKey = (tokenHash: string): Key => ["access_token", tokenHash];

/** A pushed authorization request, by hash of its reference. 599 s, and as long as a session that it started is kept. */
export const pushedRequestKey = (referenceHash: string): Key => ["pushed_request", referenceHash];

/** An authorization code, by hash; used ones are kept to notice a second use. 3600 s. */
export const authorizationCodeKey = (codeHash: string): Key => ["authorization_code", codeHash];

/** A PKCE challenge that has led to a code. 24 h. */
export const spentChallengeKey = (
  client: ClientId,
  challenge: string,
): Key => ["spent_challenge", client, challenge];

/** An interaction, by correlation id (`platform/frontchannel/authorization_session.ts`). 900 s, and 24 h more for its late customer. */
export const authorizationSessionKey = (correlationId: string): Key => ["interaction", correlationId];

/** The sessions of a consent whose customers are at the bank (`platform/consents/open_flow_store.ts`). 900 s. */
export const openFlowKey = (consent: ConsentId): Key => ["open_flow", consent];

/** A consent (`platform/consents/consent.ts`). Kept. */
export const consentKey = (consent: ConsentId): Key => ["consent", consent];

/** Consents in the order of their deadlines: the consent's id. Until it has moved on. */
export const consentDeadlineKey = (at: number, consent: ConsentId): Key => [
  "consent_deadline",
  String(at).padStart(15, "0"),
  consent,
];

/** A payment (`platform/payments/payment.ts`). Kept. */
export const paymentKey = (payment: PaymentId): Key => ["payment", payment];

/** A bank's payment orders in the order of their making: the payment's id. Kept. */
export const paymentOrdersKey = (bank: BankCode): Key => ["payment_order", bank];

/** An order still to be pushed (`platform/payments/order_outbox_store.ts`). Until the bank has answered. */
export const outboxKey = (payment: PaymentId): Key => ["outbox", payment];

/** A bank's orders to push, in the order in which they fall due: the payment's id. */
export const outboxQueueKey = (bank: BankCode, dueAt: number, payment: PaymentId): Key => [
  "outbox_queue",
  bank,
  String(dueAt).padStart(15, "0"),
  payment,
];

/** Orders given up: the payment's id. Until an operator has one tried again, or the bank reports on it. */
export const outboxDeadKey = (payment: PaymentId): Key => ["outbox_dead", payment];

/** Orders that are held, by bank: the payment's id. Until the bank may have its orders again. */
export const outboxHeldKey = (bank: BankCode, payment: PaymentId): Key => ["outbox_held", bank, payment];

/** A bank whose orders are held after a restore (`platform/recovery/hold.ts`). Until they are reconciled. */
export const orderHoldKey = (bank: BankCode): Key => ["order_hold", bank];

/** The epochs that began with a restored copy, oldest first. Kept. */
export const storeEpochKey = (startedAt: number, id: string): Key => [
  "store_epoch",
  String(startedAt).padStart(15, "0"),
  id,
];

/** An idempotency claim (`platform/idempotency/claim_store.ts`); its key has 40 characters at most. 24 h. */
export const claimKey = (client: ClientId, bank: BankCode, route: string, idempotencyKey: string): Key => [
  "idempotency_claim",
  client,
  bank,
  route,
  idempotencyKey,
];

/** A used-up JWT id, by kind, presenter and {@link idPart}. Until the JWT could not be presented any more. */
export const spentJwtKey = (
  kind: "assertion" | "dpop" | "registration" | "bank_return",
  by: string,
  jtiPart: string,
): Key => ["spent_jwt", kind, by, jtiPart];

/** A token bucket (`platform/security/rate_limit_store.ts`), by group and subject. Until it would be full. */
export const rateBucketKey = (group: string, subject: string): Key => ["rate_bucket", group, subject];

/** What the directory has published, as last fetched (`participants/kept_copy_store.ts`), by hash of its URLs. Kept. */
export const keptCopyKey = (urlsHash: string): Key => ["kept_copy", urlsHash];

/** A piece of such a document; without a digest, what every piece of it begins with. As long as the document. */
export const keptPieceKey = (urlsHash: string, digest?: string, piece?: number): Key =>
  digest === undefined
    ? ["kept_piece", urlsHash]
    : ["kept_piece", urlsHash, digest, String(piece).padStart(4, "0")];

/** The signed bytes and the signature of a request (by the resource it was about, and what it said of it), in pieces below the store's value limit. Kept. */
export const evidenceKey = (subject: string, piece: number): Key => ["evidence", subject, String(piece)];

/** The append-only history of a consent, payment or client. Kept. */
export const auditKey = (subject: string, at: number, id: string): Key => [
  "audit",
  subject,
  String(at).padStart(15, "0"),
  id,
];
