/** The page of one order: what became of the payment, in words that claim no more than is known. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { ShopLayout } from "./shop_layout.tsx";
import type { Order, OrderState } from "./shop_orders.ts";

interface Outcome {
  readonly heading: string;
  readonly sentence: string;
  /** Text of `#payment-status`: the platform's own word once there is a payment. */
  readonly status: string;
  readonly tone: "good" | "bad" | "open";
}

// open-banking reference 2.2
const bySettlement: Readonly<Record<string, Omit<Outcome, "status">>> = {
  Pending: { heading: "Payment pending", sentence: "Your bank has still to accept it.", tone: "open" },
  Rejected: { heading: "Payment rejected", sentence: "Your bank rejected the payment.", tone: "bad" },
  AcceptedSettlementInProcess: {
    heading: "Thank you",
    sentence: "Your bank has accepted the payment and is carrying it out.",
    tone: "good",
  },
  AcceptedSettlementCompleted: {
    heading: "Thank you",
    sentence: "Your account has been debited.",
    tone: "good",
  },
  AcceptedWithoutPosting: {
    heading: "Thank you",
    sentence: "The payment has arrived and will be booked on our account.",
    tone: "good",
  },
  AcceptedCreditSettlementCompleted: {
    heading: "Thank you",
    sentence: "The money has arrived on our account.",
    tone: "good",
  },
};

/** The page. */
export function OrderPage({ order }: { readonly order: Order }): JSX.Element {
  const outcome = outcomeOf(order.state);
  const self = `/orders/${order.id}`;
  return (
    <ShopLayout title={outcome.heading}>
      <h1>{outcome.heading}</h1>
      <p class={`outcome ${outcome.tone}`}>{outcome.sentence}</p>
      <dl>
        <dt>Order</dt>
        <dd>{order.good.name}, EUR {order.good.price}</dd>
        <dt>Payment status</dt>
        <dd>
          <output id="payment-status">{outcome.status}</output>
        </dd>
        <OrderReferences order={order} />
      </dl>
      {order.state.phase === "at_bank" && (
        <p>
          <a class="button" href={order.state.pending.url}>Continue at your bank</a>
        </p>
      )}
      <ul class="links">
        {outcome.tone !== "bad" && (
          <li>
            <a href={self}>Look again</a>
          </li>
        )}
        <li>
          <a href={`${self}/messages`}>Messages behind this payment (for developers)</a>
        </li>
        <li>
          <a href="/">Back to the menu</a>
        </li>
      </ul>
    </ShopLayout>
  );
}

function OrderReferences({ order: { id, state } }: { readonly order: Order }): JSX.Element {
  return (
    <>
      <dt>Order number</dt>
      <dd class="reference">{id}</dd>
      {state.phase === "at_bank" && (
        <>
          <dt>Consent</dt>
          <dd class="reference">{state.consentId}</dd>
        </>
      )}
      {state.phase === "paid" && (
        <>
          <dt>Payment</dt>
          <dd class="reference" id="payment-id">{state.payment.paymentId}</dd>
          <dt>Status since</dt>
          <dd>{state.payment.statusUpdated}</dd>
        </>
      )}
    </>
  );
}

function outcomeOf(state: OrderState): Outcome {
  switch (state.phase) {
    case "starting":
    case "paying":
      return open("One moment", "The payment is being made.", "In progress");
    case "at_bank":
      return open(
        "Waiting for your bank",
        "You have not confirmed the payment yet. No money has moved.",
        "Not paid",
      );
    case "refused":
      return notMade(`${refusal(state.error)} No money has moved.`, `Not paid (${state.error})`);
    case "failed":
      return notMade(`${state.reason}. No money has moved.`, "Not paid");
    case "unknown":
      return open(
        "We do not know yet",
        `The payment was sent and its result is not known (${state.reason}). ` +
          "Please look at your account before you pay again.",
        "Unknown",
      );
    case "paid":
      return settlement(state.payment.status);
  }
}

function open(heading: string, sentence: string, status: string): Outcome {
  return { heading, sentence, status, tone: "open" };
}

function notMade(sentence: string, status: string): Outcome {
  return { heading: "Payment not made", sentence, status, tone: "bad" };
}

function settlement(status: string): Outcome {
  const known = bySettlement[status];
  return {
    ...(known ??
      { heading: "Payment made", sentence: "Your bank is dealing with it.", tone: "open" as const }),
    status,
  };
}

function refusal(error: string): string {
  return error === "access_denied"
    ? "You or your bank refused the payment."
    : "The authorization at your bank did not succeed.";
}
