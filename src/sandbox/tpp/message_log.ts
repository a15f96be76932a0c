/**
 * The record of one payment's messages for its developer page: each HTTP exchange of the TPP and each
 * redirect of the customer's browser, masked before they are kept. It only watches; it changes no message.
 */
import { showMessage, type ShownMessage, showUrl } from "./message_mask.ts";
import type { Fetch, HttpRequest } from "./mutual_tls.ts";

/** One exchange, masked. `response` is absent when none came, and for a browser's redirect. */
export interface LoggedExchange {
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  readonly method: string;
  readonly url: string;
  readonly request: ShownMessage;
  readonly response?: ShownMessage & { readonly status: number };
  /** Why no answer came, or what a redirect means. */
  readonly note?: string;
}

/** The messages of one payment, oldest first. */
export interface MessageLog {
  readonly exchanges: LoggedExchange[];
}

// A customer who reloads the status page for an hour must not fill the memory.
const maxExchanges = 100;

/** An empty record. */
export function emptyMessageLog(): MessageLog {
  return { exchanges: [] };
}

/** `fetch`, with every exchange kept in `log`. `now` in milliseconds. */
export function recordingFetch(fetch: Fetch, log: MessageLog, now: () => number): Fetch {
  return async (url, request) => {
    const sent = { at: now(), method: request.method, url: showUrl(url), request: showRequest(request) };
    try {
      const answer = await fetch(url, request);
      const body = await answer.text();
      const { status, headers } = answer;
      keep(log, { ...sent, response: { status, ...showMessage(headers, body) } });
      return new Response(mayHaveBody(status) ? body : null, {
        status,
        statusText: answer.statusText,
        headers,
      });
    } catch (error) {
      keep(log, {
        ...sent,
        note: `No answer: ${error instanceof Error ? error.message : "unknown failure"}`,
      });
      throw error;
    }
  };
}

/** Keeps one redirect of the customer's browser. */
export function recordRedirect(log: MessageLog, at: number, url: string, note: string): void {
  keep(log, { at, method: "GET", url: showUrl(url), request: { headers: [], body: "", jwts: [] }, note });
}

function keep(log: MessageLog, exchange: LoggedExchange): void {
  if (log.exchanges.length < maxExchanges) log.exchanges.push(exchange);
}

function showRequest(request: HttpRequest): ShownMessage {
  return showMessage(new Headers(request.headers), request.body?.toString() ?? "");
}

/** Fetch standard: a Response of a null body status takes no body. */
function mayHaveBody(status: number): boolean {
  return status !== 204 && status !== 205 && status !== 304;
}
