/**
 * The shell of every page: language, direction, title, stylesheet, landmarks, skip link, the operator, sandbox notice.
 * Loads only the platform's own stylesheet, icon and logo. Contains no script and no inline style.
 */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { HtmlDocument } from "./html_document.tsx";
import { directionOf, type Language, LANGUAGE_NAMES } from "./language.ts";
import { phrase, words } from "./phrase.ts";
import { LOGO_PATH, type Site } from "./site.ts";
import { ICON_PATH, STYLESHEET_PATH } from "./stylesheet.ts";

/** Where this page is in another language. */
export interface LanguageLink {
  readonly language: Language;
  readonly href: string;
}

/** Values that a page passes to its shell. */
export interface LayoutProps {
  readonly language: Language;
  /** Of the tab and the browser's history: no names, no amounts. */
  readonly title: string;
  readonly site?: Site;
  readonly languageSwitch?: readonly LanguageLink[];
  /** Whether it is for everyone, and links to the other pages that are. */
  readonly isPublic?: boolean;
  readonly children?: Child;
}

/** A whole page; `renderDocument` makes text of it. */
export function Layout(props: LayoutProps): JSX.Element {
  const { language, title } = props;
  return (
    <HtmlDocument
      language={language}
      title={title}
      stylesheet={STYLESHEET_PATH}
      icon={ICON_PATH}
      hasFonts
      bodyClass="narrow"
      skip={phrase(language, "layout.skip")}
      header={<PageHeader {...props} />}
      footer={<Help {...props} />}
    >
      {props.children}
    </HtmlDocument>
  );
}

function PageHeader(props: LayoutProps): JSX.Element {
  const { language, site, languageSwitch = [] } = props;
  return (
    <header>
      {site?.sandbox === true ? <p class="sandbox">{phrase(language, "layout.sandbox")}</p> : null}
      <div class="bar">
        <p class="product">
          {site?.operator.logo === undefined
            ? <Mark />
            : <img class="logo" src={LOGO_PATH} alt="" height="32" />}
          {site?.operator.name ?? phrase(language, "layout.product")}
        </p>
        {languageSwitch.length === 0 ? null : (
          <Languages
            label={words(language, "layout.language")}
            language={language}
            links={languageSwitch}
          />
        )}
      </div>
    </header>
  );
}

const PUBLIC_PAGES = [
  ["/docs", "layout.developers"],
  ["/service-levels", "levels.title"],
  ["/receipt", "receipt.title"],
] as const;

/** Where customers get help from people, and the pages for everyone. */
function Help({ language, site, isPublic = false }: LayoutProps): JSX.Element | null {
  const support = site?.operator.support;
  if (support === undefined && !isPublic) return null;
  const contact = support === undefined ? null : (
    <bdi dir="ltr">
      <a href={support.href}>{support.text}</a>
    </bdi>
  );
  return (
    <footer>
      {contact === null ? null : <p>{phrase(language, "layout.help", { contact })}</p>}
      {isPublic && (
        <ul class="pages">
          {PUBLIC_PAGES.map(([href, name]) => (
            <li>
              <a href={href === "/docs" ? href : `${href}?lang=${language}`}>{phrase(language, name)}</a>
            </li>
          ))}
        </ul>
      )}
    </footer>
  );
}

/** The page in every language. */
export function Languages(
  { label, language, links }: {
    readonly label: string;
    readonly language: Language;
    readonly links: readonly LanguageLink[];
  },
): JSX.Element {
  return (
    <nav class="languages" aria-label={label}>
      <details>
        <summary>{LANGUAGE_NAMES[language]}</summary>
        <ul>
          {links.map((link) => (
            <li>
              <a
                href={link.href}
                lang={link.language}
                hreflang={link.language}
                dir={directionOf(link.language)}
                {...(link.language === language ? { "aria-current": "true" } : {})}
              >
                {LANGUAGE_NAMES[link.language]}
              </a>
            </li>
          ))}
        </ul>
      </details>
    </nav>
  );
}

/** The platform's sign. */
export function Mark(): JSX.Element {
  return (
    <svg class="mark" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true" focusable="false">
      <path
        fill="none"
        stroke="currentColor"
        stroke-width="2"
        stroke-linejoin="round"
        d="M12 2.5 4 5.5v6c0 4.8 3.3 8.4 8 10 4.7-1.6 8-5.2 8-10v-6z"
      />
      <path
        fill="none"
        stroke="currentColor"
        stroke-width="2"
        stroke-linecap="round"
        stroke-linejoin="round"
        d="m8.5 12 2.5 2.5 4.5-5"
      />
    </svg>
  );
}
