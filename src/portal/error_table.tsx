/** The error catalogue of the API reference: one row for each answer, with every reason that leads to it. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { anchor } from "./api_reference.ts";

/** One rejection as one kind of reader sees it. */
export interface ErrorEntry {
  /** The platform's own name for it, as in its logs: `dpop.replayed`. */
  readonly reason: string;
  /** Who reads it: OAuth client, resource client, browser. */
  readonly surface: string;
  readonly status: number;
  /** The error code in the response; empty if it contains none. */
  readonly code: string;
  readonly words: string;
  readonly help?: ErrorRemedy;
}

/** The cause of a rejection and its remedy. */
export interface ErrorRemedy {
  readonly cause: string;
  readonly expected: string;
  readonly example: string;
  readonly fix: string;
}

/** Rejections that their reader cannot tell apart. */
export interface ErrorRow extends Omit<ErrorEntry, "reason" | "help"> {
  /** Anchor. */
  readonly id: string;
  readonly reasons: readonly string[];
}

const COLUMNS = ["Status", "Code", "Words", "Reasons"];

/** The catalogue: a table for each kind of reader. */
export function ErrorTable({ errors }: { readonly errors: readonly ErrorEntry[] }): JSX.Element {
  const readers = Map.groupBy(errorRows(errors), ({ surface }) => surface);
  return (
    <>
      {[...readers].map(([reader, rows]) => {
        const id = anchor(`errors-${reader}`);
        return (
          <section>
            <h2 id={id}>As the {reader} reads them</h2>
            {/* A box that scrolls must be reachable by keyboard (WCAG 2.1.1). */}
            <div class="scroll card" role="region" tabindex={0} aria-labelledby={id}>
              {/* On a phone its rows are stacked, which would take the table away from a screen reader without roles. */}
              <table role="table" aria-labelledby={id}>
                <thead role="rowgroup">
                  <tr role="row">{COLUMNS.map((name) => <th role="columnheader" scope="col">{name}</th>)}</tr>
                </thead>
                <tbody role="rowgroup">{rows.map((row) => <Row row={row} />)}</tbody>
              </table>
            </div>
          </section>
        );
      })}
      <h2 id="remedies">Causes and remedies</h2>
      {remedies(errors).map(([reason, help]) => <Remedy reason={reason} help={help} />)}
    </>
  );
}

/** The documented reasons, each once, in the order of the catalogue. */
export function remedies(errors: readonly ErrorEntry[]): readonly (readonly [string, ErrorRemedy])[] {
  return [...new Map(errors.flatMap(({ reason, help }) => help === undefined ? [] : [[reason, help]]))];
}

/** The address of its anchor is `error_uri` in answers. */
function Remedy({ reason, help }: { readonly reason: string; readonly help: ErrorRemedy }): JSX.Element {
  return (
    <section class="card" id={anchor(reason)}>
      <h3>{breakable(reason)}</h3>
      <dl>
        <dt>Cause</dt>
        <dd>{help.cause}</dd>
        <dt>Expected</dt>
        <dd>{help.expected}</dd>
        <dt>Example</dt>
        <dd>
          <code>{help.example}</code>
        </dd>
        <dt>Remedy</dt>
        <dd>{help.fix}</dd>
      </dl>
    </section>
  );
}

function Row({ row }: { readonly row: ErrorRow }): JSX.Element {
  return (
    <tr role="row" id={row.id}>
      <td role="cell">{row.status}</td>
      <td role="cell">{row.code === "" ? null : <code>{breakable(row.code)}</code>}</td>
      <td role="cell">{row.words}</td>
      <td role="cell">
        {row.reasons.map((reason, place) => (
          <>
            {place === 0 ? "" : ", "}
            <a href={`#${anchor(reason)}`}>{breakable(reason)}</a>
          </>
        ))}
      </td>
    </tr>
  );
}

/** Dotted names that may be broken after each dot. */
function breakable(names: string): Child[] {
  return names.split(/(?<=\.)(?=\w)/).flatMap((part, place) => place === 0 ? [part] : [<wbr />, part]);
}

/** Rejections that no reader can tell apart share a row. */
export function errorRows(errors: readonly ErrorEntry[]): ErrorRow[] {
  const alike = Map.groupBy(
    errors,
    ({ reason: _, help: __, ...answer }) => JSON.stringify(Object.entries(answer).toSorted()),
  );
  const rows = [...alike.values()].flatMap(([first, ...more]) =>
    first === undefined ? [] : [{
      id: anchor(`error-${first.surface}-${first.reason}`),
      surface: first.surface,
      status: first.status,
      code: first.code,
      words: first.words,
      reasons: [first, ...more].map(({ reason }) => reason),
    }]
  );
  return rows.toSorted((a, b) =>
    compare(a.surface, b.surface) || a.status - b.status || compare(a.code, b.code)
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
