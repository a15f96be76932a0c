/**
 * The developer documentation: maps paths to pages and searches all of them. In English, without scripts and external
 * resources. The reference is rendered from the OpenAPI document of the routes.
 */
import { type ApiReference, readApiReference } from "./api_reference.ts";
import { type ErrorEntry, errorRows, ErrorTable, remedies } from "./error_table.tsx";
import { bankGuide } from "./bank_guide.ts";
import { type Guide, textOf } from "./guide.ts";
import { renderGuide } from "./guide_view.tsx";
import { type DirectoryFacts, renderFindings, renderOverview } from "./overview_page.tsx";
import {
  COMMON_PATH,
  DOCS_PATH,
  errorPath,
  ERRORS_PATH,
  groupPath,
  REFERENCE_PATH,
  TRACES_PAGE_PATH,
  TYPES_PATH,
} from "./paths.ts";
import { MAX_QUERY_CHARACTERS, renderPortalPage } from "./portal_frame.tsx";
import { renderCommonParts, renderGroup, renderReferenceIndex, renderTypes } from "./reference_pages.tsx";
import { sandboxGuide } from "./sandbox_guide.ts";
import { type Place, search, searchable, type SearchablePlace } from "./search.ts";
import { signaturesGuide } from "./signatures_guide.ts";
import { renderTracePage } from "./trace_page.tsx";
import { tppGuide } from "./tpp_guide.ts";
import { typeAnchor } from "./schema_view.tsx";

/** Inputs of the pages besides the OpenAPI document. */
export interface DocsParts {
  /** Browser host, without a trailing slash. */
  readonly authUrl: string;
  readonly errors: readonly ErrorEntry[];
  readonly directory: DirectoryFacts;
}

/** The documentation. */
export interface Docs {
  /** Every path that has a page. */
  readonly paths: readonly string[];
  /** The page at a path as a whole HTML document; undefined if the path has none. */
  page(path: string): string | undefined;
  /** The page that answers a search in all of them. */
  find(question: string): string;
}

/** Source of the pages and the search. */
interface DocsSource extends DocsParts {
  readonly reference: ApiReference;
  /** By path. */
  readonly guides: ReadonlyMap<string, Guide>;
}

/**
 * Opens the documentation. Pages are drawn each time that they are asked for; what only searches need is made once, at
 * the first search.
 *
 * @param document an OpenAPI 3.1 document as plain data
 */
export function openDocs(document: unknown, parts: DocsParts): Docs {
  const reference = readApiReference(document);
  const baseUrl = reference.servers[0]?.url ?? "https://api.example.com";
  const guides = guidesAt({ authUrl: parts.authUrl, baseUrl });
  const source: DocsSource = { ...parts, reference, guides };
  const pages = pagesOf(source);
  let places: readonly SearchablePlace[] | undefined;
  return {
    paths: [...pages.keys()],
    page: (path) => pages.get(path)?.(),
    find(question) {
      const query = question.slice(0, MAX_QUERY_CHARACTERS).trim();
      places ??= searchable([...guidePlaces(source), ...referencePlaces(source), ...errorPlaces(source)]);
      return renderFindings(query, search(places, query));
    },
  };
}

function pagesOf(
  { reference, guides, authUrl, errors, directory }: DocsSource,
): ReadonlyMap<string, () => string> {
  return new Map<string, () => string>([
    [DOCS_PATH, () => renderOverview(reference, authUrl, directory)],
    ...[...guides].map(([path, guide]) => [path, () => renderGuide(path, guide)] as const),
    [ERRORS_PATH, () => renderErrors(errors)],
    [TRACES_PAGE_PATH, () => renderTracePage({})],
    [REFERENCE_PATH, () => renderReferenceIndex(reference)],
    ...reference.groups.map((group) => [groupPath(group.name), () => renderGroup(group, reference)] as const),
    [TYPES_PATH, () => renderTypes(reference)],
    [COMMON_PATH, () => renderCommonParts(reference)],
  ]);
}

function guidesAt(addresses: { readonly baseUrl: string; readonly authUrl: string }): DocsSource["guides"] {
  return new Map([
    ["/docs/tpp", tppGuide(addresses)],
    ["/docs/bank", bankGuide(addresses)],
    ["/docs/signatures", signaturesGuide(addresses)],
    ["/docs/sandbox", sandboxGuide(addresses)],
  ]);
}

function renderErrors(errors: readonly ErrorEntry[]): string {
  return renderPortalPage({
    path: ERRORS_PATH,
    title: "Errors",
    lead:
      "Every rejection, generated from the table that the platform answers from. When you ask for help, quote the answer’s x-fapi-interaction-id.",
    contents: [],
    children: <ErrorTable errors={errors} />,
  });
}

function guidePlaces({ guides }: DocsSource): Place[] {
  return [...guides].flatMap(([path, { title: where, sections }]) =>
    sections.map((section) => ({
      href: `${path}#${section.id}`,
      title: section.title,
      where,
      text: textOf(section),
    }))
  );
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
    }))
  );
  return [
    ...endpoints,
    ...types.map(({ name, shape }) => ({
      href: `${TYPES_PATH}#${typeAnchor(name)}`,
      title: name,
      where: "Data types",
      text: JSON.stringify([shape.description, ...shape.fields.map((field) => field.name)]),
    })),
  ];
}

function errorPlaces({ errors }: DocsSource): Place[] {
  const rows = errorRows(errors).map(({ id, reasons, surface, status, code, words }) => ({
    href: `${ERRORS_PATH}#${id}`,
    title: `${status} ${code}`.trim(),
    where: `Errors, as the ${surface} reads them`,
    text: `${words} ${reasons.join(", ")}`,
  }));
  const causes = remedies(errors).map(([reason, help]) => ({
    href: errorPath(reason),
    title: reason,
    where: "Errors: causes and remedies",
    text: Object.values(help).join("\n"),
  }));
  return [...rows, ...causes];
}
