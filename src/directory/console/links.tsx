/** A list of links to changes and files. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { Visit } from "../../console/visit.ts";
import { phrase, type PlainKey } from "./phrase.ts";

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
