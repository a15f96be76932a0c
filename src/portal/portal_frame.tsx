/** The frame of every page of the documentation: heading, chapters, search, and the page's own contents. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { renderDocument } from "../pages/html_document.tsx";
import { Layout } from "../pages/layout.tsx";
import { CHAPTERS, DOCS_PATH, REFERENCE_PATH } from "./paths.ts";

/** One page. */
export interface PortalPage {
  readonly path: string;
  readonly title: string;
  readonly lead: Child;
  /** Anchors of this page, or other pages, for its own navigation. */
  readonly contents: readonly (readonly [href: string, title: string])[];
  /** The search query. */
  readonly query?: string;
  readonly children?: Child;
}

/** Longer queries are truncated. */
export const MAX_QUERY_CHARACTERS = 100;

/** The page as a whole HTML document. */
export function renderPortalPage(page: PortalPage): string {
  return renderDocument(
    <Layout language="en" title={`${page.title}: payment initiation platform`} wide>
      <div class="reference">
        <div class="introduction">
          <h1>{page.title}</h1>
          <p class="lead">{page.lead}</p>
        </div>
        <div class="toc">
          <Search query={page.query ?? ""} />
          <Chapters path={page.path} />
          {page.contents.length === 0 ? null : <Contents contents={page.contents} />}
        </div>
        <div class="body">{page.children}</div>
      </div>
    </Layout>,
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

function Chapters({ path }: { readonly path: string }): JSX.Element {
  return (
    <nav aria-label="Documentation">
      <ul>
        {CHAPTERS.map(([href, title]) => (
          <li>
            <a href={href} {...currentness(href, path)}>{title}</a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** A page below a chapter is in it, but is not it. */
function currentness(href: string, path: string): { "aria-current"?: "page" | "true" } {
  if (href === path) return { "aria-current": "page" };
  return href === REFERENCE_PATH && path.startsWith(`${href}/`) ? { "aria-current": "true" } : {};
}

function Contents({ contents }: { readonly contents: PortalPage["contents"] }): JSX.Element {
  return (
    <nav aria-labelledby="contents">
      <h2 id="contents">
        {contents.some(([href]) => href.startsWith("/")) ? "In this chapter" : "On this page"}
      </h2>
      <ul>
        {contents.map(([href, title]) => (
          <li>
            <a href={href}>{title}</a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
