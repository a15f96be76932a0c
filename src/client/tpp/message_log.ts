/**
 * Records one payment's messages for its developer page: each HTTP exchange of the TPP and each redirect of the
 * customer's browser. They are masked before they are stored and never changed on the wire.
 */
import { showMessage, type ShownMessage, showQuery, showUrl } from "./message_mask.ts";
import type { Fetch, HttpRequest } from "../party/http_request.ts";

/** One masked exchange. `response` is absent if there was none, and for a browser's redirect. */
export interface LoggedExchange {
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  /** Duration from the request to the complete response, milliseconds; absent for a browser's redirect. */
  readonly tookMs?: number;
  readonly method: string;
  /** For reading; the query of a redirect is in the request's body. */
  readonly url: string;
  readonly request: ShownMessage;
  readonly response?: ShownMessage & { readonly status: number };
  /** Why there was no response, or the meaning of a redirect. */
  readonly note?: string;
  /** Consecutive reads with the same response, of which this is the last. */
  readonly repeated?: { readonly times: number; readonly firstAt: number };
}

/** The messages of one payment, oldest first. */
export interface MessageLog {
  readonly exchanges: LoggedExchange[];
}

// Limits memory if a customer reloads the status page for a long time.
const maxExchanges = 100;

export function emptyMessageLog(): MessageLog {
  return { exchanges: [] };
}

/** A `fetch` that records every exchange in `log`. `now` in milliseconds. */
export function recordingFetch(fetch: Fetch, log: MessageLog, now: () => number): Fetch {
  return async (url, request) => {
    const at = now();
    const sent = { at, method: request.method, url: showUrl(url), request: showRequest(request) };
    try {
      const answer = await fetch(url, request);
      const body = await answer.text();
      const { status, headers } = answer;
      keep(log, { ...sent, tookMs: now() - at, response: { status, ...showMessage(headers, body) } });
      return new Response(mayHaveBody(status) ? body : null, {
        status,
        statusText: answer.statusText,
        headers,
      });
    } catch (error) {
      keep(log, {
        ...sent,
        tookMs: now() - at,
        note: `No answer: ${error instanceof Error ? error.message : "unknown failure"}`,
      });
      throw error;
    }
  };
}

/** Records one redirect of the customer's browser. */
export function recordRedirect(log: MessageLog, at: number, address: string, note: string): void {
  const { origin, pathname, searchParams } = new URL(address);
  const request = { headers: [], body: showQuery(searchParams), jwts: [] };
  keep(log, { at, method: "GET", url: `${origin}${pathname}`, request, note });
}

function keep(log: MessageLog, exchange: LoggedExchange): void {
  const { exchanges } = log;
  const last = exchanges.at(-1);
  if (last !== undefined && isSameRead(last, exchange)) {
    const { times, firstAt } = last.repeated ?? { times: 1, firstAt: last.at };
    exchanges[exchanges.length - 1] = { ...exchange, repeated: { times: times + 1, firstAt } };
  } else if (exchanges.length < maxExchanges) exchanges.push(exchange);
}

/** The order's page polls the status every few seconds. Repeated identical reads would hide the other messages. */
function isSameRead(one: LoggedExchange, other: LoggedExchange): boolean {
  return one.method === "GET" && other.method === "GET" && one.url === other.url &&
    one.response !== undefined && one.response.status === other.response?.status &&
    one.response.body === other.response.body;
}

function showRequest(request: HttpRequest): ShownMessage {
  return showMessage(new Headers(request.headers), request.body?.toString() ?? "");
}

/** Fetch standard: a Response of a null body status takes no body. */
function mayHaveBody(status: number): boolean {
  return status !== 204 && status !== 205 && status !== 304;
}
