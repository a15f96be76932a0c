/** Changes of several orders: a page that lists what will happen, then each order alone by the operations API, with its outcome. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { ChangeForm } from "../../../console/form.tsx";
import { renderFrame } from "../../../console/frame.tsx";
import { Fault, queryOf, State } from "../../../console/parts.tsx";
import type { ConsoleProgram } from "../../../console/program.ts";
import type { Answer, Visit } from "../../../console/visit.ts";
import { asPaymentId } from "../../../base/kernel/identifiers.ts";
import { openOrdersSchema } from "../../core/payments/open_order_representation.ts";
import type { PlatformEndpoint } from "../../guards/http/endpoint.ts";
import { formField, isProposed } from "./action_routes.tsx";
import { type Action, ACTIONS, bodyOf } from "./actions.ts";
import { consolePage } from "./console_page.ts";
import { ordersPath } from "./orders_page.tsx";
import { type Names, readNames } from "./names.ts";
import { CaseLink, Named, PaymentLink, Table } from "./parts.tsx";
import { phrase, words } from "./phrase.ts";
import {
  ALL,
  BULK_ACTIONS,
  type BulkAction,
  fieldOf,
  type Order,
  SELECTED_PATH,
} from "./selected_orders.tsx";

/** Orders of one change: those of a page of the list. */
const MAX_ORDERS = 100;

export function bulkRoutes(program: ConsoleProgram): readonly PlatformEndpoint[] {
  const frameOf = (visit: Visit): Visit & { readonly title: string } => ({
    ...visit,
    title: words(visit.language, "bulk.title"),
  });
  return [
    // Where a sign-in leads after a form that came too late.
    consolePage(
      program,
      "get",
      SELECTED_PATH,
      (visit, c) =>
        c.html(
          renderFrame(program, frameOf(visit), drawEmpty(visit, { ok: true, value: [] })),
        ),
    ),
    consolePage(program, "post", SELECTED_PATH, async (visit, c) => {
      const name = BULK_ACTIONS.find((one) => one === visit.form.get("action")) ?? "redrive";
      const frame = frameOf(visit);
      const listed = await readSelected(visit);
      if (!listed.ok || listed.value.length === 0) {
        return c.html(renderFrame(program, frame, drawEmpty(visit, listed)), 400);
      }
      const names = await readNames(visit, listed.value.map(({ BankId }) => BankId));
      const isConfirmed = visit.form.get("confirmed") === "true";
      const late = isConfirmed ? visit.late : undefined;
      const content = isConfirmed && late === undefined
        ? await carryOut(visit, name, listed.value, names)
        : <Confirm visit={visit} name={name} orders={listed.value} names={names} fault={late?.description} />;
      return c.html(renderFrame(program, frame, content), late?.status ?? 200);
    }),
  ];
}

/** Returns the selected orders that are still given up, as their list shows them now. */
async function readSelected(visit: Visit): Promise<Answer<readonly Order[]>> {
  const { form } = visit;
  const path = `/operations/payment-orders${queryOf({ state: "dead", after: form.get("after") })}`;
  const answer = await visit.read(path, openOrdersSchema);
  if (!answer.ok) return answer;
  const isSelected = (order: Order): boolean => form.has(ALL) || form.has(fieldOf(order));
  return { ok: true, value: answer.value.Data.PaymentOrder.filter(isSelected).slice(0, MAX_ORDERS) };
}

function drawEmpty({ language }: Visit, listed: Answer<readonly Order[]>): JSX.Element {
  return (
    <article class="card act">
      <h1>{phrase(language, "bulk.title")}</h1>
      {listed.ok
        ? <p class="notice" role="alert">{phrase(language, "bulk.empty")}</p>
        : <Fault language={language} why="form.rejected" description={listed.description} />}
      <Back language={language} />
    </article>
  );
}

function Back({ language }: Pick<Visit, "language">): JSX.Element {
  return (
    <p>
      <a class="button" href={ordersPath("dead")}>
        <span>{phrase(language, "bulk.back")}</span>
      </a>
    </p>
  );
}

/** The change of one order that is made for each. */
function actionOf(name: BulkAction): Action {
  const action = ACTIONS.find(({ path }) => path === `/payment-orders/{paymentId}/${name}`);
  if (action === undefined) throw new Error(`${name} is no action`);
  return action;
}

function Confirm(
  { visit, name, orders, names, fault }: {
    readonly visit: Visit;
    readonly name: BulkAction;
    readonly orders: readonly Order[];
    readonly names: Names;
    /** Why the orders were not changed, in English. */
    readonly fault: string | undefined;
  },
): JSX.Element {
  const { language, form } = visit;
  const { title, fields } = actionOf(name);
  const after = form.get("after");
  const kept = ["action", "confirmed", ...(after === undefined ? [] : ["after"]), ...orders.map(fieldOf)];
  const sent = { action: name, confirmed: "true", after } as Readonly<Record<string, string | undefined>>;
  const view = {
    title: phrase(language, `bulk.${name}`),
    effect: phrase(language, `${title}.effect`),
    details: (
      <>
        <p>{phrase(language, "bulk.confirm", { count: orders.length })}</p>
        {drawOrderTable(visit, orders, names)}
      </>
    ),
    path: SELECTED_PATH,
    hidden: kept.map((field) => [field, sent[field] ?? "true"] as const),
    fields: fields.map((field) => formField(language, field)),
    submit: phrase(language, `bulk.${name}`),
    back: ordersPath("dead"),
    fault,
  };
  return <ChangeForm visit={visit} view={view} />;
}

interface Outcome {
  readonly is: "done" | "proposed" | "failed";
  /** Why it was not changed, in English. */
  readonly why?: string;
}

function drawOrderTable(
  visit: Visit,
  orders: readonly (Order | GoneOrder)[],
  names: Names,
  outcomes?: readonly Outcome[],
): JSX.Element {
  return (
    <Table
      language={visit.language}
      name="orders.title"
      rows={orders}
      columns={{
        "column.payment": (order) => (
          "BankId" in order
            ? <PaymentLink visit={visit} one={order} />
            : <CaseLink visit={visit} id={order.DomesticPaymentId} />
        ),
        "column.bank": (order) =>
          "BankId" in order ? <Named id={order.BankId} name={names.get(order.BankId)} /> : "–",
        "column.tpp": (order) => "BankId" in order ? <bdi>{order.Tpp ?? order.ClientId}</bdi> : "–",
        "column.outcome": outcomes !== undefined
          ? (_, place) => drawOutcomeCell(visit, outcomes[place])
          : undefined,
      }}
    />
  );
}

const BADGES = { done: "good", proposed: "warn", failed: "bad" } as const;

function drawOutcomeCell({ language }: Visit, outcome: Outcome | undefined = { is: "failed" }): JSX.Element {
  return (
    <>
      <State is={BADGES[outcome.is]} words={phrase(language, `bulk.${outcome.is}`)} />
      {outcome.why === undefined ? null : <span class="detail" lang="en" dir="ltr">{outcome.why}</span>}
    </>
  );
}

/** An order that was selected and is not given up any more. */
type GoneOrder = Pick<Order, "DomesticPaymentId">;

/** The selected orders that are not in the list any more. */
function goneOf({ form }: Visit, listed: readonly Order[]): readonly GoneOrder[] {
  const selected = [...form.keys()].flatMap((name) => asPaymentId(name.replace(/^order-/, "")) ?? []);
  return selected.filter((id) => !listed.some(({ DomesticPaymentId }) => DomesticPaymentId === id))
    .map((id) => ({ DomesticPaymentId: id }));
}

/** Each order is a request of its own, with its roles, second operator and history. One that fails stops no other. */
async function carryOut(
  visit: Visit,
  name: BulkAction,
  listed: readonly Order[],
  names: Names,
): Promise<JSX.Element> {
  const { language, form } = visit;
  const orders = [...listed, ...goneOf(visit, listed)].slice(0, MAX_ORDERS);
  const body = bodyOf(actionOf(name), form);
  const outcomes: Outcome[] = [];
  for (const { DomesticPaymentId: id } of orders) {
    const answer = await visit.change(`/operations/payment-orders/${id}/${name}`, body);
    outcomes.push(
      answer.ok
        ? { is: isProposed(answer.value) ? "proposed" : "done" }
        : { is: "failed", why: answer.description },
    );
  }
  return (
    <article class="card">
      <h1>{phrase(language, "bulk.outcome")}</h1>
      {drawOrderTable(visit, orders, names, outcomes)}
      <Back language={language} />
    </article>
  );
}
