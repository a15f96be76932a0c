/** The frame of every page of the portal: product, search, chapters, contents, the page, and the next one. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { HtmlDocument, renderDocument } from "../pages/html_document.tsx";
import { Mark } from "../pages/layout.tsx";
import { ICON_PATH, STYLESHEET_PATH } from "../pages/stylesheet.ts";
import { CHAPTERS, DOCS_PATH, type Link, SCRIPT_PATH } from "./paths.ts";
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
  /** Whether its Markdown is at its path with `.md`. */
  readonly hasMarkdown?: boolean;
  /** Its file in the repository. */
  readonly source?: string;
  readonly children?: Child;
}

/** Longer queries are truncated. */
export const MAX_QUERY_CHARACTERS = 100;

/** The page as a whole HTML document. */
export function renderPortalPage(page: PortalPage): string {
  const { path, chapter = [], contents } = page;
  return renderDocument(
    <HtmlDocument
      language="en"
      title={`${page.title}: payment initiation platform`}
      description={typeof page.lead === "string" ? page.lead : undefined}
      stylesheet={STYLESHEET_PATH}
      icon={ICON_PATH}
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
        <div class="toc">
          <Search query={page.query ?? ""} />
          {/* Folded on a phone; a wide screen shows it always. */}
          <details class="menu">
            <summary>Contents</summary>
            <Chapters path={path} chapter={chapter} />
            {contents.length > 0 && contentsOf(contents)}
          </details>
        </div>
        <div class="body">
          {page.children}
          <Onwards page={page} />
        </div>
      </div>
    </HtmlDocument>,
  );
}

function contentsOf(links: readonly Link[]): JSX.Element {
  return (
    <nav aria-labelledby="contents">
      <h2 id="contents">On this page</h2>
      {listOf(links, anchorOf)}
    </nav>
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

function Search({ query }: { readonly query: string }): JSX.Element {
  return (
    <form class="search" role="search" method="get" action={DOCS_PATH}>
      <label for="q">Search the documentation</label>
      <div>
        <input id="q" name="q" type="search" value={query} maxlength={MAX_QUERY_CHARACTERS} />
        <button type="submit">Search</button>
      </div>
    </form>
  );
}

function Chapters(
  { path, chapter }: { readonly path: string; readonly chapter: readonly Link[] },
): JSX.Element {
  return (
    <nav aria-label="Documentation">
      {listOf(CHAPTERS, ([href, title]) => (
        <>
          {navLink(path, [href, title])}
          {isIn(path, href) && chapter.length > 0 &&
            listOf(chapter.filter(([page]) => page !== href), (link) => navLink(path, link))}
        </>
      ))}
    </nav>
  );
}

/** A page below a chapter is in it, but is not it. */
function navLink(path: string, [href, title]: Link): JSX.Element {
  const isHere = href === path ? { "aria-current": "page" } as const : {};
  return <a href={href} {...isHere} {...(isIn(path, href) ? { class: "within" } : {})}>{title}</a>;
}

function isIn(path: string, chapter: string): boolean {
  return path === chapter || (chapter !== DOCS_PATH && path.startsWith(`${chapter}/`));
}

/** The pages before and after this one, and the page as Markdown. */
function Onwards({ page }: { readonly page: PortalPage }): JSX.Element | null {
  const { path, chapter, hasMarkdown, source } = page;
  const chapters = CHAPTERS.map(([href, title]): Link => [href, title]);
  const order = chapter?.some(([href]) => href === path) ? chapter : chapters;
  const place = order.findIndex(([href]) => href === path);
  if (place === -1) return null;
  const [before, after] = [order[place - 1], order[place + 1]];
  return (
    <nav class="onwards" aria-label="Next pages">
      {before && <a rel="prev" href={before[0]}>← {before[1]}</a>}
      {after && <a rel="next" href={after[0]}>{after[1]} →</a>}
      {hasMarkdown && <a type="text/markdown" href={`${path}.md`}>This page as Markdown</a>}
      {source && <a href={source}>Edit this page</a>}
    </nav>
  );
}
