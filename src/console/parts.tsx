/** Parts that several pages of a console have. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { formatDay, formatInstant, formatSecond } from "../pages/formats.ts";
import type { Language } from "../pages/language.ts";
import { phrase } from "./phrase.ts";
import type { Answer, Visit } from "./visit.ts";

/** How a state is coloured. */
export type Badge = "good" | "neutral" | "warn" | "bad";

/** A state by its words; the colour only repeats them. */
export function State({ is, words }: { readonly is: Badge; readonly words: Child }): JSX.Element {
  return <span class={`state ${is}`}>{words}</span>;
}

/** A point in time of the API (RFC 3339). */
export function Instant(
  { visit: { language }, at }: { readonly visit: { readonly language: Language }; readonly at: string },
): JSX.Element {
  return <time datetime={at}>{formatInstant(language, Date.parse(at))}</time>;
}

/** A day of the API (RFC 3339), or the day of a point in time. */
export function Day({ language, at }: { readonly language: Language; readonly at: string }): JSX.Element {
  return <time datetime={at}>{formatDay(language, Date.parse(at))}</time>;
}

/** Points in time of rows in their order, to the second (UTC): the day stands where it begins. */
export function stamps(
  { language }: { readonly language: Language },
  ats: readonly string[],
): readonly JSX.Element[] {
  const days = ats.map((at) => formatDay(language, Date.parse(at)));
  return ats.map((at, row) => (
    <time datetime={at}>
      <span class={days[row] === days[row - 1] ? "visually-hidden" : "day"}>{days[row]}</span>{" "}
      <span class="number">{formatSecond(language, Date.parse(at))}</span>
    </time>
  ));
}

/** The head of a column by which a link sorts the rows. */
export interface SortHead {
  readonly name: string;
  readonly href: string;
  readonly isSorted: boolean;
}

function Head({ head }: { readonly head: string | SortHead }): JSX.Element {
  if (typeof head === "string") return <th scope="col">{head}</th>;
  return (
    <th scope="col" {...(head.isSorted ? { "aria-sort": "ascending" as const } : {})}>
      <a href={head.href}>{head.name}</a>
    </th>
  );
}

/** A column: its head, and the cell of a row. */
export type Column<Row> = readonly [head: string | SortHead, cell: Cell<Row>];
export type Cell<Row> = (row: Row, index: number) => Child;

/** The cells of a table by the messages that name their columns. A column without a cell is left out. */
export type Columns<Row, Key extends string> = { readonly [_ in Key]?: Cell<Row> | undefined };

/** Names columns in a language. */
export function namedColumns<Row, Key extends string>(
  columns: Columns<Row, Key>,
  words: (key: Key) => string,
): readonly Column<Row>[] {
  return (Object.entries(columns) as [Key, Cell<Row> | undefined][])
    .flatMap(([key, cell]) => cell === undefined ? [] : [[words(key), cell]]);
}

/** A table. In a narrow window each row is a list of its cells with their names. The first cell of a row is its name. */
export function NamedTable<Row>(
  { name, columns, rows }: {
    readonly name: string;
    readonly columns: readonly Column<Row>[];
    readonly rows: readonly Row[];
  },
): JSX.Element {
  const [first, ...others] = columns;
  return (
    <div class="scroll" tabindex={0} role="region" aria-label={name}>
      <table>
        <thead>
          <tr>{columns.map(([head]) => <Head head={head} />)}</tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr>
              <th scope="row">{first?.[1](row, index)}</th>
              {others.map(([head, cell]) => (
                <td data-label={typeof head === "string" ? head : head.name}>
                  <div>{cell(row, index)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** What a part of a page about one thing needs. */
export interface PartProps<Thing> {
  readonly visit: Visit;
  readonly one: Thing;
}

/** Why the page is empty, or why a change was not made. */
export function Fault(
  { language, why, description }: {
    readonly language: Language;
    readonly why: "form.unread" | "form.rejected";
    /** In English. */
    readonly description: string;
  },
): JSX.Element {
  return (
    <div class="notice" role="alert" id="fault">
      <p>{phrase(language, why)}</p>
      <p lang="en" dir="ltr">{description}</p>
    </div>
  );
}

/** The value of an answer, or the reason why there is none. */
export function Read<T>(
  { visit: { language }, answer, children }: {
    readonly visit: Visit;
    readonly answer: Answer<T>;
    readonly children: (value: T) => JSX.Element;
  },
): JSX.Element {
  if (answer.ok) return children(answer.value);
  return <Fault language={language} why="form.unread" description={answer.description} />;
}

/** A form that searches a list by a text. */
export function SearchForm(
  { language, action, label, value }: {
    readonly language: Language;
    readonly action: string;
    readonly label: Child;
    readonly value: string;
  },
): JSX.Element {
  return (
    <form class="search" role="search" method="get" action={action}>
      <div class="field">
        <label for="search">{label}</label>
        <input id="search" name="search" type="search" value={value} maxlength={100} dir="auto" />
      </div>
      <button type="submit">{phrase(language, "list.search")}</button>
    </form>
  );
}

/** Returns the query of an address with what is known of it, or nothing. */
export function queryOf(sent: Readonly<Record<string, string | undefined>>): string {
  const known = Object.entries(sent).filter((pair): pair is [string, string] =>
    pair[1] !== undefined && pair[1] !== ""
  );
  return known.length === 0 ? "" : `?${new URLSearchParams(known)}`;
}

/** The link to the next page of a list. */
export function More(
  { visit, path, query, cursor = "after" }: {
    readonly visit: Visit;
    readonly path: string;
    readonly query: Readonly<Record<string, string | undefined>>;
    /** The parameter of the query that names the next page. Without it there is none. */
    readonly cursor?: string;
  },
): JSX.Element | null {
  if (query[cursor] === undefined) return null;
  return (
    <p>
      <a class="button" href={`${path}${queryOf(query)}`}>
        <span>{phrase(visit.language, "list.more")}</span>
      </a>
    </p>
  );
}
