/**
 * Pushes an order to its bank once (Decision D4): a PS256 JWS by POST, with the bank's `Status` in the response. Only
 * a 200 with a known `Status` decides the payment. Every other outcome is a failure.
 */
import canonicalize from "canonicalize";
import { isCallable, postOnce, readBounded } from "../../../base/http/outgoing.ts";
import { unixSeconds } from "../../../base/kernel/clock.ts";
import { boundedText } from "../../../base/kernel/foreign_text.ts";
import { describedMismatch, type Mismatch, mismatch } from "../../../base/kernel/result.ts";
import { type OwnKey, signClaims } from "../../../base/jose/own_key.ts";
import { secondsUntil } from "../../events/delivery/retry_delays.ts";
import { HANDOVER_SECONDS, ORDER_PUSH_SECONDS } from "../../../base/profile.ts";
import type { ReadablePayment } from "./payment.ts";
import type { PushFailure } from "./payment_order.ts";
import type { Evidence } from "../../evidence/evidence.ts";
import type { OwnSigner } from "../../evidence/evidence_store.ts";
import { type AnsweredOrder, decodeOrderAnswer } from "./order_answer_schema.ts";
import { ORDER_JWT, representOrderClaims } from "./payment_order_representation.ts";

export type PushOutcome =
  | AnsweredOrder
  | { readonly ok: false; readonly failure: PushFailure };

/** A push that was tried or not, and for the payment's history the order and the bank's response. */
export interface Push {
  readonly outcome: PushOutcome;
  readonly evidence: readonly Evidence[];
}

export interface PushOrderDeps {
  readonly fetch: typeof fetch;
  /** Returns the key that signs now, with its document. */
  readonly ownSigner: () => OwnSigner;
  readonly authUrl: string;
  /** Sandbox only: banks on this computer's loopback addresses. */
  readonly loopbackBanks: boolean;
}

const MAX_ANSWER_BYTES = 16_384;
const MAX_TEXT_CHARACTERS = 256;
/** Of a response that is stored as evidence. */
const MAX_KEPT_CHARACTERS = 4096;
/** The bank asks for a later retry: Request Timeout, Too Early, Too Many Requests. */
const LATER: ReadonlySet<number> = new Set([408, 425, 429]);

/**
 * Pushes once.
 *
 * @param now milliseconds
 */
export async function pushOrder(
  deps: PushOrderDeps,
  uri: string,
  payment: ReadablePayment,
  now: number,
): Promise<Push> {
  if (!isCallable(uri, { loopback: deps.loopbackBanks })) {
    return unsentPush("payment_orders_uri may not be called");
  }
  const signer = deps.ownSigner();
  const body = await signedOrder(deps.authUrl, signer, payment, unixSeconds(now));
  const order: Evidence = { kind: "order", bytes: new TextEncoder().encode(body), key: signer.document };
  let response: Response;
  let text: string | undefined;
  try {
    // Without redirects: an order is only sent to the address in the software statement.
    response = await postOnce(deps.fetch, uri, {
      headers: { "content-type": "application/jose", accept: "application/json" },
      body,
      signal: AbortSignal.timeout(ORDER_PUSH_SECONDS * 1000),
    });
    if (response.status === 200) text = await readBounded(response, MAX_ANSWER_BYTES);
  } catch (error) { // only the HTTP exchange is inside: later errors are bugs of the platform
    const why = error instanceof Error ? error.name : "failed";
    const { fault } = describedMismatch("the response", `complete within ${ORDER_PUSH_SECONDS} s`, why);
    return { outcome: failedPush({ kind: "unreachable", why, answer: { fault } }), evidence: [order] };
  }
  const outcome = response.status === 200 ? readAnswer(text) : failedPush(await failureOf(response, now));
  const shown = outcome.ok ? text : text ?? outcome.failure.bankText;
  return { outcome, evidence: [order, responseEvidence(response.status, shown)] };
}

/** Returns the status of the bank's response, and its body if it is a 200 or a rejection. */
function responseEvidence(status: number, text: string | undefined): Evidence {
  const body = text === undefined ? {} : { body: boundedText(text, MAX_KEPT_CHARACTERS) };
  const response = canonicalize({ status, ...body }) ?? "";
  return { kind: "order_response", bytes: new TextEncoder().encode(response) };
}

/** Returns the outcome of a push that was not tried. */
export function unsentPush(why: string): Push {
  return { outcome: failedPush({ kind: "unsent", why }), evidence: [] };
}

function unclearPush(why: string, { fault }: { readonly fault: Mismatch }): PushOutcome {
  return failedPush({ kind: "unclear", why, answer: { status: 200, fault } });
}

function failedPush(failure: PushFailure): PushOutcome {
  return { ok: false, failure };
}

async function failureOf(response: Response, now: number): Promise<PushFailure> {
  const { status, headers } = response;
  const why = `status ${status}`;
  const { fault } = mismatch("status", "200, also for a rejected order", status);
  const answer = { status, fault };
  if (status >= 400 && status < 500 && !LATER.has(status)) {
    return { kind: "refused", why, answer, ...await readBankText(response) };
  }
  await response.body?.cancel();
  const retryAfterSeconds = secondsUntil(headers.get("retry-after"), now);
  return {
    kind: status >= 500 ? "unreachable" : "unclear",
    why,
    answer,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  };
}

/** Reads the bank's explanation of a rejection. If that fails, the rejection is still known. */
async function readBankText(response: Response): Promise<{ readonly bankText?: string }> {
  const text = await readBounded(response, MAX_ANSWER_BYTES).catch(() => undefined);
  return text === undefined || text === "" ? {} : { bankText: boundedText(text, MAX_TEXT_CHARACTERS) };
}

function signedOrder(
  authUrl: string,
  signer: OwnKey,
  payment: ReadablePayment,
  iat: number,
): Promise<string> {
  const issued = { iss: authUrl, iat, exp: iat + HANDOVER_SECONDS, jti: crypto.randomUUID() };
  return signClaims(representOrderClaims(payment, issued), signer, ORDER_JWT.typ);
}

function readAnswer(text: string | undefined): PushOutcome {
  if (text === undefined) {
    const expected = `at most ${MAX_ANSWER_BYTES} bytes of UTF-8`;
    return unclearPush("the answer is too large, or not UTF-8", mismatch("body", expected));
  }
  const decoded = decodeOrderAnswer(text);
  return decoded.ok ? decoded : unclearPush("no Status in the answer", decoded);
}
