/** Orders that were given up or are held, with what can be done about them. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { z } from "zod";
import { formatMoney } from "../../../pages/formats.ts";
import { stoppedOrdersSchema } from "../../core/payments/stopped_order_representation.ts";
import { Instant, More, Read } from "../../../console/parts.tsx";
import { Changes, Done, Table } from "./parts.tsx";
import { phrase } from "./phrase.ts";
import type { Visit } from "../../../console/visit.ts";

export type OrderState = "dead" | "held";
type Order = z.infer<typeof stoppedOrdersSchema>["Data"]["PaymentOrder"][number];

export async function ordersPage(
  visit: Visit,
  state: OrderState,
  after: string | undefined,
): Promise<JSX.Element> {
  const { language } = visit;
  const query = new URLSearchParams({ state, ...(after === undefined ? {} : { after }) });
  const answer = await visit.read(`/operations/payment-orders?${query}`, stoppedOrdersSchema);
  return (
    <>
      <h1>{phrase(language, "orders.title")}</h1>
      <Done visit={visit} />
      <nav class="tabs" aria-label={phrase(language, "orders.title").join("")}>
        <ul>
          <li>
            <Tab visit={visit} state="dead" current={state} />
          </li>
          <li>
            <Tab visit={visit} state="held" current={state} />
          </li>
        </ul>
      </nav>
      <p class="lead">{phrase(language, `orders.${state}.lead`)}</p>
      <Read visit={visit} answer={answer}>
        {({ Data: { PaymentOrder: orders, After } }) => (
          <>
            {orders.length === 0
              ? <p class="card">{phrase(language, "orders.none")}</p>
              : <Orders visit={visit} orders={orders} />}
            <More visit={visit} path="/console/orders" query={{ state, after: After }} />
          </>
        )}
      </Read>
    </>
  );
}

function Tab(
  { visit, state, current }: {
    readonly visit: Visit;
    readonly state: OrderState;
    readonly current: OrderState;
  },
): JSX.Element {
  return (
    <a href={`/console/orders?state=${state}`} {...(state === current ? { "aria-current": "page" } : {})}>
      {phrase(visit.language, `orders.${state}`)}
    </a>
  );
}

function Orders(
  { visit, orders }: { readonly visit: Visit; readonly orders: readonly Order[] },
): JSX.Element {
  const rows = orders.map((order) => [
    <Payment visit={visit} order={order} />,
    <bdi>{order.BankId}</bdi>,
    <Since visit={visit} order={order} />,
    <Why order={order} visit={visit} />,
    <OrderChanges visit={visit} order={order} />,
  ]);
  return (
    <div class="card">
      <Table
        language={visit.language}
        name="orders.title"
        heads={["column.payment", "column.bank", "column.since", "column.why", "column.changes"]}
        rows={rows}
      />
    </div>
  );
}

interface RowProps {
  readonly visit: Visit;
  readonly order: Order;
}

function Payment({ visit, order: { DomesticPaymentId: id, InstructedAmount: sum } }: RowProps): JSX.Element {
  const shown = <code dir="ltr">{id}</code>;
  return (
    <>
      <span class="money">{formatMoney(visit.language, sum.Amount, sum.Currency)}</span>
      <br />
      {visit.may("GET /console/cases/{id}") ? <a href={`/console/cases/${id}`}>{shown}</a> : shown}
    </>
  );
}

function Since({ visit, order }: RowProps): JSX.Element {
  const at = order.State === "held" ? order.HeldSinceDateTime : order.GivenUpDateTime;
  return <Instant visit={visit} at={at} />;
}

/** The bank's text and the platform's reasons are in the language in which they were written. */
function Why({ visit: { language }, order }: RowProps): JSX.Element {
  const why = order.State === "held" ? order.HeldBecause : order.LastFailure;
  return (
    <>
      {why === undefined ? null : <p dir="auto">{why}</p>}
      {order.State === "held" && order.LastFailure !== undefined
        ? (
          <p class="detail">
            {phrase(language, "orders.lastAttempt", { why: <span dir="auto">{order.LastFailure}</span> })}
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

function OrderChanges({ visit, order }: RowProps): JSX.Element | null {
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
