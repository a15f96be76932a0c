/** The page of one order: what became of the payment, in words that claim no more than is known. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { instantText } from "../page_formats.ts";
import type { Language, Reader } from "../page_language.ts";
import { Price } from "./shop_goods_page.tsx";
import { ShopLayout } from "./shop_layout.tsx";
import { type Outcome, outcomeOf } from "./shop_outcome.ts";
import type { Order } from "./shop_orders.ts";
import { phrase, words } from "./shop_phrase.ts";

/** The page. */
export function OrderPage(
  { reader, order }: { readonly reader: Reader; readonly order: Order },
): JSX.Element {
  const { language } = reader;
  const outcome = outcomeOf(order.state);
  const title = words(language, `outcome.${outcome.says}.title`);
  return (
    <ShopLayout reader={reader} title={title}>
      <h1>{title}</h1>
      <p class={`outcome ${outcome.tone}`}>{phrase(language, `outcome.${outcome.says}.text`)}</p>
      {outcome.detail === undefined ? null : (
        <p class="detail">
          {phrase(language, "order.detail")} <bdi lang="en" dir="ltr">{outcome.detail}</bdi>
        </p>
      )}
      <dl>
        <dt>{phrase(language, "order.order")}</dt>
        <dd>
          {phrase(language, `good.${order.good.id}.name`)} · <Price language={language} good={order.good} />
        </dd>
        <dt>{phrase(language, "order.status")}</dt>
        <dd>
          <output id="payment-status">{statusText(language, outcome)}</output>
        </dd>
        <OrderReferences language={language} order={order} />
      </dl>
      {order.state.phase === "at_bank" && (
        <p>
          <a class="button" href={order.state.pending.url}>{phrase(language, "order.continue")}</a>
        </p>
      )}
      <OrderLinks language={language} order={order} mayChange={outcome.tone !== "bad"} />
    </ShopLayout>
  );
}

function OrderLinks(
  { language, order, mayChange }: {
    readonly language: Language;
    readonly order: Order;
    readonly mayChange: boolean;
  },
): JSX.Element {
  const self = `/orders/${order.id}`;
  return (
    <ul class="links">
      {mayChange && (
        <li>
          <a href={self}>{phrase(language, "order.again")}</a>
        </li>
      )}
      <li>
        <a href={`${self}/messages`}>{phrase(language, "order.messages")}</a>
      </li>
      <li>
        <a href="/">{phrase(language, "order.back")}</a>
      </li>
    </ul>
  );
}

function OrderReferences(
  { language, order: { id, state } }: { readonly language: Language; readonly order: Order },
): JSX.Element {
  return (
    <>
      <dt>{phrase(language, "order.number")}</dt>
      <dd class="reference" dir="ltr">{id}</dd>
      {state.phase === "at_bank" && (
        <>
          <dt>{phrase(language, "order.consent")}</dt>
          <dd class="reference" dir="ltr">{state.consentId}</dd>
        </>
      )}
      {state.phase === "paid" && (
        <>
          <dt>{phrase(language, "order.payment")}</dt>
          <dd class="reference" dir="ltr" id="payment-id">{state.payment.paymentId}</dd>
          <dt>{phrase(language, "order.since")}</dt>
          <dd>
            <time datetime={state.payment.statusUpdated}>
              <bdi>{instantText(language, state.payment.statusUpdated)}</bdi>
            </time>
          </dd>
        </>
      )}
    </>
  );
}

/** The platform's own word once it said one. */
function statusText(language: Language, { status, word }: Outcome): string {
  if (status === undefined) return word ?? "";
  return word === undefined ? words(language, status) : `${words(language, status)} (${word})`;
}
