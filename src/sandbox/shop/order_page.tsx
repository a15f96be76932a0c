/**
 * The page of one order. It reports only what is known about the payment. If scripts run, it updates itself while the
 * status may change; the updated parts have ids.
 */
import type { JSX } from "hono/jsx/jsx-runtime";
import { formatInstant } from "../../pages/formats.ts";
import type { Language } from "../../pages/language.ts";
import type { Reader } from "../pages/reader.ts";
import { Price } from "./goods_page.tsx";
import { ShopLayout } from "./layout.tsx";
import { type Outcome, outcomeOf, paymentOutcome, PROGRESS } from "./outcome.ts";
import type { Order } from "./orders.ts";
import { phrase, words } from "./phrase.ts";

interface PartProps {
  readonly language: Language;
  readonly order: Order;
  readonly outcome: Outcome;
}

export function OrderPage(
  { reader, order }: { readonly reader: Reader; readonly order: Order },
): JSX.Element {
  const { language } = reader;
  const outcome = outcomeOf(order.state);
  const title = words(language, `outcome.${outcome.says}.title`);
  const part = { language, order, outcome };
  return (
    <ShopLayout reader={reader} title={title} {...(outcome.isFinal ? {} : { script: "/assets/order.js" })}>
      <h1 id="title" data-part="">{title}</h1>
      <div
        id="outcome"
        data-part=""
        role="status"
        class={`outcome ${outcome.tone}`}
        data-payment-outcome={paymentOutcome(order.state)}
      >
        <p>{phrase(language, `outcome.${outcome.says}.text`)}</p>
      </div>
      <div id="facts" data-part="">
        <Facts {...part} />
      </div>
      {outcome.isFinal ? null : <p id="live" class="hint" hidden>{phrase(language, "order.live")}</p>}
      <OrderLinks {...part} />
    </ShopLayout>
  );
}

function Facts({ language, order, outcome }: PartProps): JSX.Element {
  return (
    <>
      {outcome.detail === undefined ? null : (
        <p class="detail">
          {phrase(language, "order.detail")} <bdi lang="en" dir="ltr">{outcome.detail}</bdi>
        </p>
      )}
      <Progress language={language} outcome={outcome} />
      {order.state.phase === "at_bank" && order.state.decided === undefined && (
        <p>
          <a class="button" href={order.state.pending.url}>{phrase(language, "order.continue")}</a>
        </p>
      )}
      <dl>
        <dt>{phrase(language, "order.order")}</dt>
        <dd>
          {phrase(language, `good.${order.good.id}.name`)} · <Price language={language} good={order.good} />
        </dd>
        <dt>{phrase(language, "order.status")}</dt>
        <dd>
          <Status language={language} outcome={outcome} />
        </dd>
        <OrderReferences language={language} order={order} />
      </dl>
    </>
  );
}

/** The completed and pending steps of the payment. */
function Progress(
  { language, outcome: { done } }: { readonly language: Language; readonly outcome: Outcome },
): JSX.Element | null {
  if (done === undefined) return null;
  return (
    <ol class="progress" aria-label={words(language, "progress.title")}>
      {PROGRESS.map((step, index) => (
        <li class={index < done ? "done" : "open"}>
          <span class="mark" aria-hidden="true">{index < done ? "✓" : ""}</span>
          <span>
            {phrase(language, `progress.${step}`)}{" "}
            <span class="visually-hidden">
              {phrase(language, index < done ? "progress.done" : "progress.open")}
            </span>
          </span>
        </li>
      ))}
    </ol>
  );
}

function OrderLinks({ language, order, outcome }: PartProps): JSX.Element {
  const self = `/orders/${order.id}`;
  return (
    <ul class="links">
      {outcome.isFinal ? null : (
        <li id="again">
          <a href={self}>{phrase(language, "order.again")}</a>
        </li>
      )}
      {outcome.tone === "bad"
        ? (
          <li>
            <a href={`/#${order.good.id}`} class="button">{phrase(language, "order.tryAgain")}</a>
          </li>
        )
        : null}
      <li>
        <a href="/">{phrase(language, "order.back")}</a>
      </li>
      <li>
        <a href={`${self}/messages`}>{phrase(language, "order.messages")}</a>
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

/** A date-time of the wire in the reader's form. Any other text is returned unchanged. */
function instantText(language: Language, text: string): string {
  const instant = Date.parse(text);
  return Number.isNaN(instant) ? text : formatInstant(language, instant);
}

/** The platform's status, if it has reported one. Its words are those of the protocol. */
function Status(
  { language, outcome: { status, word } }: { readonly language: Language; readonly outcome: Outcome },
): JSX.Element {
  if (status === undefined) return <strong id="payment-status" lang="en" dir="ltr">{word ?? ""}</strong>;
  return (
    <strong id="payment-status">
      {words(language, status)}
      {word === undefined ? null : (
        <>
          {" ("}
          <bdi lang="en" dir="ltr">{word}</bdi>)
        </>
      )}
    </strong>
  );
}
