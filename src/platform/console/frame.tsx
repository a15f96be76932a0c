/** The frame of every page of the console: operator, navigation, language, sign-out. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import type { Person } from "../../base/http/bearer.ts";
import { HtmlDocument, renderDocument } from "../../pages/html_document.tsx";
import { type Language, LANGUAGES } from "../../pages/language.ts";
import { Languages, Mark } from "../../pages/layout.tsx";
import type { Site } from "../../pages/site.ts";
import { admits } from "../security/operation.ts";
import { OPERATION_ROLES } from "../security/operator_roles.ts";
import { phrase, type PlainKey, words } from "./phrase.ts";
import { ICON_PATH, STYLE_PATH } from "./style.ts";

export interface FrameView {
  readonly language: Language;
  readonly title: string;
  readonly site: Site;
  /** Path and query of the page, for its languages. */
  readonly address: string;
  /** Absent before the sign-in. */
  readonly person?: Person;
  readonly formToken?: string;
}

const PAGES: readonly (readonly [path: string, title: PlainKey])[] = [
  ["/console", "dashboard.title"],
  ["/console/own", "own.title"],
  ["/console/orders", "orders.title"],
  ["/console/banks", "banks.title"],
  ["/console/participants", "participants.title"],
  ["/console/proposals", "proposals.title"],
  ["/console/reports", "reports.title"],
  ["/console/keys", "keys.title"],
  ["/console/search", "search.title"],
  ["/console/audit", "audit.title"],
];

/** The page as a whole HTML document. */
export function renderFrame(view: FrameView, content: Child): string {
  const { language, title } = view;
  return renderDocument(
    <HtmlDocument
      language={language}
      title={`${title} · ${words(language, "layout.product")}`}
      stylesheet={STYLE_PATH}
      icon={ICON_PATH}
      bodyClass="console"
      skip={phrase(language, "layout.skip")}
      header={<Header {...view} />}
      footer={null}
    >
      {content}
    </HtmlDocument>,
  );
}

function Header(view: FrameView): JSX.Element {
  const { language, site, person } = view;
  return (
    <header>
      {site.sandbox ? <p class="sandbox">{phrase(language, "layout.sandbox")}</p> : null}
      <div class="bar">
        <p class="product">
          <Mark />
          {site.operator.name === undefined ? null : `${site.operator.name} · `}
          {phrase(language, "layout.product")}
        </p>
        <Languages
          label={words(language, "layout.language")}
          language={language}
          links={LANGUAGES.map((other) => ({ language: other, href: inLanguage(view.address, other) }))}
        />
      </div>
      {person === undefined ? null : <Navigation {...view} person={person} />}
    </header>
  );
}

function Navigation(
  { language, address, person, formToken }: FrameView & { readonly person: Person },
): JSX.Element {
  const path = address.split("?")[0];
  return (
    <div class="bar places">
      <nav aria-label={words(language, "layout.pages")}>
        <ul>
          {PAGES.filter(([href]) => mayOpen(person, href)).map(([href, title]) => (
            <li>
              <a href={href} {...(href === path ? { "aria-current": "page" } : {})}>
                {phrase(language, title)}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <form method="post" action="/console/sign-out">
        <input type="hidden" name="form_token" value={formToken} />
        <span class="who">{phrase(language, "layout.signedInAs", { name: <bdi>{person.name}</bdi> })}</span>
        <button type="submit" class="quiet">{phrase(language, "layout.signOut")}</button>
      </form>
    </div>
  );
}

function mayOpen(person: Person, path: string): boolean {
  return admits(OPERATION_ROLES[`GET ${path}`] ?? [], person);
}

function inLanguage(address: string, language: Language): string {
  const [path = "", query = ""] = address.split("?", 2);
  const parameters = new URLSearchParams(query);
  parameters.set("lang", language);
  return `${path}?${parameters}`;
}
