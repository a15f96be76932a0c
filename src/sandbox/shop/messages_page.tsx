/**
 * The developer page of one order, in English like the API documentation: the messages of its payment, step by step,
 * each with a link to its own page.
 */
import type { JSX } from "hono/jsx/jsx-runtime";
import { stepOf } from "./message_step.ts";
import { ShopLayout } from "./layout.tsx";
import { Fact, MessageSummary, whenText } from "./message_summary.tsx";
import { outcomeOf } from "./outcome.ts";
import type { Order } from "./orders.ts";

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
