/** The frame of every page of the portal: product, search, chapters, contents, the page, and the next one. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { HtmlDocument, renderDocument } from "../pages/html_document.tsx";
import { Mark } from "../pages/layout.tsx";
import { ICON_PATH, STYLESHEET_PATH } from "../pages/stylesheet.ts";
import { CHAPTERS, DOCS_PATH, isIn, type Link, SCRIPT_PATH } from "./paths.ts";
import { listOf } from "./schema_view.tsx";

/** One page. */
export interface PortalPage {
  readonly path: string;
  readonly title: string;
  readonly lead: Child;
  /** Anchors of this page. */
  readonly contents: readonly Link[];
  /** The pages of its chapter, in their order. */
  readonly chapter?: readonly Link[];
  /** The search query. */
  readonly query?: string;
  /** Where its Markdown is served. */
  readonly markdown?: string;
  /** Its file in the repository. */
  readonly source?: string | undefined;
  readonly children?: Child;
}

/** Longer queries are truncated. */
export const MAX_QUERY_CHARACTERS = 100;

/** The page as a whole HTML document. */
export function renderPortalPage(page: PortalPage): string {
  return renderDocument(
    <HtmlDocument
      language="en"
      title={`${page.title}: payment initiation platform`}
      description={typeof page.lead === "string" ? page.lead : undefined}
      stylesheet={STYLESHEET_PATH}
      icon={ICON_PATH}
      hasFonts
      script={SCRIPT_PATH}
      isIndexed
      bodyClass="wide"
      skip="Skip to the content"
      header={<PortalHeader />}
      footer={null}
    >
      <div class="reference">
        <div class="introduction">
          <h1>{page.title}</h1>
          <p class="lead">{page.lead}</p>
        </div>
        <Aside {...page} />
        <div class="body">
          {page.children}
          <Onwards {...page} />
        </div>
      </div>
    </HtmlDocument>,
  );
}

function Aside(page: PortalPage): JSX.Element {
  return (
    <div class="toc">
      <form class="search" role="search" method="get" action={DOCS_PATH}>
        <label for="q">Search the documentation</label>
        <div>
          <input id="q" name="q" type="search" value={page.query ?? ""} maxlength={MAX_QUERY_CHARACTERS} />
          <button type="submit">Search</button>
        </div>
      </form>
      {/* Folded on a phone; a wide screen shows it always. */}
      <details class="menu">
        <summary>Contents</summary>
        <nav aria-label="Documentation">{chaptersOf(page)}</nav>
        {page.contents.length > 0 && (
          <nav aria-labelledby="contents">
            <h2 id="contents">On this page</h2>
            {listOf(page.contents, anchorOf)}
          </nav>
        )}
      </details>
    </div>
  );
}

const PLATFORM_PAGES: readonly Link[] = [
  [DOCS_PATH, "Developers"],
  ["/service-levels", "Status and service levels"],
  ["/receipt", "Check a receipt"],
];

function anchorOf([href, title]: Link): JSX.Element {
  return <a href={href}>{title}</a>;
}

function PortalHeader(): JSX.Element {
  return (
    <header>
      <div class="bar">
        <a class="product" href={DOCS_PATH}>
          <Mark /> Payment initiation platform
        </a>
        <nav aria-label="Platform">
          {listOf(PLATFORM_PAGES, anchorOf)}
        </nav>
      </div>
    </header>
  );
}

function chaptersOf({ path, chapter = [] }: PortalPage): JSX.Element | null {
  return listOf(CHAPTERS, ([href, title]) => {
    const below = isIn(path, href) ? chapter.filter(([page]) => page !== href) : [];
    return (
      <>
        {navLink(path, [href, title])}
        {listOf(below, (link) => navLink(path, link))}
      </>
    );
  });
}

/** A page below a chapter is in it, but is not it. */
function navLink(path: string, [href, title]: Link): JSX.Element {
  const isHere = href === path ? { "aria-current": "page" } as const : {};
  return <a href={href} {...isHere} {...(isIn(path, href) ? { class: "within" } : {})}>{title}</a>;
}

/** The pages before and after this one, and the page as Markdown. */
function Onwards({ path, chapter = [], markdown, source }: PortalPage): JSX.Element | null {
  const order = chapter.length > 1 ? chapter : CHAPTERS;
  const place = order.findIndex(([href]) => href === path);
  if (place === -1) return null;
  const [before, after] = [order[place - 1], order[place + 1]];
  return (
    <nav class="onwards" aria-label="Next pages">
      {before && <a rel="prev" href={before[0]}>← {before[1]}</a>}
      {after && <a rel="next" href={after[0]}>{after[1]} →</a>}
      {markdown && <a type="text/markdown" href={markdown}>This page as Markdown</a>}
      {source && <a href={source}>Edit this page</a>}
    </nav>
  );
}
