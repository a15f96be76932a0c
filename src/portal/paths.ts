/** Where the pages of the portal are. */

/** A link: address and text. */
export type Link = readonly [href: string, title: string];

/** The first page, which also answers searches. */
export const DOCS_PATH = "/docs";
/** The list of all endpoints. */
export const REFERENCE_PATH = "/docs/reference";
/** Schemas that several endpoints use. */
export const TYPES_PATH = "/docs/reference/data-types";
/** Parameters and answers that many endpoints have. */
export const COMMON_PATH = "/docs/reference/common-parts";
/** The page of a request: its trace. */
export const TRACES_PAGE_PATH = "/docs/traces";
/** Every error. */
export const ERRORS_PATH = "/docs/errors";
/** The list of all pages for programs that read text (llmstxt.org). */
export const LLMS_PATH = "/llms.txt";
/** The script of every page. The pages work without it. */
export const SCRIPT_PATH = "/assets/portal.js";

/** The address of a rejection's documentation, by its reason. It never changes, because answers name it. */
export function errorPath(reason: string): string {
  return `${ERRORS_PATH}#${anchor(reason)}`;
}

/** The chapters, which every page links to. A chapter has the pages below its path. */
export const CHAPTERS: readonly Link[] = [
  [DOCS_PATH, "Overview"],
  ["/docs/client", "Quickstart"],
  ["/docs/tpp", "Connect a TPP"],
  ["/docs/bank", "Connect a bank"],
  ["/docs/signatures", "Signatures"],
  ["/docs/sandbox", "Sandbox"],
  [ERRORS_PATH, "Errors"],
  [TRACES_PAGE_PATH, "Traces"],
  [REFERENCE_PATH, "API reference"],
  ["/docs/contract", "Rules"],
  ["/docs/decisions", "Decisions"],
  ["/docs/architecture", "Architecture"],
  ["/docs/threats", "Threats"],
  ["/docs/operations", "Operation"],
];

/** Whether the page is the chapter, or below it. */
export function isIn(path: string, chapter: string): boolean {
  return path === chapter || (chapter !== DOCS_PATH && path.startsWith(`${chapter}/`));
}

/** The page of one tag's endpoints. */
export function groupPath(tag: string): string {
  return `${REFERENCE_PATH}/${anchor(tag)}`;
}

/** The page of a document of `docs`; that of a folder's README is the folder's. */
export function documentPath(name: string): string {
  return `${DOCS_PATH}/${name}`.replace(/\/README$/, "");
}

/** The text as an anchor: letters and digits, the rest as single hyphens. */
export function anchor(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-").replaceAll(/^-|-$/g, "");
}
