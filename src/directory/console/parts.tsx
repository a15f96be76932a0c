/** Parts that several pages of the directory's console have. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { type Columns, namedColumns, NamedTable, State } from "../../console/parts.tsx";
import type { Visit } from "../../console/visit.ts";
import type { Language } from "../../pages/language.ts";
import { CHANGES, OWN_CHANGES } from "./changes.ts";
import { phrase, type PlainKey, words } from "./phrase.ts";

/** A table whose name and heads are messages. */
export function Table<Row>(
  { language, name, columns, rows }: {
    readonly language: Language;
    readonly name: PlainKey;
    readonly columns: Columns<Row, PlainKey>;
    readonly rows: readonly Row[];
  },
): JSX.Element {
  const named = namedColumns(columns, (key) => words(language, key));
  return <NamedTable name={words(language, name)} columns={named} rows={rows} />;
}

/** The status of an organisation, a software, a key or a login. */
export function Status({ language, is }: { readonly language: Language; readonly is: string }): JSX.Element {
  return <State is={is === "Active" ? "good" : "bad"} words={phrase(language, `status.${is}` as PlainKey)} />;
}

/** A list of links to changes and files. */
export function Links(
  { visit: { language }, links }: {
    readonly visit: Visit;
    readonly links: readonly (readonly [path: string, title: PlainKey])[];
  },
): JSX.Element | null {
  if (links.length === 0) return null;
  return (
    <ul class="changes">
      {links.map(([path, title]) => (
        <li>
          <a href={path}>{phrase(language, title)}</a>
        </li>
      ))}
    </ul>
  );
}

/** Says that a change was made, after the redirect from its form. */
export function Done({ visit: { address, language } }: { readonly visit: Visit }): JSX.Element | null {
  const done = new URLSearchParams(address.split("?")[1]).get("done");
  const change = [...CHANGES, ...OWN_CHANGES].find(({ name }) => name === done);
  if (change === undefined) return null;
  return <p class="note" role="status">{phrase(language, `change.${change.name}.done`)}</p>;
}
