/** The shop's front page: what is on sale, each with its own checkout form. Plain data in, HTML out. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { BankChoice, Good } from "./shop_catalogue.ts";
import { ShopLayout } from "./shop_layout.tsx";

/** What was wrong with a checkout form, to show it again as it was filled. */
export interface CheckoutFault {
  readonly item: string;
  readonly bank: string;
  readonly account: string;
  readonly message: string;
}

/** What the page shows. */
export interface GoodsPageView {
  readonly goods: readonly Good[];
  readonly banks: readonly BankChoice[];
  readonly fault?: CheckoutFault;
}

/** The page. */
export function GoodsPage({ goods, banks, fault }: GoodsPageView): JSX.Element {
  return (
    <ShopLayout title="Menu">
      <h1>Menu</h1>
      {fault && <p role="alert" class="fault">{fault.message}</p>}
      <p>Leave the account empty to choose it later, or name it here. Accounts in this sandbox:</p>
      <ul>
        {banks.map((bank) => (
          <li>
            {bank.name}: <code>{bank.exampleIban}</code>
          </li>
        ))}
      </ul>
      <ul class="goods">
        {goods.map((good) => (
          <li>
            <h2>{good.name}</h2>
            <p>{good.description}</p>
            <p class="price">EUR {good.price}</p>
            <CheckoutForm good={good} banks={banks} fault={fault?.item === good.id ? fault : undefined} />
          </li>
        ))}
      </ul>
    </ShopLayout>
  );
}

interface CheckoutFormView {
  readonly good: Good;
  readonly banks: readonly BankChoice[];
  readonly fault: CheckoutFault | undefined;
}

function CheckoutForm({ good, banks, fault }: CheckoutFormView): JSX.Element {
  const chosen = fault?.bank ?? banks[0]?.code;
  const accountId = `account-${good.id}`;
  return (
    <form method="post" action="/checkout">
      <input type="hidden" name="item" value={good.id} />
      <fieldset>
        <legend>Your bank</legend>
        {banks.map((bank) => (
          <label class="choice">
            <input type="radio" name="bank" value={bank.code} checked={bank.code === chosen} required />
            <span>
              {bank.name} <small>({bank.hint})</small>
            </span>
          </label>
        ))}
      </fieldset>
      <label for={accountId}>Your account, as IBAN (optional)</label>
      <input
        id={accountId}
        name="account"
        type="text"
        value={fault?.account ?? ""}
        maxlength={42}
        autocomplete="off"
        autocapitalize="characters"
        spellcheck={false}
        aria-invalid={fault === undefined ? "false" : "true"}
      />
      <button type="submit">
        Pay EUR {good.price} <span class="hidden">for {good.name}</span> by bank
      </button>
    </form>
  );
}
