/** Parts that several pages of the operators' console have. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { type Columns, namedColumns, NamedTable, type PartProps } from "../../../console/parts.tsx";
import type { Visit } from "../../../console/visit.ts";
import { formatMoney } from "../../../pages/formats.ts";
import type { Language } from "../../../pages/language.ts";
import { type Action, ACTIONS } from "./actions.ts";
import { messageNamed, phrase, type PlainKey, words } from "./phrase.ts";

/** A part of a page with its head. */
export function Card(
  { title, id, children }: { readonly title: Child; readonly id?: string; readonly children?: Child },
): JSX.Element {
  return (
    <section class="card" id={id}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

interface TableProps<Row> {
  readonly language: Language;
  readonly name: PlainKey;
  readonly columns: Columns<Row, PlainKey>;
  readonly rows: readonly Row[];
  /** What a person reads if there are no rows. */
  readonly none?: PlainKey;
}

/** A table whose name and heads are messages. */
export function Table<Row>({ language, name, columns, rows, none }: TableProps<Row>): JSX.Element {
  if (rows.length === 0 && none !== undefined) return <p>{phrase(language, none)}</p>;
  const named = namedColumns(columns, (key) => words(language, key));
  return <NamedTable name={words(language, name)} columns={named} rows={rows} />;
}

/** A card with a table, or one that says why there is none. */
export function TableCard<Row>(
  { none, ...props }: TableProps<Row> & { readonly none: PlainKey },
): JSX.Element {
  return props.rows.length === 0 ? <p class="card">{phrase(props.language, none)}</p> : (
    <div class="card">
      <Table {...props} />
    </div>
  );
}

/** What a code of the API means, with the code below it. A code without words stands alone. */
export function Coded(
  { language, kind, code }: {
    readonly language: Language;
    readonly kind: "check" | "event" | "proof" | "reason";
    readonly code: string;
  },
): JSX.Element {
  const known = messageNamed(`${kind}.${code}`);
  const shown = <code dir="ltr">{code}</code>;
  return known === undefined ? shown : (
    <>
      {phrase(language, known)} <span class="detail">{shown}</span>
    </>
  );
}

/** Reasons with a part that differs from one to the other. */
const REASONS = [
  [/^status \d{3}$/, "why.status"],
  [/^bank: /, "why.bank"],
  [/^payment [0-9a-f-]{36}$/, "why.payment"],
  [/^software statement of /, "why.statement"],
] as const;
const MAY_BE_AT_BANK = "; the bank may have the order";

/** Why something happened: the platform's reasons in words, and what people have written as it is. */
export function Because(
  { language, text }: { readonly language: Language; readonly text: string },
): JSX.Element {
  const said = text.endsWith(MAY_BE_AT_BANK) ? text.slice(0, -MAY_BE_AT_BANK.length) : text;
  const [, form] = REASONS.find(([pattern]) => pattern.test(said)) ?? [];
  const known = form ?? messageNamed(`why.${said}`);
  if (known === undefined) return <span dir="auto">{text}</span>;
  return (
    <>
      {phrase(language, known)}
      {said === text ? null : <>. {phrase(language, "why.mayBeAtBank")}</>}
      {form === undefined && !said.endsWith("Error") ? null : (
        <>
          {" "}
          <span class="detail">
            <code dir="ltr">{said}</code>
          </span>
        </>
      )}
    </>
  );
}

/** Who did something, as histories name it, in words. `name` is that of a TPP or a bank. */
export function Actor(
  { language, actor, name }: {
    readonly language: Language;
    readonly actor: string;
    readonly name?: string | undefined;
  },
): JSX.Element {
  const [, operator] = /^operator (.*)$/s.exec(actor) ?? [];
  if (operator !== undefined) return <bdi>{phrase(language, "actor.operator", { name: operator })}</bdi>;
  const known = messageNamed(`actor.${actor}`);
  return known === undefined ? <bdi>{name ?? actor}</bdi> : <>{phrase(language, known)}</>;
}

/** The amount of a consent or a payment. */
export function Sum(
  { visit, of: { InstructedAmount: sum } }: {
    readonly visit: Visit;
    readonly of: { readonly InstructedAmount: { readonly Amount: string; readonly Currency: string } };
  },
): JSX.Element {
  return <span class="money">{formatMoney(visit.language, sum.Amount, sum.Currency)}</span>;
}

/** The id of a consent or a payment, with a link to its case for who may open it. */
export function CaseLink({ visit, id }: { readonly visit: Visit; readonly id: string }): JSX.Element {
  const shown = <code dir="ltr">{id}</code>;
  return visit.may("GET /console/cases/{id}") ? <a href={`/console/cases/${id}`}>{shown}</a> : shown;
}

/** A payment by its amount, with its id below. */
export function PaymentLink(
  { visit, one }: PartProps<Parameters<typeof Sum>[0]["of"] & { readonly DomesticPaymentId: string }>,
): JSX.Element {
  return (
    <>
      <Sum visit={visit} of={one} />
      <br />
      <CaseLink visit={visit} id={one.DomesticPaymentId} />
    </>
  );
}

/** A bank or a TPP by its name, with its code or client id below. */
export function Named(
  { id, name }: { readonly id: string; readonly name: string | undefined },
): JSX.Element {
  const shown = <code dir="ltr">{id}</code>;
  return name === undefined ? shown : (
    <>
      <bdi>{name}</bdi> <span class="detail">{shown}</span>
    </>
  );
}

/** Below the first rows of a long list: how many there are, and the command that lists all. */
export function First(
  { language, shown, count, command }: {
    readonly language: Language;
    readonly shown: number;
    readonly count: number;
    readonly command: string;
  },
): JSX.Element | null {
  if (count <= shown) return null;
  return (
    <p class="notice">
      {phrase(language, "list.first", { shown, count, command: <code dir="ltr">{command}</code> })}
    </p>
  );
}

/** Changes that stop or take away something. */
const DANGERS: ReadonlySet<PlainKey> = new Set([
  "link.close",
  "link.hold",
  "link.blockOrganisation",
  "link.blockSoftware",
  "link.revoke",
]);

/** Links to changes that the operator may make. */
export function Changes(
  { visit, links }: {
    readonly visit: Visit;
    readonly links: readonly (readonly [path: string, label: PlainKey])[];
  },
): JSX.Element | null {
  const allowed = links.filter(([path]) => visit.may(`POST /operations${actionAt(path)?.path}`));
  if (allowed.length === 0) return null;
  return (
    <ul class="changes">
      {allowed.map(([path, label]) => (
        <li>
          <a href={`/console${path}`} {...(DANGERS.has(label) ? { class: "danger" } : {})}>
            {phrase(visit.language, label)}
          </a>
        </li>
      ))}
    </ul>
  );
}

/** The change that a path below `/operations` makes. */
export function actionAt(path: string): Action | undefined {
  const parts = path.split("/");
  return ACTIONS.find((action) => {
    const declared = action.path.split("/");
    return declared.length === parts.length &&
      declared.every((part, index) => part.startsWith("{") || part === parts[index]);
  });
}

/** Says that a change was made, after the redirect from its form. */
export function Done({ visit }: { readonly visit: Visit }): JSX.Element | null {
  const done = new URLSearchParams(visit.address.split("?")[1]).get("done");
  const action = ACTIONS.find(({ title }) => title === done);
  if (action === undefined) return null;
  return <p class="note" role="status">{phrase(visit.language, `${action.title}.done` as PlainKey)}</p>;
}
