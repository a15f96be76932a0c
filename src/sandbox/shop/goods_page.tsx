/** The shop's front page: the goods, each with its own checkout form. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { formatMoney } from "../../pages/formats.ts";
import type { Language } from "../../pages/language.ts";
import { groupedIban } from "../pages/grouped_iban.ts";
import type { Reader } from "../pages/reader.ts";
import type { BankChoice, Good } from "./catalogue.ts";
import { ShopLayout } from "./layout.tsx";
import type { Order } from "./orders.ts";
import { outcomeOf } from "./outcome.ts";
import { type MessageKey, phrase, words } from "./phrase.ts";

/** An invalid checkout form, to be shown again with its values. */
export interface CheckoutFault {
  readonly item: string;
  readonly bank: string;
  /** The entered text, which is not an IBAN. */
  readonly account: string;
}

export interface GoodsPageView {
  readonly reader: Reader;
  readonly goods: readonly Good[];
  readonly banks: readonly BankChoice[];
  /** What the platform says of the banks, by code. */
  readonly states?: ReadonlyMap<string, string>;
  /** Anti-forgery token of this browser's forms. */
  readonly csrf: string;
  /** Those of this browser. */
  readonly orders?: readonly Order[];
  readonly fault?: CheckoutFault;
}

export function GoodsPage(
  { reader, goods, banks, states = new Map(), csrf, orders = [], fault }: GoodsPageView,
): JSX.Element {
  const { language } = reader;
  const title = words(language, "goods.title");
  return (
    <ShopLayout reader={reader} title={fault ? words(language, "frame.error", { title }) : title}>
      <h1>{title}</h1>
      {fault && (
        <p role="alert" class="fault" id="fault">
          <a href={`#account-${fault.item}`}>{phrase(language, "goods.notIban")}</a>
        </p>
      )}
      <p>{phrase(language, "goods.intro")}</p>
      <ul class="goods">
        {goods.map((good) => (
          <li id={good.id}>
            <div class="dish">
              <h2>{phrase(language, `good.${good.id}.name`)}</h2>
              <p class="price">
                <Price language={language} good={good} />
              </p>
            </div>
            <p>{phrase(language, `good.${good.id}.text`)}</p>
            <CheckoutForm
              language={language}
              good={good}
              banks={banks}
              states={states}
              csrf={csrf}
              fault={fault?.item === good.id ? fault : undefined}
            />
          </li>
        ))}
      </ul>
      {orders.length > 0 && <OwnOrders language={language} orders={orders} />}
    </ShopLayout>
  );
}

/** For a customer who has not returned from the bank, such as after the browser was closed. */
function OwnOrders(
  { language, orders }: { readonly language: Language; readonly orders: readonly Order[] },
): JSX.Element {
  return (
    <section id="orders">
      <h2>{phrase(language, "goods.orders")}</h2>
      <ul class="links">
        {orders.map(({ id, good, state }) => (
          <li>
            <a href={`/orders/${id}`}>
              {phrase(language, `good.${good.id}.name`)}:{" "}
              {phrase(language, `outcome.${outcomeOf(state).says}.title`)}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface AccountFieldView {
  readonly language: Language;
  readonly good: Good;
  readonly banks: readonly BankChoice[];
  readonly fault: CheckoutFault | undefined;
}

interface CheckoutFormView extends AccountFieldView {
  readonly states: ReadonlyMap<string, string>;
  readonly csrf: string;
}

function CheckoutForm({ language, good, banks, states, csrf, fault }: CheckoutFormView): JSX.Element {
  const name = words(language, `good.${good.id}.name`);
  return (
    <form method="post" action="/checkout">
      <input type="hidden" name="item" value={good.id} />
      <input type="hidden" name="csrf" value={csrf} />
      <BankChoices language={language} banks={banks} states={states} chosen={fault?.bank ?? banks[0]?.code} />
      <AccountField language={language} good={good} banks={banks} fault={fault} />
      <button type="submit">
        {phrase(language, "goods.pay", {
          price: <Price language={language} good={good} />,
          what: <span class="visually-hidden">{phrase(language, "goods.payFor", { good: name })}</span>,
        })}
      </button>
    </form>
  );
}

/** Few customers name an account in advance, so the field is collapsed unless it has an error. */
function AccountField({ language, good, banks, fault }: AccountFieldView): JSX.Element {
  const id = `account-${good.id}`;
  const [hintId, faultId] = [`${id}-hint`, `${id}-fault`];
  return (
    <details open={fault !== undefined}>
      <summary>{phrase(language, "goods.ownAccount")}</summary>
      {fault && <p class="fault" id={faultId}>{phrase(language, "goods.notIban")}</p>}
      <label for={id}>{phrase(language, "goods.account")}</label>
      <input
        id={id}
        name="account"
        type="text"
        dir="ltr"
        value={fault?.account ?? ""}
        maxlength={42}
        autocomplete="off"
        autocapitalize="characters"
        spellcheck={false}
        aria-describedby={fault === undefined ? hintId : `${faultId} ${hintId}`}
        {...(fault === undefined ? {} : { "aria-invalid": "true", "autofocus": true })}
      />
      <div id={hintId} class="hint">
        <p>{phrase(language, "goods.accounts")}</p>
        <ul class="accounts">
          {banks.map((bank) => (
            <li>
              {bank.name} <code dir="ltr">{groupedIban(bank.exampleIban)}</code>
            </li>
          ))}
        </ul>
      </div>
    </details>
  );
}

/** Of a bank that cannot be used now, this is what a customer has to know. */
function hintOf(
  { code }: BankChoice,
  states: ReadonlyMap<string, string>,
): Extract<MessageKey, `bank.${string}`> {
  const state = states.get(code);
  return state === "degraded" || state === "down" || state === "planned_outage"
    ? `bank.state.${state}`
    : `bank.${code}.hint`;
}

function BankChoices(
  { language, banks, states, chosen }: {
    readonly language: Language;
    readonly banks: readonly BankChoice[];
    readonly states: ReadonlyMap<string, string>;
    readonly chosen: string | undefined;
  },
): JSX.Element {
  return (
    <fieldset>
      <legend>{phrase(language, "goods.bank")}</legend>
      {banks.map((bank) => (
        <label class="choice">
          <input type="radio" name="bank" value={bank.code} checked={bank.code === chosen} required />
          <span>
            {bank.name} <small>{phrase(language, hintOf(bank, states))}</small>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** The price of a good in the reader's format. */
export function Price({ language, good }: { readonly language: Language; readonly good: Good }): JSX.Element {
  return <bdi>{formatMoney(language, good.price, "EUR")}</bdi>;
}
