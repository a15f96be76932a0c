/**
 * The developer documentation: which page is at which path, and what a search finds in all of them. English, for
 * developers; no script, nothing from other hosts. The reference is drawn from the OpenAPI document of the routes.
 */
import { type ApiReference, readApiReference } from "./api_reference.ts";
import { type ErrorEntry, errorRows, ErrorTable } from "./error_table.tsx";
import { bankGuide } from "./portal/bank_guide.ts";
import { type Guide, textOf } from "./portal/guide.ts";
import { renderGuide } from "./portal/guide_view.tsx";
import { renderFindings, renderOverview } from "./portal/overview_page.tsx";
import {
  COMMON_PATH,
  DOCS_PATH,
  ERRORS_PATH,
  groupPath,
  REFERENCE_PATH,
  TYPES_PATH,
} from "./portal/paths.ts";
import { MAX_QUERY_CHARACTERS, renderPortalPage } from "./portal/portal_frame.tsx";
import {
  renderCommonParts,
  renderGroup,
  renderReferenceIndex,
  renderTypes,
} from "./portal/reference_pages.tsx";
import { sandboxGuide } from "./portal/sandbox_guide.ts";
import { type Place, search } from "./portal/search.ts";
import { signaturesGuide } from "./portal/signatures_guide.ts";
import { tppGuide } from "./portal/tpp_guide.ts";
import { typeAnchor } from "./schema_view.tsx";

/** What the pages need beside the OpenAPI document. */
export interface DocsParts {
  /** Browser host, without a trailing slash. */
  readonly authUrl: string;
  readonly errors: readonly ErrorEntry[];
}

/** The documentation as plain data. */
interface Docs extends DocsParts {
  readonly reference: ApiReference;
  /** By path. */
  readonly guides: ReadonlyMap<string, Guide>;
}

/** Every path there is a page at; `document` is an OpenAPI 3.1 document as plain data. */
export function docsPaths(document: unknown): readonly string[] {
  const groups = readApiReference(document).groups.map(({ name }) => groupPath(name));
  const guides = guidesAt({ baseUrl: "", authUrl: "" }).keys();
  return [
    ...new Set([DOCS_PATH, ...guides, ERRORS_PATH, REFERENCE_PATH, TYPES_PATH, COMMON_PATH, ...groups]),
  ];
}

/** The page at a path as a whole HTML document, undefined where there is none. `query` searches all of them. */
export function renderDocsPage(
  at: { readonly path: string; readonly query?: string | undefined },
  document: unknown,
  parts: DocsParts,
): string | undefined {
  const reference = readApiReference(document);
  const addresses = {
    authUrl: parts.authUrl,
    baseUrl: reference.servers[0]?.url ?? "https://api.example.com",
  };
  const docs: Docs = { ...parts, reference, guides: guidesAt(addresses) };
  const guide = docs.guides.get(at.path);
  if (guide !== undefined) return renderGuide(at.path, guide);
  switch (at.path) {
    case DOCS_PATH:
      return at.query === undefined ? renderOverview(reference, parts.authUrl) : answerTo(at.query, docs);
    case ERRORS_PATH:
      return renderErrors(parts.errors);
    case REFERENCE_PATH:
      return renderReferenceIndex(reference);
    case TYPES_PATH:
      return renderTypes(reference);
    case COMMON_PATH:
      return renderCommonParts(reference);
  }
  const group = reference.groups.find(({ name }) => groupPath(name) === at.path);
  return group === undefined ? undefined : renderGroup(group, reference);
}

function guidesAt(addresses: { readonly baseUrl: string; readonly authUrl: string }): Docs["guides"] {
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
      "Every refusal, generated from the table that the platform answers from. When you ask for help, quote the answer’s x-fapi-interaction-id.",
    contents: [],
    children: <ErrorTable errors={errors} />,
  });
}

function answerTo(question: string, docs: Docs): string {
  const query = question.slice(0, MAX_QUERY_CHARACTERS).trim();
  return renderFindings(
    query,
    search([...guidePlaces(docs), ...referencePlaces(docs), ...errorPlaces(docs)], query),
  );
}

function guidePlaces({ guides }: Docs): Place[] {
  return [...guides].flatMap(([path, { title: where, sections }]) =>
    sections.map((section) => ({
      href: `${path}#${section.id}`,
      title: section.title,
      where,
      text: textOf(section),
    }))
  );
}

function referencePlaces({ reference: { groups, types } }: Docs): Place[] {
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

function errorPlaces({ errors }: Docs): Place[] {
  return errorRows(errors).map(({ id, reasons, surface, status, code, words }) => ({
    href: `${ERRORS_PATH}#${id}`,
    title: `${status} ${code}`.trim(),
    where: `Errors, as the ${surface} reads them`,
    text: `${words} ${reasons.join(", ")}`,
  }));
}
