/**
 * The developer portal: maps paths to pages and searches all of them. The documents are the Markdown of `docs`, with the
 * addresses of this platform. The reference is rendered from the OpenAPI document of the routes.
 */
import type { Child } from "hono/jsx";
import { raw } from "hono/html";
import { type DirectoryFacts, withAddresses, withCommands } from "./addresses.ts";
import { type ApiGroup, type ApiReference, readApiReference, type TryLink } from "./api_reference.ts";
import * as sources from "./documents.ts";
import * as examples from "./examples.ts";
import { type ErrorEntry, errorPlaces, renderErrors } from "./errors_page.tsx";
import { type MarkdownPage, readMarkdown, type Resolve } from "./markdown.ts";
import {
  CHAPTERS,
  COMMON_PATH,
  DOCS_PATH,
  documentPath,
  ERRORS_PATH,
  groupPath,
  isIn,
  LLMS_PATH,
  REFERENCE_PATH,
  TYPES_PATH,
} from "./paths.ts";
import { MAX_QUERY_CHARACTERS, renderPortalPage } from "./portal_frame.tsx";
import { renderCommonParts, renderGroup, renderReferenceIndex, renderTypes } from "./reference_pages.tsx";
import { type Finding, openSearch, type Place, type Search } from "./search.ts";
import { typeAnchor } from "./schema_view.tsx";

/** Inputs of the pages besides the OpenAPI document. */
export interface DocsParts {
  /** Browser host, without a trailing slash. */
  readonly authUrl: string;
  readonly directory: DirectoryFacts;
  /** Below it are the files of this version, if anyone can read them; ends with a slash. */
  readonly repositoryUrl?: string | undefined;
  readonly errors: readonly ErrorEntry[];
  /** In a sandbox. */
  readonly tryLink?: TryLink | undefined;
}

/** The documentation. */
export interface Docs {
  /** Every path that has a page. */
  readonly paths: readonly string[];
  /** The page at a path as a whole HTML document, with what comes before its text; undefined if the path has none. */
  page(path: string, before?: Child): string | undefined;
  /** The Markdown at a path that ends with `.md`, the list for programs, or an example; undefined if none is there. */
  text(path: string): string | undefined;
  /** The page that answers a search in all of them. */
  find(question: string): Promise<string>;
  /** Makes the index before the first search asks for it. Other work gets its turn meanwhile. */
  prepare(): Promise<void>;
}

/** A document of `docs`. */
interface Document {
  readonly path: string;
  readonly title: string;
  /** Where its Markdown is served, with the addresses of this platform. */
  readonly textPath: string;
  readonly text: string;
  /** Its file in the repository, if anyone can read it. */
  readonly source: string | undefined;
  readonly read: () => MarkdownPage;
}

/**
 * Opens the documentation. Pages are drawn each time that they are asked for; the index is made at the first search,
 * or by `prepare`.
 *
 * @param document an OpenAPI 3.1 document as plain data
 */
export function openDocs(document: unknown, parts: DocsParts): Docs {
  const { authUrl, directory, repositoryUrl, tryLink } = parts;
  const reference = readApiReference(document, tryLink);
  const addresses = { ...directory, authUrl, baseUrl: reference.baseUrl ?? "https://api.example.com" };
  const written = (name: string, text: string): string => withAddresses(name, text, addresses);
  const documents = Object.entries(sources).map(([name, text]) =>
    documentOf(name, written(name, text), repositoryUrl)
  );
  const errors = parts.errors.map((one) => ({ ...one, example: written("errors", one.example) }));
  const grouped = (group: ApiGroup): string => withCommands(renderGroup(group, reference), addresses);
  const pages = new Map<string, (before: Child) => string>([
    ...documents.map((one) => [one.path, (before: Child) => renderDocument(one, documents, before)] as const),
    [ERRORS_PATH, () => renderErrors(errors)],
    [REFERENCE_PATH, () => renderReferenceIndex(reference)],
    ...reference.groups.map((one) => [groupPath(one.name), () => grouped(one)] as const),
    [TYPES_PATH, () => renderTypes(reference)],
    [COMMON_PATH, () => renderCommonParts(reference)],
  ]);
  const texts = new Map([...EXAMPLES, ...documents.map(({ textPath, text }) => [textPath, text] as const)]);
  let made: Promise<Search> | undefined;
  const search = (): Promise<Search> =>
    made ??= openSearch([
      ...documents.map((one) => () => documentPlaces(one)),
      () => referencePlaces(reference),
      () => errorPlaces(errors),
    ]);
  return {
    paths: [...pages.keys()],
    page: (path, before) => pages.get(path)?.(before),
    text: (path) => path === LLMS_PATH ? llmsText(documents, authUrl) : texts.get(path),
    async find(question) {
      const query = question.slice(0, MAX_QUERY_CHARACTERS).trim();
      return renderFindings(query, (await search())(query));
    },
    prepare: async () => void await search(),
  };
}

const EXAMPLES: ReadonlyMap<string, string> = new Map(
  Object.entries(examples).map(([name, text]) => [`${DOCS_PATH}/examples/${name}`, text]),
);

function documentOf(name: string, text: string, repositoryUrl: string | undefined): Document {
  return {
    path: documentPath(name),
    title: /^# (.+)$/m.exec(text)?.[1] ?? name,
    textPath: `${DOCS_PATH}/${name}.md`,
    text,
    source: repositoryUrl === undefined ? undefined : `${repositoryUrl}docs/${name}.md`,
    read: () => readMarkdown(text, resolver(name, repositoryUrl)),
  };
}

/** A relative link leads to the page of its document. What is outside of `docs` is in the repository, or an example. */
function resolver(name: string, repositoryUrl: string | undefined): Resolve {
  return (href) => {
    if (href.startsWith("#") || /^https?:\/\//.test(href)) return href;
    const { pathname, hash } = new URL(href, `https://docs.invalid/docs/${name}.md`);
    const target = pathname.replace(/^\/docs\//, "").replace(/\.md$/, "");
    if (pathname.startsWith("/docs/") && target in sources) return `${documentPath(target)}${hash}`;
    const isFile = repositoryUrl !== undefined && !/^[a-z]+:/i.test(href);
    if (isFile) return `${repositoryUrl}${pathname.slice(1)}${hash}`;
    return EXAMPLES.has(`${DOCS_PATH}${pathname}`) ? `${DOCS_PATH}${pathname}` : undefined;
  };
}

/** The chapter is the folder that the page is in. */
function renderDocument(
  { path, textPath, source, read }: Document,
  documents: readonly Document[],
  before: Child,
): string {
  const { title, lead, sections, body } = read();
  const chapter = CHAPTERS.find(([href]) => href !== DOCS_PATH && isIn(path, href))?.[0];
  return renderPortalPage({
    path,
    title,
    lead: raw(lead()),
    contents: sections.filter(({ depth }) => depth === 2).map(({ id, title }) => [`#${id}`, title]),
    chapter: documents.filter(({ path }) => chapter !== undefined && isIn(path, chapter))
      .map(({ path, title }) => [path, title]),
    markdown: textPath,
    source,
    children: [before, <div class="prose">{raw(body())}</div>],
  });
}

/** The first page with the list of all pages, for programs that read text (llmstxt.org). */
function llmsText(documents: readonly Document[], authUrl: string): string {
  const [head, , ...rest] = documents[0]?.text.split(/^## /m) ?? [];
  const pages = [...documents.map(({ textPath, title }) => [textPath, title]), [ERRORS_PATH, "Errors"]];
  const list = pages.map(([path, title]) => `- [${title}](${authUrl}${path})\n`).join("");
  return [head, `Documents\n\n${list}\n`, ...rest].join("## ");
}

/** The search results. */
function renderFindings(query: string, findings: readonly Finding[]): string {
  return renderPortalPage({
    path: `${DOCS_PATH}?q`,
    title: "Search",
    lead: findings.length === 0 ? `Nothing was found for “${query}”.` : `The best places for “${query}”.`,
    contents: [],
    query,
    children: findings.length === 0 ? <p>Try other words.</p> : (
      <ol class="findings">
        {findings.map(({ href, title, where, excerpt }) => (
          <li class="card">
            <h2>
              <a href={href}>{title}</a>
            </h2>
            <p class="scheme">{where}</p>
            <p>{excerpt}</p>
          </li>
        ))}
      </ol>
    ),
  });
}

/** How likely a reader of the portal looks for it: guides before rules, rules before what operators read. */
function weightOf(path: string): number {
  if (/^\/docs(\/(client|tpp|bank|signatures|sandbox|traces))?$/.test(path)) return 2;
  return path.startsWith("/docs/contract") ? 0.6 : 0.4;
}

function documentPlaces({ path, title: where, read }: Document): Place[] {
  const weight = weightOf(path);
  return read().sections.map(({ id, title, text, depth }) => {
    return { href: depth === 1 ? path : `${path}#${id}`, title, where, text, weight };
  });
}

function referencePlaces({ groups, types }: ApiReference): Place[] {
  const endpoints = groups.flatMap(({ name, endpoints }) =>
    endpoints.map(({ id, method, path, title, description = "", parameters, answers }) => ({
      href: `${groupPath(name)}#${id}`,
      title,
      where: `API reference: ${name}`,
      text: [
        `${method} ${path}`,
        description,
        ...parameters.map((parameter) => parameter.name),
        ...answers.map(({ status, description }) => `${status} ${description}`),
      ].join("\n"),
      weight: 1,
    }))
  );
  return [
    ...endpoints,
    ...types.map(({ name, shape: { description = "", fields } }) => ({
      href: `${TYPES_PATH}#${typeAnchor(name)}`,
      title: name,
      where: "Data types",
      text: [description, ...fields.map((field) => field.name)].join(" "),
      weight: 0.5,
    })),
  ];
}
