/** Links that change the language of a sandbox page. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { directionOf, LANGUAGE_NAMES, LANGUAGES } from "../../pages/language.ts";
import type { Reader } from "./reader.ts";

/** A navigation with a link for each language; `label` is its name for screen readers. */
export function LanguageSwitch(
  { reader, label }: { readonly reader: Reader; readonly label: string },
): JSX.Element | null {
  const { path } = reader;
  if (path === undefined) return null;
  return (
    <nav class="languages" aria-label={label}>
      <ul>
        {LANGUAGES.map((language) => (
          <li>
            <a
              href={`${path}?lang=${language}`}
              lang={language}
              hreflang={language}
              dir={directionOf(language)}
              {...(language === reader.language ? { "aria-current": "true" } : {})}
            >
              {LANGUAGE_NAMES[language]}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
