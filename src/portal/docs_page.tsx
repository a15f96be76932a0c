/**
 * The developer portal: maps paths to pages and searches all of them. The documents are the Markdown of `docs`, with the
 * addresses of this platform. The reference is rendered from the OpenAPI document of the routes.
 */
import { raw } from "hono/html";
import { type DirectoryFacts, type PlatformAddresses, withAddresses } from "./addresses.ts";
import { type ApiReference, readApiReference, type TryLink } from "./api_reference.ts";
import * as sources from "./documents.ts";
import * as examples from "./examples.ts";
import { type ErrorEntry, errorPlaces, renderErrors } from "./errors_page.tsx";
import { type MarkdownPage, readMarkdown, type Resolve } from "./markdown.ts";
import { addressesOf, renderFindings, renderOverview } from "./overview_page.tsx";
import {
  CHAPTERS,
  COMMON_PATH,
  DOCS_PATH,
  documentPath,
  ERRORS_PATH,
  groupPath,
  type Link,
  LLMS_PATH,
  REFERENCE_PATH,
  TRACES_PAGE_PATH,
  TYPES_PATH,
} from "./paths.ts";
import { MAX_QUERY_CHARACTERS, renderPortalPage } from "./portal_frame.tsx";
import { renderCommonParts, renderGroup, renderReferenceIndex, renderTypes } from "./reference_pages.tsx";
import { openSearch, type Place, type Search } from "./search.ts";
import { renderTracePage } from "./trace_page.tsx";
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
  /** The page at a path as a whole HTML document; undefined if the path has none. */
  page(path: string): string | undefined;
  /** The Markdown at a path that ends with `.md`, the list for programs, or an example; undefined if none is there. */
  text(path: string): string | undefined;
  /** The page that answers a search in all of them. */
  find(question: string): Promise<string>;
  /** Makes the index before the first search asks for it. Other work gets its turn meanwhile. */
  prepare(): Promise<void>;
}

/** A document of `docs`. */
interface Document {
  /** As below `docs`. */
  readonly name: string;
  readonly path: string;
  readonly title: string;
  /** Markdown with the addresses of this platform. */
  readonly text: string;
  readonly page: () => MarkdownPage;
}

/** Source of the pages and the search. */
interface DocsSource {
  readonly reference: ApiReference;
  readonly errors: readonly ErrorEntry[];
  readonly addresses: PlatformAddresses;
  readonly repositoryUrl: string | undefined;
  /** By path. */
  readonly documents: () => ReadonlyMap<string, Document>;
}

/**
 * Opens the documentation. Pages are drawn each time that they are asked for; the index is made at the first search,
 * or by `prepare`.
 *
 * @param document an OpenAPI 3.1 document as plain data
 */
export function openDocs(
  document: unknown,
  { errors, authUrl, directory, repositoryUrl, tryLink }: DocsParts,
): Docs {
  const reference = readApiReference(document, tryLink);
  const addresses = {
    ...directory,
    authUrl,
    baseUrl: reference.servers[0]?.url ?? "https://api.example.com",
  };
  let read: ReadonlyMap<string, Document> | undefined;
  const documents = (): ReadonlyMap<string, Document> => read ??= readDocuments(addresses, repositoryUrl);
  const shown = errors.map((entry) => ({
    ...entry,
    example: withAddresses("errors", entry.example, addresses),
  }));
  const source: DocsSource = { reference, errors: shown, addresses, repositoryUrl, documents };
  const pages = pagesOf(source);
  let made: Promise<Search> | undefined;
  const search = (): Promise<Search> =>
    made ??= openSearch([
      ...documents().values().map((document) => () => documentPlaces(document)),
      () => [overviewPlace(source)],
      () => referencePlaces(source),
      () => errorPlaces(shown),
    ]);
  return {
    paths: [...pages.keys()],
    page: (path) => pages.get(path)?.(),
    text: (path) => textAt(source, path),
    async find(question) {
      const query = question.slice(0, MAX_QUERY_CHARACTERS).trim();
      return renderFindings(query, (await search())(query));
    },
    prepare: async () => void await search(),
  };
}

/** Names as they are below `docs`; a folder's README comes first. */
const NAMES: readonly string[] = Object.keys(sources).toSorted((a, b) => {
  const [first, second] = [documentPath(a), documentPath(b)];
  return first < second ? -1 : first > second ? 1 : 0;
});

function textAt(source: DocsSource, path: string): string | undefined {
  if (path === LLMS_PATH) return llmsText(source);
  return path.endsWith(".md") ? source.documents().get(path.slice(0, -3))?.text : EXAMPLES.get(path);
}

const EXAMPLES: ReadonlyMap<string, string> = new Map(
  Object.entries(examples).map(([name, text]) => [`${DOCS_PATH}/examples/${name}`, text]),
);

function readDocuments(
  addresses: PlatformAddresses,
  repositoryUrl: string | undefined,
): ReadonlyMap<string, Document> {
  return new Map(NAMES.map((name) => {
    const text = withAddresses(name, (sources as Readonly<Record<string, string>>)[name] ?? "", addresses);
    const path = documentPath(name);
    const title = /^# (.+)$/m.exec(text)?.[1] ?? name;
    return [path, { name, path, title, text, page: () => readMarkdown(text, resolver(name, repositoryUrl)) }];
  }));
}

/** A relative link leads to the page of its document. What is outside of `docs` is in the repository, or an example. */
function resolver(name: string, repositoryUrl: string | undefined): Resolve {
  return (href) => {
    if (href.startsWith("#") || /^https?:\/\//.test(href)) return href;
    const { pathname, hash } = new URL(href, `https://docs.invalid/docs/${name}.md`);
    const target = pathname.replace(/^\/docs\//, "").replace(/\.md$/, "");
    const known = [target, `${target}/README`].find((one) => pathname.startsWith("/docs/") && one in sources);
    if (known !== undefined) return `${documentPath(known)}${hash}`;
    const isFile = repositoryUrl !== undefined && !/^[a-z]+:/i.test(href);
    if (isFile) return `${repositoryUrl}${pathname.slice(1)}${hash}`;
    return EXAMPLES.has(`${DOCS_PATH}${pathname}`) ? `${DOCS_PATH}${pathname}` : undefined;
  };
}

function pagesOf(source: DocsSource): ReadonlyMap<string, () => string> {
  const { reference, errors, addresses } = source;
  return new Map<string, () => string>([
    [DOCS_PATH, () => renderOverview(reference, addresses)],
    ...NAMES.map((name) =>
      [documentPath(name), () => renderDocumentPage(source, documentPath(name))] as const
    ),
    [ERRORS_PATH, () => renderErrors(errors)],
    [TRACES_PAGE_PATH, () => renderTracePage({})],
    [REFERENCE_PATH, () => renderReferenceIndex(reference)],
    ...reference.groups.map((group) => [groupPath(group.name), () => renderGroup(group, reference)] as const),
    [TYPES_PATH, () => renderTypes(reference)],
    [COMMON_PATH, () => renderCommonParts(reference)],
  ]);
}

function renderDocumentPage({ documents, repositoryUrl }: DocsSource, path: string): string {
  const document = documents().get(path);
  if (document === undefined) return "";
  const page = document.page();
  return renderPortalPage({
    path,
    title: page.title,
    lead: raw(page.lead()),
    contents: page.sections.filter(({ depth }) => depth === 2).map(({ id, title }) => [`#${id}`, title]),
    chapter: chapterOf(documents(), path),
    hasMarkdown: true,
    ...(repositoryUrl === undefined ? {} : { source: `${repositoryUrl}docs/${document.name}.md` }),
    children: <div class="prose">{raw(page.body())}</div>,
  });
}

/** The documents of the folder that the page is in. */
function chapterOf(documents: ReadonlyMap<string, Document>, path: string): readonly Link[] {
  const chapter = CHAPTERS.map(([href]) => href).find((href) =>
    href !== DOCS_PATH && `${path}/`.startsWith(`${href}/`)
  );
  if (chapter === undefined) return [];
  return [...documents.values()].filter(({ path: other }) => `${other}/`.startsWith(`${chapter}/`))
    .map(({ path: other, title }) => [other, title]);
}

/** The list of pages for programs that read text (llmstxt.org). */
function llmsText({ reference, documents, addresses: { authUrl } }: DocsSource): string {
  const lines = [...documents().values()].map(({ path, title }) => `- [${title}](${authUrl}${path}.md)`);
  return [
    `# ${reference.title}`,
    `> ${(reference.description ?? "").split("\n")[0]}`,
    `## Documents`,
    lines.join("\n"),
    `## API\n\n- [OpenAPI 3.1](${authUrl}/openapi.json)\n- [Errors](${authUrl}${ERRORS_PATH})`,
  ].join("\n\n").concat("\n");
}

/** How likely a reader of the portal looks for it: guides before rules, rules before what operators read. */
function weightOf(path: string): number {
  if (/^\/docs\/(client|tpp|bank|signatures|sandbox)$/.test(path)) return 2;
  if (path.startsWith("/docs/contract")) return 0.6;
  return 0.4;
}

function documentPlaces({ path, title: where, page }: Document): Place[] {
  const weight = weightOf(path);
  return page().sections.map(({ id, title, text, depth }) => ({
    href: depth === 1 ? path : `${path}#${id}`,
    title,
    where,
    text,
    weight,
  }));
}

function overviewPlace({ reference, addresses }: DocsSource): Place {
  const text = addressesOf(reference, addresses).map((both) => both.join(" ")).join("\n");
  return { href: `${DOCS_PATH}#addresses`, title: "Addresses", where: "Overview", text, weight: 2 };
}

function referencePlaces({ reference: { groups, types } }: DocsSource): Place[] {
  const endpoints = groups.flatMap(({ name, endpoints }) =>
    endpoints.map((endpoint) => ({
      href: `${groupPath(name)}#${endpoint.id}`,
      title: endpoint.title,
      where: `API reference: ${name}`,
      text: [
        `${endpoint.method} ${endpoint.path}`,
        endpoint.description ?? "",
        ...endpoint.parameters.map((parameter) => parameter.name),
        ...endpoint.answers.map(({ status, description }) => `${status} ${description}`),
      ].join("\n"),
      weight: 1,
    }))
  );
  return [
    ...endpoints,
    ...types.map(({ name, shape }) => ({
      href: `${TYPES_PATH}#${typeAnchor(name)}`,
      title: name,
      where: "Data types",
      text: [shape.description ?? "", ...shape.fields.map((field) => field.name)].join(" "),
      weight: 0.5,
    })),
  ];
}
