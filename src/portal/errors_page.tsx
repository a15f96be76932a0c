/** The page of errors: one entry for each reason, whose address answers name (`error_uri`, contract EB7). */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { anchor, errorPath, ERRORS_PATH } from "./paths.ts";
import { renderPortalPage } from "./portal_frame.tsx";
import type { Place } from "./search.ts";

/** One rejection. */
export interface ErrorEntry {
  /** The platform's own name for it, as in its logs: `dpop.replayed`. */
  readonly reason: string;
  readonly cause: string;
  readonly expected: string;
  readonly example: string;
  readonly fix: string;
  /** What each kind of reader gets. */
  readonly answers: readonly ErrorAnswer[];
}

/** A rejection as one kind of reader sees it. */
export interface ErrorAnswer {
  /** OAuth client, API client or customer. */
  readonly surface: string;
  readonly status: number;
  /** The error code in the response; empty if it contains none. */
  readonly code: string;
  readonly words: string;
}

/** The page as a whole HTML document. Reasons with the same first word are a section. */
export function renderErrors(errors: readonly ErrorEntry[]): string {
  const families = [...Map.groupBy(errors, ({ reason }) => reason.split(".")[0] ?? "")];
  return renderPortalPage({
    path: ERRORS_PATH,
    title: "Errors",
    lead:
      "Every rejection, generated from the table that the platform answers from. An answer’s error_uri leads to its entry. When you ask for help, quote the answer’s x-fapi-interaction-id.",
    contents: families.map(([name]) => [`#errors-${anchor(name)}`, titleOf(name)]),
    children: (
      <div class="errors" data-filter="Filter by code, status or word">
        {families.map(([name, entries]) => (
          <section aria-labelledby={`errors-${anchor(name)}`}>
            <h2 id={`errors-${anchor(name)}`}>{titleOf(name)}</h2>
            {entries.map(entryView)}
          </section>
        ))}
      </div>
    ),
  });
}

/** Names that are not written as their reasons are. */
const FAMILIES: Readonly<Record<string, string>> = { dpop: "DPoP", oauth: "OAuth" };

function titleOf(family: string): string {
  return FAMILIES[family] ?? family.slice(0, 1).toUpperCase() + family.slice(1).replaceAll("_", " ");
}

/** Only its head is shown until its address is opened. */
function entryView({ reason, cause, expected, example, fix, answers }: ErrorEntry): JSX.Element {
  const id = anchor(reason);
  const codes = [...new Set(answers.map(({ status, code }) => `${status} ${code}`.trim()))];
  return (
    <article class="card" id={id} aria-labelledby={`${id}-name`}>
      <h3 id={`${id}-name`}>
        <a href={`#${id}`}>{breakable(reason)}</a>
      </h3>
      <p>{codes.map((code) => <code class="code">{breakable(code)}</code>)} {cause}</p>
      <dl>
        <dt>Expected</dt>
        <dd>{expected}</dd>
        <dt>Example</dt>
        <dd>
          <code>{example}</code>
        </dd>
        <dt>Remedy</dt>
        <dd>{fix}</dd>
        {answers.map(({ surface, status, code, words }) => (
          <>
            <dt>To the {surface}</dt>
            <dd>
              {status} {code === "" ? null : <code>{breakable(code)}</code>} {words}
            </dd>
          </>
        ))}
      </dl>
    </article>
  );
}

/** Dotted names that may be broken after each dot. */
function breakable(names: string): Child[] {
  return names.split(/(?<=\.)(?=\w)/).flatMap((part, place) => place === 0 ? [part] : [<wbr />, part]);
}

/** The entries for the search. */
export function errorPlaces(errors: readonly ErrorEntry[]): Place[] {
  return errors.map(({ reason, cause, expected, fix, answers }) => ({
    href: errorPath(reason),
    title: `${reason}: ${answers.map(({ status, code }) => `${status} ${code}`.trim())[0] ?? ""}`,
    where: "Errors",
    text: [cause, expected, fix, ...answers.map(({ code, words }) => `${code} ${words}`)].join(" "),
    weight: 1,
  }));
}
