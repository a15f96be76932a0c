// deno-lint-ignore-file jsx-key -- precompiled JSX would draw a key as an attribute, and nothing is drawn twice
/** Parts that several pages of the console have. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { formatInstant } from "../../pages/formats.ts";
import type { Language } from "../../pages/language.ts";
import { ACTIONS } from "./actions.ts";
import { phrase, type PlainKey, words } from "./phrase.ts";
import type { Answer, Visit } from "./visit.ts";

/** A state by its words; the colour only repeats them. */
export function State({ good, words }: { readonly good: boolean; readonly words: Child }): JSX.Element {
  return <span class={good ? "state good" : "state bad"}>{words}</span>;
}

/** A point in time of the operations API (RFC 3339). */
export function Instant({ visit, at }: { readonly visit: Visit; readonly at: string }): JSX.Element {
  return <time datetime={at}>{formatInstant(visit.language, Date.parse(at))}</time>;
}

/** A table. In a narrow window each row is a list of its cells with their names. The first cell of a row is its name. */
export function Table(
  { language, name, heads, rows }: {
    readonly language: Language;
    readonly name: PlainKey;
    readonly heads: readonly PlainKey[];
    readonly rows: readonly (readonly Child[])[];
  },
): JSX.Element {
  const labels = heads.map((head) => words(language, head));
  return (
    <div class="scroll" tabindex={0} role="region" aria-label={words(language, name)}>
      <table>
        <thead>
          <tr>{heads.map((head) => <th scope="col">{phrase(language, head)}</th>)}</tr>
        </thead>
        <tbody>
          {rows.map(([first, ...cells]) => (
            <tr>
              <th scope="row">{first}</th>
              {cells.map((cell, index) => <td data-label={labels[index + 1]}>{cell}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Links to changes that the operator may make. */
export function Changes(
  { visit, links }: {
    readonly visit: Visit;
    readonly links: readonly (readonly [path: string, label: PlainKey])[];
  },
): JSX.Element | null {
  const allowed = links.filter(([path]) => visit.may(`POST /operations${templateOf(path)}`));
  if (allowed.length === 0) return null;
  return (
    <ul class="changes">
      {allowed.map(([path, label]) => (
        <li>
          <a href={`/console${path}`}>{phrase(visit.language, label)}</a>
        </li>
      ))}
    </ul>
  );
}

/** The declared path of a change. */
function templateOf(path: string): string | undefined {
  const parts = path.split("/");
  return ACTIONS.map((action) => action.path).find((template) => {
    const declared = template.split("/");
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

/** The value of an answer, or the reason why there is none. */
export function Read<T>(
  { visit, answer, children }: {
    readonly visit: Visit;
    readonly answer: Answer<T>;
    readonly children: (value: T) => JSX.Element;
  },
): JSX.Element {
  if (answer.ok) return children(answer.value);
  return (
    <div class="notice" role="alert">
      <p>{phrase(visit.language, "form.unread")}</p>
      <p lang="en" dir="ltr">{answer.description}</p>
    </div>
  );
}

/** The link to the next page of a list. */
export function More(
  { visit, path, query }: {
    readonly visit: Visit;
    readonly path: string;
    readonly query: Readonly<Record<string, string | undefined>>;
  },
): JSX.Element | null {
  if (query["after"] === undefined) return null;
  const sent = Object.entries(query).filter((pair): pair is [string, string] =>
    pair[1] !== undefined && pair[1] !== ""
  );
  return (
    <p>
      <a class="button" href={`${path}?${new URLSearchParams(sent)}`}>
        <span>{phrase(visit.language, "list.more")}</span>
      </a>
    </p>
  );
}
