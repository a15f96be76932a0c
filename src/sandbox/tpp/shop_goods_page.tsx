/** The shop's front page: what is on sale, each with its own checkout form. Plain data in, HTML out. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { amountText, groupedIban } from "../page_formats.ts";
import type { Language, Reader } from "../page_language.ts";
import type { BankChoice, Good } from "./shop_catalogue.ts";
import { ShopLayout } from "./shop_layout.tsx";
import { phrase, words } from "./shop_phrase.ts";

/** What was wrong with a checkout form, to show it again as it was filled. */
export interface CheckoutFault {
  readonly item: string;
  readonly bank: string;
  /** What was entered, and is no IBAN. */
  readonly account: string;
}

/** What the page shows. */
export interface GoodsPageView {
  readonly reader: Reader;
  readonly goods: readonly Good[];
  readonly banks: readonly BankChoice[];
  readonly fault?: CheckoutFault;
}

/** The page. */
export function GoodsPage({ reader, goods, banks, fault }: GoodsPageView): JSX.Element {
  const { language } = reader;
  const title = words(language, "goods.title");
  return (
    <ShopLayout reader={reader} title={title}>
      <h1>{title}</h1>
      {fault && <p role="alert" class="fault" id="fault">{phrase(language, "goods.notIban")}</p>}
      <p>{phrase(language, "goods.accounts")}</p>
      <ul class="accounts">
        {banks.map((bank) => (
          <li>
            {bank.name} <code dir="ltr">{groupedIban(bank.exampleIban)}</code>
          </li>
        ))}
      </ul>
      <ul class="goods">
        {goods.map((good) => (
          <li>
            <h2>{phrase(language, `good.${good.id}.name`)}</h2>
            <p>{phrase(language, `good.${good.id}.text`)}</p>
            <p class="price">
              <Price language={language} good={good} />
            </p>
            <CheckoutForm
              language={language}
              good={good}
              banks={banks}
              fault={fault?.item === good.id ? fault : undefined}
            />
          </li>
        ))}
      </ul>
    </ShopLayout>
  );
}

interface CheckoutFormView {
  readonly language: Language;
  readonly good: Good;
  readonly banks: readonly BankChoice[];
  readonly fault: CheckoutFault | undefined;
}

function CheckoutForm({ language, good, banks, fault }: CheckoutFormView): JSX.Element {
  const accountId = `account-${good.id}`;
  const name = words(language, `good.${good.id}.name`);
  return (
    <form method="post" action="/checkout">
      <input type="hidden" name="item" value={good.id} />
      <BankChoices language={language} banks={banks} chosen={fault?.bank ?? banks[0]?.code} />
      <label for={accountId}>{phrase(language, "goods.account")}</label>
      <input
        id={accountId}
        name="account"
        type="text"
        dir="ltr"
        value={fault?.account ?? ""}
        maxlength={42}
        autocomplete="off"
        autocapitalize="characters"
        spellcheck={false}
        aria-invalid={fault === undefined ? "false" : "true"}
        {...(fault === undefined ? {} : { "aria-describedby": "fault" })}
      />
      <button type="submit">
        {phrase(language, "goods.pay", {
          price: <Price language={language} good={good} />,
          what: <span class="hidden">{phrase(language, "goods.payFor", { good: name })}</span>,
        })}
      </button>
    </form>
  );
}

function BankChoices(
  { language, banks, chosen }: {
    readonly language: Language;
    readonly banks: readonly BankChoice[];
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
            {bank.name} <small>({phrase(language, `bank.${bank.code}.hint`)})</small>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** What a good costs, as the reader writes it. */
export function Price({ language, good }: { readonly language: Language; readonly good: Good }): JSX.Element {
  return <bdi>{amountText(language, good.price, "EUR")}</bdi>;
}
