/** Orders that no bank has answered, with why, and what can be done about them. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { Language } from "../../../pages/language.ts";
import { openOrdersSchema } from "../../core/payments/open_order_representation.ts";
import { Instant, More, queryOf, Read } from "../../../console/parts.tsx";
import { type Names, readNames } from "./names.ts";
import { Because, CaseLink, Changes, Named, PaymentLink, Sum, TableCard } from "./parts.tsx";
import { type Order, Select, SELECTED, Selection } from "./selected_orders.tsx";
import { phrase } from "./phrase.ts";
import type { Visit } from "../../../console/visit.ts";

const STATES = ["waiting", "held", "dead"] as const;
type OrderState = typeof STATES[number];

export interface AskedOrders {
  readonly state?: string;
  readonly bank?: string;
  readonly after?: string;
}

/** Returns the address of the list of a state, of one bank if its orders can be listed alone. */
export function ordersPath(state: OrderState, bank?: string): string {
  return `/console/orders${queryOf({ state, bank })}`;
}

export async function ordersPage(visit: Visit, asked: AskedOrders): Promise<JSX.Element> {
  const { language } = visit;
  const state = STATES.find((one) => one === asked.state) ?? "waiting";
  const { bank, after } = asked;
  const path = `/operations/payment-orders${queryOf({ state, bank, after })}`;
  const answer = await visit.read(path, openOrdersSchema);
  const names = await readNames(visit, [
    ...(bank === undefined ? [] : [bank]),
    ...(answer.ok ? answer.value.Data.PaymentOrder.map(({ BankId }) => BankId) : []),
  ]);
  return (
    <>
      {drawStates(language, state)}
      <p class="lead">{phrase(language, `orders.${state}.lead`)}</p>
      {bank === undefined ? null : (
        <p>
          {phrase(language, "orders.ofBank", { bank: <bdi>{names.get(bank) ?? bank}</bdi> })}{" "}
          <a href={ordersPath(state)}>{phrase(language, "orders.allBanks")}</a>
        </p>
      )}
      <Read visit={visit} answer={answer}>
        {({ Data: { PaymentOrder: orders, After } }) => (
          <>
            <Listed visit={visit} state={state} after={after} orders={orders} names={names} />
            <More visit={visit} path="/console/orders" query={{ state, bank, after: After }} />
          </>
        )}
      </Read>
    </>
  );
}

/** Those that were given up can be selected. */
function Listed(
  { state, after, ...list }: OrdersProps & {
    readonly state: OrderState;
    readonly after: string | undefined;
  },
): JSX.Element {
  if (state !== "dead" || list.orders.length === 0 || !list.visit.may(SELECTED)) return <Orders {...list} />;
  return (
    <Selection visit={list.visit} after={after}>
      <Orders {...list} isSelectable />
    </Selection>
  );
}

function drawStates(language: Language, current: OrderState): JSX.Element {
  return (
    <nav class="tabs" aria-label={phrase(language, "orders.title").join("")}>
      <ul>
        {STATES.map((state) => (
          <li>
            <a href={ordersPath(state)} {...(state === current ? { "aria-current": "page" } : {})}>
              {phrase(language, `orders.${state}`)}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

interface OrdersProps {
  readonly visit: Visit;
  readonly orders: readonly Order[];
  readonly names: Names;
}

function Orders(
  { visit, orders, names, isSelectable = false }: OrdersProps & { readonly isSelectable?: boolean },
): JSX.Element {
  return (
    <TableCard
      language={visit.language}
      name="orders.title"
      none="orders.none"
      rows={orders}
      columns={{
        "column.payment": (order) => (
          isSelectable
            ? [
              <Select visit={visit} order={order} />,
              <CaseLink visit={visit} id={order.DomesticPaymentId} />,
            ]
            : <PaymentLink visit={visit} one={order} />
        ),
        "column.bank": ({ BankId }) => <Named id={BankId} name={names.get(BankId)} />,
        "column.tpp": ({ Tpp, ClientId }) => <bdi>{Tpp ?? ClientId}</bdi>,
        "column.since": (order) => <Instant visit={visit} at={order.CreationDateTime} />,
        "column.tries": (order) => <Tries visit={visit} order={order} />,
        "column.why": (order) => <Why visit={visit} order={order} />,
        "column.changes": (order) => <OrderChanges visit={visit} order={order} />,
      }}
    />
  );
}

/** What an order that was given up pays, if it is on the first page of them. */
export async function orderDetails(visit: Visit, id: string): Promise<JSX.Element | null> {
  const answer = await visit.read("/operations/payment-orders?state=dead", openOrdersSchema);
  const found = answer.ok ? answer.value.Data.PaymentOrder : [];
  const order = found.find(({ DomesticPaymentId }) => DomesticPaymentId === id);
  if (order === undefined) return null;
  const names = await readNames(visit, [order.BankId]);
  return (
    <>
      <p>
        <Sum visit={visit} of={order} /> · <bdi>{order.Tpp ?? order.ClientId}</bdi> →{" "}
        <bdi>{names.get(order.BankId) ?? order.BankId}</bdi>
      </p>
      <Why visit={visit} order={order} />
    </>
  );
}

export interface RowProps {
  readonly visit: Visit;
  readonly order: Order;
}

export function Tries({ visit, order }: RowProps): JSX.Element {
  const { language } = visit;
  const { PushFailures: failures } = order;
  return (
    <>
      {failures === 0 ? null : phrase(language, "orders.tries", { count: failures })}
      <span class="detail">
        {order.State !== "waiting"
          ? (
            <Instant
              visit={visit}
              at={order.State === "dead" ? order.GivenUpDateTime : order.HeldSinceDateTime}
            />
          )
          : order.NextPushDateTime === undefined
          ? phrase(language, "orders.firstPush")
          : phrase(language, "orders.nextPush", {
            time: <Instant visit={visit} at={order.NextPushDateTime} />,
          })}
      </span>
    </>
  );
}

/** The bank's text and the platform's reasons are in the language in which they were written. */
export function Why({ visit: { language }, order }: RowProps): JSX.Element {
  const why = order.State === "held" ? order.HeldBecause : order.LastFailure;
  return (
    <>
      {why === undefined ? null : (
        <p>
          <Because language={language} text={why} />
        </p>
      )}
      {order.State === "held" && order.LastFailure !== undefined
        ? (
          <p class="detail">
            {phrase(language, "orders.lastAttempt", {
              why: <Because language={language} text={order.LastFailure} />,
            })}
          </p>
        )
        : null}
      {order.BankText === undefined ? null : <p dir="auto" class="detail">{order.BankText}</p>}
      {order.MayBeAtBank && order.State === "dead"
        ? <p class="detail">{phrase(language, "orders.mayBeAtBank")}</p>
        : null}
    </>
  );
}

export function OrderChanges({ visit, order }: RowProps): JSX.Element | null {
  if (order.State === "waiting") {
    return (
      <Changes visit={visit} links={[[`/banks/${encodeURIComponent(order.BankId)}/hold`, "link.hold"]]} />
    );
  }
  if (order.State === "held") {
    return (
      <Changes
        visit={visit}
        links={[[`/banks/${encodeURIComponent(order.BankId)}/release`, "link.release"]]}
      />
    );
  }
  const path = `/payment-orders/${order.DomesticPaymentId}`;
  return (
    <Changes visit={visit} links={[[`${path}/redrive`, "link.redrive"], [`${path}/close`, "link.close"]]} />
  );
}
