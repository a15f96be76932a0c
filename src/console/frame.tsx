/** The frame of every page of a console: person, navigation, language, sign-out. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import type { Person } from "../base/http/bearer.ts";
import { HtmlDocument, renderDocument } from "../pages/html_document.tsx";
import { type Language, LANGUAGES } from "../pages/language.ts";
import { Languages, Mark } from "../pages/layout.tsx";
import { HOME_PATH, ICON_PATH, SIGN_OUT_PATH, STYLE_PATH } from "./paths.ts";
import { phrase, words } from "./phrase.ts";
import type { ConsoleProgram } from "./program.ts";

export interface FrameView {
  readonly language: Language;
  readonly title: string;
  /** Path and query of the page, for its languages. */
  readonly address: string;
  /** Absent before the sign-in. */
  readonly person?: Person;
  readonly formToken?: string;
}

/** The parts of a program that its frame shows. */
type FrameProgram = Pick<ConsoleProgram, "site" | "product" | "pages" | "may">;

interface Framed extends FrameView {
  readonly program: FrameProgram;
}

/** The page as a whole HTML document. */
export function renderFrame(program: FrameProgram, view: FrameView, content: Child): string {
  const { language, title } = view;
  return renderDocument(
    <HtmlDocument
      language={language}
      title={`${title} · ${program.product(language)}`}
      stylesheet={STYLE_PATH}
      icon={ICON_PATH}
      hasFonts
      bodyClass="console"
      skip={phrase(language, "layout.skip")}
      header={<Header program={program} {...view} />}
      footer={null}
    >
      {content}
    </HtmlDocument>,
  );
}

function Header(view: Framed): JSX.Element {
  const { language, person, program: { site, product } } = view;
  return (
    <header>
      {site.sandbox ? <p class="sandbox">{phrase(language, "layout.sandbox")}</p> : null}
      <div class="bar">
        <p class="product">
          <Mark />
          {site.operator.name === undefined ? null : `${site.operator.name} · `}
          {product(language)}
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

/** The pages that the person may open. In a narrow window they fold behind the name of the current one. */
function Navigation(
  { language, address, person, formToken, program }: Framed & { readonly person: Person },
): JSX.Element {
  const [path = ""] = address.split("?");
  const pages = program.pages.filter(([href]) => program.may(person, `GET ${href}`));
  const current = pages.find(([href]) => href === path) ??
    pages.find(([href]) => href !== HOME_PATH && path.startsWith(`${href}/`));
  const label = words(language, "layout.pages");
  return (
    <div class="bar places">
      <nav aria-label={label}>
        <details class="menu">
          <summary>{current?.[1](language) ?? label}</summary>
          <ul>
            {pages.map(([href, title]) => (
              <li>
                <a
                  href={href}
                  {...(href === current?.[0] ? { "aria-current": href === path ? "page" : "true" } : {})}
                >
                  {title(language)}
                </a>
              </li>
            ))}
          </ul>
        </details>
      </nav>
      <form method="post" action={SIGN_OUT_PATH}>
        <input type="hidden" name="form_token" value={formToken} />
        <span class="who">{phrase(language, "layout.signedInAs", { name: <bdi>{person.name}</bdi> })}</span>
        <button type="submit" class="quiet">{phrase(language, "layout.signOut")}</button>
      </form>
    </div>
  );
}

function inLanguage(address: string, language: Language): string {
  const [path = "", query = ""] = address.split("?", 2);
  const parameters = new URLSearchParams(query);
  parameters.set("lang", language);
  return `${path}?${parameters}`;
}
