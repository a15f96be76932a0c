/**
 * Every key in the platform's store. `docs/storage.md` describes the records. Secrets and ids of unbounded length are stored as
 * SHA-256 hashes, so that a copy of the database contains no usable secret.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import {
  type BankCode,
  base64url,
  type ClientId,
  type ConsentId,
  type PaymentId,
} from "../../base/kernel/identifiers.ts";
import type { Key } from "../../base/store/store.ts";

/** Returns a time, milliseconds, as part of a key: the keys are in the order of time. */
export const timePart = (at: number): string => String(at).padStart(15, "0");
/** Later than any time, so that the difference counts down. */
const END_OF_TIME = 999_999_999_999_999;
/** A time in milliseconds, as a part of keys whose order is newest first. A time before 1970 has the part of 1970. */
export const newestFirstPart = (at: number): string => timePart(END_OF_TIME - Math.max(0, at));
/** Returns the time with which such a part begins. */
export const timeOfNewestFirst = (part: string): number => END_OF_TIME - Number(part.slice(0, 15));
const indexPart = (index: number): string => String(index).padStart(12, "0");
const placePart = (at?: number, id?: string): Key => [at === undefined ? [] : timePart(at), id ?? []].flat();

/** A registered client (`platform/core/registration/client.ts`). Until it deletes its registration. */
export const clientKey = (client: ClientId): Key => ["client", client];

/** A client that has deleted its registration (`platform/core/registration/client_records.ts`). Until it registers again. */
export const deletedClientKey = (client: ClientId): Key => ["deleted_client", client];

/** The signed software statement of a client. As long as the client. Separate from the client, which every request reads. */
export const softwareStatementKey = (client: ClientId): Key => ["software_statement", client];

/** The client that is the bank of this code. Never deleted. */
export const bankKey = (bank: BankCode): Key => ["bank", bank];

/** An access token, by hash (`platform/core/oauth/access_token_store.ts`). 3600 s. */
export const accessTokenKey = (tokenHash: string): Key => ["access_token", tokenHash];

/** A pushed authorization request, by hash of its reference. 599 s, and as long as its sessions are stored. */
export const pushedRequestKey = (referenceHash: string): Key => ["pushed_request", referenceHash];

/** An authorization code, by hash. 3600 s, so that a second use is noticed. */
export const authorizationCodeKey = (codeHash: string): Key => ["authorization_code", codeHash];

/**
 * An authorization session, by correlation id (`platform/core/frontchannel/authorization_session.ts`). 900 s, and 24 h
 * more for late customers.
 */
export const authorizationSessionKey = (
  correlationId: string,
): Key => ["authorization_session", correlationId];

/** A consent (`platform/core/consents/consent.ts`). As long as its history. */
export const consentKey = (consent: ConsentId): Key => ["consent", consent];

/** Consent ids by deadline. Until the consent changes its status. */
export const consentDeadlineKey = (
  at: number,
  id: ConsentId,
): Key => ["consent_deadline", ...placePart(at, id)];

/** Ids of consents that were never authorised, by the time at which their personal data is deleted. */
export const consentErasureKey = (
  at: number,
  id: ConsentId,
): Key => ["consent_erasure", ...placePart(at, id)];

/** A payment (`platform/core/payments/payment.ts`). As long as its history. */
export const paymentKey = (payment: PaymentId): Key => ["payment", payment];

/** A bank's payment ids by time of creation. As long as the payment. */
export const paymentOrdersKey = (bank: BankCode): Key => ["payment_order", bank];

/** An order still to be pushed (`platform/core/payments/order_outbox_store.ts`). Until the bank has responded. */
export const outboxKey = (payment: PaymentId): Key => ["outbox", payment];

/** Payment ids of a bank's orders to push, by due time. */
export const outboxQueueKey = (bank: BankCode, dueAt: number, payment: PaymentId): Key => [
  "outbox_queue",
  bank,
  timePart(dueAt),
  payment,
];

/** Payment ids of dead orders. Until an operator retries the order or the bank reports on it. */
export const outboxDeadKey = (payment: PaymentId): Key => ["outbox_dead", payment];

/** Payment ids of held orders, by bank. Until the bank may have its orders again. */
export const outboxHeldKey = (bank: BankCode, payment: PaymentId): Key => ["outbox_held", bank, payment];

/** A bank whose orders are held after a restore (`platform/operations/recovery/hold.ts`). Until they are reconciled. */
export const orderHoldKey = (bank: BankCode): Key => ["order_hold", bank];

/** Blocks, revocations, holds and planned outages of operators (`platform/guards/security/controls_store.ts`). Never deleted. */
export const CONTROLS_KEY: Key = ["operator_controls"];

/** The place of the newest entry in the history of a party that operators have controlled. Never deleted. */
export const controlledPartyKey = (subject: string): Key => ["controlled_party", subject];

/** The epochs that began with a restored copy, oldest first. Never deleted. */
export const storeEpochKey = (startedAt: number, id: string): Key => ["store_epoch", timePart(startedAt), id];

/**
 * An idempotency claim (`platform/guards/idempotency/idempotent.ts`). Its idempotency key has at most 40 characters. 24 h.
 */
export const claimKey = (client: ClientId, bank: BankCode, route: string, idempotencyKey: string): Key => [
  "idempotency_claim",
  client,
  bank,
  route,
  idempotencyKey,
];

/**
 * The replay record of a JWT, by kind, presenter and `jti`, of which 16 bytes of hash are enough. Until the JWT has
 * expired. A PKCE challenge that has led to a code has one as well.
 */
export const spentJwtKey = (
  kind: "assertion" | "dpop" | "registration" | "bank_return" | "code_challenge",
  by: string,
  jti: string,
): Key => {
  const hash = sha256(new TextEncoder().encode(JSON.stringify([kind, by, jti])));
  return ["spent_jwt", base64url(hash.subarray(0, 16))];
};

/** An erasure of a case that may not be complete (`platform/evidence/data_keys/erasure_store.ts`). Seconds. */
export const caseErasureKey = (consent: ConsentId): Key => ["case_erasure", consent];

/** The time by which retention periods are judged (`platform/operations/cases/kept_time.ts`). Never deleted. */
export const keptTimeKey: Key = ["kept_time"];

/** How far the search for cases whose retention period has passed is. Never deleted. */
export const retentionScanKey = (name: string): Key => ["retention_scan", name];

/** An old case that its search must look at again (`platform/operations/cases/retention_search.ts`). Until it is done. */
export const retentionLeftKey = (name: string, consent?: ConsentId): Key => [
  "retention_left",
  name,
  ...(consent === undefined ? [] : [consent]),
];

/** A case whose history was deleted, by the hash of its id (`platform/evidence/deleted_case_store.ts`). Never deleted. */
export const deletedCaseKey = (hash: string): Key => ["deleted_case", hash];

/** A case whose history may not be deleted completely. Seconds. */
export const caseDeletionKey = (consent: ConsentId): Key => ["case_deletion", consent];

/** A token bucket (`platform/guards/security/rate_limits.ts`), by group and subject. Until it would be full. */
export const rateBucketKey = (group: string, subject: string): Key => ["rate_bucket", group, subject];

/**
 * The last fetched copy of a document of the directory (`core/participants/kept_copy_store.ts`), by hash of its URLs.
 * Never deleted.
 */
export const keptCopyKey = (urlsHash: string): Key => ["kept_copy", urlsHash];

/**
 * A piece of such a document, or, without a digest, the prefix of all its pieces. Deleted when the document is
 * replaced.
 */
export const keptPieceKey = (urlsHash: string, digest?: string, piece?: number): Key =>
  digest === undefined
    ? ["kept_piece", urlsHash]
    : ["kept_piece", urlsHash, digest, String(piece).padStart(4, "0")];

/**
 * The signed bytes and the signature of a request in pieces below the store's value limit, by resource and purpose.
 * Until the case is erased.
 */
export const evidenceKey = (subject: string, piece: number): Key => ["evidence", subject, String(piece)];

/** A key or a software statement that history entries name (`platform/evidence/evidence_store.ts`). Never deleted. */
export const evidenceDocumentKey = (sha256: string): Key => ["evidence_document", sha256];

/** The document of a key that has signed receipts (`platform/core/receipts/receipt_keys.ts`). Never deleted. */
export const receiptKeyKey = (kid: string): Key => ["receipt_key", kid];

/** The append-only history of a consent, payment or client. Of a case: `PLATFORM_DELETE_HISTORIES_DAYS`. */
export const auditKey = (subject: string, at: number): Key => ["audit", subject, timePart(at)];

/** Leaf hashes that have no place in the evidence log yet, by time and hash of the first. Until they have one. */
export const logWaitingKey = (at: number, leaf: string): Key => ["log_waiting", timePart(at), leaf];

/** Neighbouring places of the evidence log, by the second of their entries and the first place. Never deleted. */
export const logRangeKey = (at: number, first: number): Key => ["log_range", timePart(at), indexPart(first)];

/** Up to 256 hashes of one level of the evidence log's tree (`evidence/evidence_log/tiles.ts`). Never deleted. */
export const logTileKey = (level: number, tile: number): Key => ["log_tile", String(level), indexPart(tile)];

/** The newest state of the evidence log. Never deleted. */
export const logHeadKey: Key = ["log_head"];

/** The newest checkpoint of each hour in which the evidence log has grown. Never deleted. */
export const logCheckpointKey = (hourStart: number): Key => ["log_checkpoint", timePart(hourStart)];

/** Traces that were stored together, by time (`operations/traces/trace_store.ts`). For `PLATFORM_TRACE_DAYS`. */
export const traceKey = (place: string): Key => ["trace", place];

/** Prefix of the changes that operators have proposed (`operations/proposals.ts`). 30 days. */
export const PROPOSALS: Key = ["proposal"];
/** The proposals that can be approved. */
export const OPEN_PROPOSALS_KEY: Key = ["open_proposals"];

/** Figures of a day as a process has counted them (`observed/figures/figures_store.ts`). For `PLATFORM_REPORT_DAYS`. */
export const figuresKey = (of: string, day: string, subject?: string, process?: string): Key => [
  "day_figures",
  of,
  day,
  ...(subject === undefined ? [] : [subject]),
  ...(process === undefined ? [] : [process]),
];

/** A case that may still change the funnel (`observed/funnel/funnel_store.ts`), by the time of its next look. */
export const funnelCaseKey = (at: number, consent: string): Key => ["funnel_case", ...placePart(at, consent)];

/**
 * The funnel of a day (`observed/funnel/funnel_store.ts`): of each bank, of each TPP, or of `both`, bank and TPP. The key
 * without the last parts is the prefix of their rows. For `PLATFORM_REPORT_DAYS`.
 */
export const funnelDayKey = (
  day: string,
  of: "bank" | "tpp" | "both",
  ...subject: readonly string[]
): Key => ["funnel_day", day, of, ...subject];

/** Ids of consents and payments by the hash of another id (`guards/lookup/lookup_store.ts`), newest first. 400 days. */
export const lookupKey = (hash: string, ...place: readonly string[]): Key => ["lookup", hash, ...place];

/** A time of creation and an id, in the order of time. Without an id: before every id of that time. */
export function listedPlace(createdAt: number, id?: string): string {
  return [timePart(createdAt), ...(id === undefined ? [] : [id])].join("-");
}

/**
 * Consents or payments by bank, TPP and {@link listedPlace} (`guards/lookup/lookup_store.ts`). Until the personal data of the
 * case is deleted.
 */
export const listedKey = (kind: string, bank?: string, client?: string, place?: string): Key => [
  "listed",
  kind,
  ...(bank === undefined ? [] : [bank]),
  ...(client === undefined ? [] : [client]),
  ...(place === undefined ? [] : [place]),
];

/**
 * An event that a TPP has not acknowledged (`events/event_store.ts`), by position in the history of its resource. Without
 * them, the prefix of all events of a client at a bank. For `PLATFORM_EVENT_DAYS`.
 */
export const eventKey = (client: ClientId, bank: BankCode, at?: number, resource?: string): Key => [
  "event",
  client,
  bank,
  ...placePart(at, resource),
];

/**
 * A notice that a TPP has not acknowledged (`events/event_store.ts`), by position: about a bank, or about the TPP and for
 * every bank. For `PLATFORM_EVENT_DAYS`.
 */
export const noticeKey = (client: ClientId, bank: BankCode | undefined, at?: number, id?: string): Key => [
  "event_notice",
  client,
  bank ?? "-", // no bank has this code
  ...placePart(at, id),
];

/** The place of an acknowledged event or notice, by its place before (`events/event_store.ts`). For `PLATFORM_EVENT_DAYS`. */
export const finishedEventKey = ([family = "", ...place]: Key): Key => [`${family}_finished`, ...place];

/** A notice about a bank that not every TPP has yet (`events/spread_notices.ts`). */
export const noticeSpreadKey = (
  bank: BankCode,
  position: number,
  id: string,
): Key => ["notice_spread", bank, timePart(position), id];

/** The state of a bank that has been another one than available (`operations/health/bank_health_store.ts`). Never deleted. */
export const bankHealthKey = (bank: BankCode): Key => ["bank_health", bank];

/** A payment on which its bank has not decided for long, or all of a bank (`operations/unsettled/find_unsettled.ts`). */
export const unsettledKey = (bank: BankCode, createdAt?: number, payment?: PaymentId): Key => [
  "unsettled",
  bank,
  ...(createdAt === undefined ? [] : [listedPlace(createdAt, payment)]),
];

/** How far a bank's payments are searched for those without a decision. Never deleted. */
export const unsettledSearchKey = (bank: BankCode): Key => ["unsettled_search", bank];

/** A dispute about a payment (`core/disputes/dispute_store.ts`), or the prefix of a bank's, or of a TPP's at a bank. */
export const disputeKey = (bank: BankCode, client?: ClientId, payment?: PaymentId): Key => [
  "dispute",
  bank,
  ...(client === undefined ? [] : [client]),
  ...(payment === undefined ? [] : [payment]),
];

/** A payment whose dispute has not ended, by the time at which the next step is due, or all of them. */
export const openDisputeKey = (dueAt?: number, payment?: PaymentId): Key => [
  "dispute_open",
  ...placePart(dueAt, payment),
];

/** The last pushes of a process (`operations/health/bank_health_store.ts`). 15 minutes after the last of them. */
export const lastPushesKey = (note: string): Key => ["last_pushes", note];

/** The expiries of which a TPP has a notice (`events/notify_expiries.ts`). */
export const notifiedExpiriesKey = (client: ClientId): Key => ["notified_expiries", client];

/** A TPP's subscription to its events at a bank (`events/subscription_store.ts`). Until the TPP deletes it. */
export const subscriptionKey = (client: ClientId, bank: BankCode): Key => [
  "event_subscription",
  client,
  bank,
];
