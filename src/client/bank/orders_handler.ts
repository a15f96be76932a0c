/**
 * The address at which the platform pushes payment orders (Decision D4), as a handler of Fetch: it verifies each push
 * before the bank sees it, and answers the platform's inquiries. Hono, Deno and Bun take it as it is.
 */
import { MAX_BODY_BYTES } from "../party/profile.ts";
import type { Bank } from "./bank.ts";
import { type BankWord, wordOnWire } from "./bank_word.ts";
import { isInquiry, type StatedOrder, stateOrders } from "./order_statement.ts";
import { openPaymentOrder, OrderRejected, type PaymentOrder } from "./payment_order.ts";

/** The bank's answer to an order. */
export interface OrderAnswer extends BankWord {
  /** `AcceptedSettlementInProcess` or `Rejected`. */
  readonly status: string;
}

/** What the bank does with orders. */
export interface OrderBook {
  /**
   * Executes the order once, however often it comes: its id is the idempotency key, and a repeated order has the first
   * answer. A Response is sent as it is. If it throws, the platform is told to try again.
   */
  readonly execute: (order: PaymentOrder) => Promise<OrderAnswer | Response>;
  /**
   * The orders that changed at this time or later (milliseconds since the Unix epoch), always in the same order, for the
   * platform's inquiry after a restore. Without it such an inquiry is answered with 503.
   */
  readonly heldSince?: (since: number) => Promise<readonly StatedOrder[]>;
  /** Why a push was rejected or failed, for the bank's log. */
  readonly onRejected?: (reason: string) => void;
}

/**
 * Returns the handler of the `payment_orders_uri` of the bank's software statement.
 *
 * @example With Hono; with Deno and Bun it is the server's `fetch`
 * ```ts
 * const handle = ordersHandler(bank, { execute: (order) => ledger.execute(order) });
 * app.post("/payment-orders", (c) => handle(c.req.raw));
 * ```
 * @example With Express or `node:http`, before any parser of bodies
 * ```ts
 * app.post("/payment-orders", nodeListener(handle));
 * ```
 */
export function ordersHandler(bank: Bank, book: OrderBook): (request: Request) => Promise<Response> {
  return async (request) => {
    if (request.method !== "POST") return problem(405, "method_not_allowed", { allow: "POST" });
    const mediaType = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
    if (mediaType !== "application/jose") return problem(415, "unsupported_media_type");
    try {
      const token = await boundedText(request);
      return token === undefined ? problem(413, "too_large") : await take(bank, book, token);
    } catch (error) {
      book.onRejected?.(error instanceof Error ? error.message : "unknown");
      // Any other error (such as an unavailable key set) may be temporary, so the platform tries again.
      return error instanceof OrderRejected
        ? problem(400, "invalid_order")
        : problem(503, "temporarily_unavailable");
    }
  };
}

async function take(bank: Bank, book: OrderBook, token: string): Promise<Response> {
  if (isInquiry(token)) {
    if (book.heldSince === undefined) return problem(503, "temporarily_unavailable");
    const statement = await stateOrders(bank, token, book.heldSince);
    return new Response(statement, { headers: { "content-type": "application/jose" } });
  }
  const answer = await book.execute(await openPaymentOrder(bank, token));
  if (answer instanceof Response) return answer;
  return Response.json({ Status: answer.status, ...wordOnWire(answer) });
}

/** The body, or undefined if it is larger than any push of the platform. */
async function boundedText(request: Request): Promise<string | undefined> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for await (const part of request.body ?? []) {
    length += part.length;
    if (length > MAX_BODY_BYTES) return undefined;
    parts.push(part);
  }
  return await new Blob(parts).text();
}

function problem(status: number, error: string, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json({ error }, { status, headers });
}
