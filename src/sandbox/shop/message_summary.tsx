/** A short summary of one message of a payment for the developer pages, in English. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { LoggedExchange } from "../../client/tpp/message_log.ts";
import { resultOf, stepOf } from "./message_step.ts";

/** RFC 9110 §15, limited to the statuses that a platform uses. */
const REASONS: ReadonlyMap<number, string> = new Map([
  [200, "OK"],
  [201, "Created"],
  [400, "Bad Request"],
  [401, "Unauthorized"],
  [403, "Forbidden"],
  [404, "Not Found"],
  [409, "Conflict"],
  [413, "Content Too Large"],
  [415, "Unsupported Media Type"],
  [422, "Unprocessable Content"],
  [429, "Too Many Requests"],
  [500, "Internal Server Error"],
  [502, "Bad Gateway"],
  [503, "Service Unavailable"],
  [504, "Gateway Timeout"],
]);

export function MessageSummary({ exchange }: { readonly exchange: LoggedExchange }): JSX.Element {
  const { method, url } = exchange;
  const { text } = stepOf(exchange);
  const result = resultOf(exchange);
  return (
    <>
      <p>
        <MessageStatus exchange={exchange} /> <code>{method} {new URL(url).pathname}</code>
      </p>
      {result !== undefined && (
        <p>
          <strong class="result">{result}</strong>
        </p>
      )}
      {text !== "" && <p>{text}</p>}
    </>
  );
}

/** `12:00:00.123 UTC, 0.12 s after the first message, answered in 5 ms`. `startedAt` in milliseconds since the epoch. */
export function whenText({ at, tookMs, repeated }: LoggedExchange, startedAt: number): string {
  const after = at === startedAt ? "" : `, ${((at - startedAt) / 1000).toFixed(2)} s after the first message`;
  const took = tookMs === undefined ? "" : `, answered in ${tookMs} ms`;
  const again = repeated === undefined
    ? ""
    : `; the last of ${repeated.times} alike since ${timeText(repeated.firstAt)}`;
  return `${timeText(at)}${after}${took}${again}`;
}

/** `201 Created`. */
export function statusText(status: number): string {
  return `${status} ${REASONS.get(status) ?? ""}`.trimEnd();
}

/** One line of a list of facts. */
export function Fact({ term, children }: { readonly term: string; readonly children: string }): JSX.Element {
  return (
    <div>
      <dt>{term}</dt>
      <dd class="reference">{children}</dd>
    </div>
  );
}

function MessageStatus(
  { exchange: { response, tookMs } }: { readonly exchange: LoggedExchange },
): JSX.Element {
  if (response !== undefined) {
    const tone = response.status < 300 ? "good" : "bad";
    return <span class={`status ${tone}`}>{statusText(response.status)}</span>;
  }
  return tookMs === undefined
    ? <span class="status">browser</span>
    : <span class="status bad">no answer</span>;
}

function timeText(at: number): string {
  return `${new Date(at).toISOString().slice(11, 23)} UTC`;
}
