/** The selection of orders that were given up, in their list: a form without a script. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import type { z } from "zod";
import { formatMoney } from "../../../pages/formats.ts";
import type { Visit } from "../../../console/visit.ts";
import type { openOrdersSchema } from "../../core/payments/open_order_representation.ts";
import { phrase } from "./phrase.ts";

export type Order = z.infer<typeof openOrdersSchema>["Data"]["PaymentOrder"][number];

export const SELECTED_PATH = "/console/orders/selected";
/** Whose roles may change several orders. */
export const SELECTED = `POST ${SELECTED_PATH}`;

/** What can be done with several orders: the last part of the path of the API. */
export const BULK_ACTIONS = ["redrive", "close"] as const;
export type BulkAction = typeof BULK_ACTIONS[number];

/** Selects every order of the page. */
export const ALL = "all";

/** The name of the field that selects an order. */
export function fieldOf({ DomesticPaymentId: id }: Pick<Order, "DomesticPaymentId">): string {
  return `order-${id}`;
}

export function Selection(
  { visit: { language, formToken }, after, children }: {
    readonly visit: Visit;
    /** The place of the page in the list. */
    readonly after: string | undefined;
    readonly children?: Child;
  },
): JSX.Element {
  return (
    <form method="post" action={SELECTED_PATH} class="selection">
      <input type="hidden" name="form_token" value={formToken} />
      {after === undefined ? null : <input type="hidden" name="after" value={after} />}
      {children}
      <div class="check">
        <input type="checkbox" id={ALL} name={ALL} value="true" />
        <label for={ALL}>{phrase(language, "bulk.all")}</label>
      </div>
      <div class="buttons">
        {BULK_ACTIONS.map((action) => (
          <button type="submit" name="action" value={action}>{phrase(language, `bulk.${action}`)}</button>
        ))}
      </div>
    </form>
  );
}

export function Select(
  { visit: { language }, order }: { readonly visit: Visit; readonly order: Order },
): JSX.Element {
  const [name, { Amount, Currency }] = [fieldOf(order), order.InstructedAmount];
  return (
    <div class="check">
      <input type="checkbox" id={name} name={name} value="true" />
      <label for={name}>
        {phrase(language, "bulk.select", { amount: formatMoney(language, Amount, Currency) })}
      </label>
    </div>
  );
}
