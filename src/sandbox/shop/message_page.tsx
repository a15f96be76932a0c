/** The developer pages of an order's messages, in English: all of them, and one with its request and response. */
import { raw } from "hono/html";
import type { JSX } from "hono/jsx/jsx-runtime";
import type { LoggedExchange } from "../../client/tpp/message_log.ts";
import type { ShownJwt, ShownMessage } from "../../client/tpp/message_mask.ts";
import { stepOf } from "./message_step.ts";
import { ShopLayout } from "./layout.tsx";
import { Fact, MessageSummary, statusText, whenText } from "./message_summary.tsx";
import type { Order } from "./orders.ts";
import { outcomeOf } from "./outcome.ts";

const INTERACTION_ID = "x-fapi-interaction-id";

/**
 * The page of the message with this number, from 1: its purpose, its result, and request and response with decoded JWTs.
 * Undefined if it does not exist.
 */
export function MessagePage(
  { order, number, authUrl }: {
    readonly order: Order;
    readonly number: number;
    /** The platform's browser host, which shows traces. */
    readonly authUrl: string;
  },
): JSX.Element | undefined {
  const { exchanges } = order.messages;
  const exchange = exchanges[number - 1];
  if (exchange === undefined) return undefined;
  const { request, response, tookMs } = exchange;
  const title = `${number}. ${stepOf(exchange).title}`;
  const turn = <Turn path={`/orders/${order.id}/messages`} number={number} last={exchanges.length} />;
  return (
    <ShopLayout reader={{ language: "en" }} title={title}>
      <h1>{title}</h1>
      {turn}
      <MessageSummary exchange={exchange} />
      <Facts exchange={exchange} startedAt={exchanges[0]?.at ?? exchange.at} authUrl={authUrl} />
      <Half title={tookMs === undefined ? "Parameters of the address" : "Request"} half={request} />
      {response && <Half title={`Answer ${statusText(response.status)}`} half={response} />}
      {turn}
    </ShopLayout>
  );
}

/** Links to the previous and next message and to the list. */
function Turn(
  { path, number, last }: { readonly path: string; readonly number: number; readonly last: number },
): JSX.Element {
  return (
    <ul class="links turn">
      {number > 1 && (
        <li>
          <a href={`${path}/${number - 1}`} rel="prev">Previous</a>
        </li>
      )}
      <li>
        <a href={path}>All {last}</a>
      </li>
      {number < last && (
        <li>
          <a href={`${path}/${number + 1}`} rel="next">Next</a>
        </li>
      )}
    </ul>
  );
}

function Facts(
  { exchange, startedAt, authUrl }: {
    readonly exchange: LoggedExchange;
    readonly startedAt: number;
    readonly authUrl: string;
  },
): JSX.Element {
  const { url, request, response } = exchange;
  const interactionId = headerOf(response, INTERACTION_ID) ?? headerOf(request, INTERACTION_ID);
  return (
    <>
      <dl class="facts">
        <Fact term="Address">{url}</Fact>
        <Fact term="When">{whenText(exchange, startedAt)}</Fact>
        {interactionId !== undefined && <Fact term={INTERACTION_ID}>{interactionId}</Fact>}
      </dl>
      {interactionId !== undefined && (
        <p class="trace">
          <a href={`${authUrl}/docs/traces?id=${interactionId}`}>What the platform did with it</a>
        </p>
      )}
    </>
  );
}

function Half({ title, half }: { readonly title: string; readonly half: ShownMessage }): JSX.Element | null {
  const { headers, body, jwts } = half;
  if (headers.length === 0 && body === "") return null;
  return (
    <>
      <h2>{title}</h2>
      {headers.length > 0 && <Text text={headers.map(([name, value]) => `${name}: ${value}`).join("\n")} />}
      {body !== "" && <Text text={body} />}
      {jwts.map((jwt) => <Jwt key={jwt.where} jwt={jwt} />)}
    </>
  );
}

function Jwt({ jwt: { where, header, payload, times } }: { readonly jwt: ShownJwt }): JSX.Element {
  return (
    <>
      <h3>
        {where}, decoded: {payload === undefined ? "header (the payload is the body)" : "header and payload"}
      </h3>
      <Text text={payload === undefined ? header : `${header}\n.\n${payload}`} />
      {times.length > 0 && <p class="quiet">{times.join(", ")}</p>}
    </>
  );
}

/** Quotes between tags need no escaping, which keeps the JSON in the source short and readable. */
function Text({ text }: { readonly text: string }): JSX.Element {
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return <pre>{raw(escaped)}</pre>;
}

function headerOf(half: ShownMessage | undefined, name: string): string | undefined {
  return half?.headers.find(([one]) => one === name)?.[1];
}

/**
 * The developer page of one order, in English like the API documentation: the messages of its payment, step by step,
 * each with a link to its own page.
 */
export function MessagesPage({ order }: { readonly order: Order }): JSX.Element {
  const { exchanges } = order.messages;
  const path = `/orders/${order.id}`;
  return (
    <ShopLayout reader={{ language: "en" }} title="Messages">
      <h1>Messages behind the payment</h1>
      <p>
        Everything that the shop sent and received for this order, oldest first. Open a step to see its
        request and its answer, JWTs decoded. Tokens, codes, assertions, proofs and signatures are cut short:
        nothing shown here can be used.
      </p>
      <OrderFacts order={order} />
      <ul class="links">
        <li>
          <a href={path}>Back to the order</a>
        </li>
        <li>
          <a href={`${path}/messages.json`}>All of it as JSON</a>
        </li>
      </ul>
      <ol class="messages">
        {exchanges.map((exchange, index) => (
          <li>
            <h2>
              <a href={`${path}/messages/${index + 1}`}>{index + 1}. {stepOf(exchange).title}</a>
            </h2>
            <MessageSummary exchange={exchange} />
            <p class="quiet">{whenText(exchange, exchanges[0]?.at ?? exchange.at)}</p>
          </li>
        ))}
      </ol>
    </ShopLayout>
  );
}

/** The same as JSON, for searching or for attaching to a report. Masked like the page. */
export function messagesAsData({ id, bank, state, messages }: Order): object {
  const { word } = outcomeOf(state);
  return {
    order: id,
    bank,
    phase: state.phase,
    ...(word === undefined ? {} : { status: word }),
    messages: messages.exchanges.map((exchange) => ({
      step: stepOf(exchange).title,
      ...exchange,
      at: new Date(exchange.at).toISOString(),
    })),
  };
}

function OrderFacts({ order: { id, bank, state } }: { readonly order: Order }): JSX.Element {
  const { word, detail } = outcomeOf(state);
  return (
    <dl class="facts">
      <Fact term="Order">{id}</Fact>
      <Fact term="Bank">{bank}</Fact>
      {state.phase === "at_bank" && <Fact term="Consent">{state.consentId}</Fact>}
      {state.phase === "paid" && <Fact term="Payment">{state.payment.paymentId}</Fact>}
      <Fact term="Outcome">{word ?? state.phase}</Fact>
      {detail !== undefined && <Fact term="Reason">{detail}</Fact>}
    </dl>
  );
}
