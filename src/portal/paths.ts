/** Where the pages of the documentation are. */
import { anchor } from "./api_reference.ts";

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
/** The error table. */
export const ERRORS_PATH = "/docs/errors";

/** The address of a rejection's documentation, by its reason. It never changes, because answers name it. */
export function errorPath(reason: string): string {
  return `${ERRORS_PATH}#${anchor(reason)}`;
}

/** The pages that every page links to. */
export const CHAPTERS: readonly (readonly [path: string, title: string])[] = [
  [DOCS_PATH, "Overview"],
  ["/docs/tpp", "Guide for TPPs"],
  ["/docs/bank", "Guide for banks"],
  ["/docs/signatures", "Signatures"],
  [ERRORS_PATH, "Errors"],
  [TRACES_PAGE_PATH, "Traces"],
  ["/docs/sandbox", "Sandbox"],
  [REFERENCE_PATH, "API reference"],
];

/** The page of one tag's endpoints. */
export function groupPath(tag: string): string {
  return `${REFERENCE_PATH}/${anchor(tag)}`;
}
