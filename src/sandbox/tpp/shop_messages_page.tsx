/** The developer page of one order, in English: every message of its payment, masked, with the JWTs decoded. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { LoggedExchange } from "./message_log.ts";
import type { ShownMessage } from "./message_mask.ts";
import { ShopLayout } from "./shop_layout.tsx";
import type { Order } from "./shop_orders.ts";

/** The page. */
export function MessagesPage({ order }: { readonly order: Order }): JSX.Element {
  return (
    <ShopLayout reader={{ language: "en" }} title="Messages">
      <h1>Messages behind the payment</h1>
      <p>
        What the shop sent and received for this order, oldest first. Tokens, codes, assertions, proofs and
        signatures are cut short.
      </p>
      <p>
        <a href={`/orders/${order.id}`}>Back to the order</a>
      </p>
      <ol class="messages">
        {order.messages.exchanges.map((exchange) => (
          <li>
            <Exchange exchange={exchange} />
          </li>
        ))}
      </ol>
    </ShopLayout>
  );
}

function Exchange({ exchange }: { readonly exchange: LoggedExchange }): JSX.Element {
  const { method, url, at, request, response, note } = exchange;
  return (
    <>
      <h2>
        {method} <span class="reference">{url}</span>
      </h2>
      <p>
        {new Date(at).toISOString()}
        {response && <>, answer {response.status}</>}
        {note && <>. {note}</>}
      </p>
      {hasContent(request) && <Half title="Request" half={request} />}
      {response && hasContent(response) && <Half title={`Answer ${response.status}`} half={response} />}
    </>
  );
}

function Half({ title, half }: { readonly title: string; readonly half: ShownMessage }): JSX.Element {
  return (
    <details>
      <summary>{title}</summary>
      <pre>{half.headers.map(([name, value]) => `${name}: ${value}\n`).join("")}</pre>
      {half.body !== "" && <pre>{half.body}</pre>}
      {half.jwts.map((jwt) => (
        <>
          <h3>{jwt.where}, decoded</h3>
          <pre>{jwt.header}</pre>
          {jwt.payload !== undefined && <pre>{jwt.payload}</pre>}
        </>
      ))}
    </details>
  );
}

/** A redirect of the browser has neither headers nor body to show. */
function hasContent(half: ShownMessage): boolean {
  return half.headers.length > 0 || half.body !== "";
}
