/**
 * The documentation of every rejection that a TPP, a bank or a customer can get. The developer portal shows it, and
 * answers name it (`error_uri`). A reason without documentation does not compile.
 */
import type { ErrorReason } from "../../../base/kernel/api_error.ts";
import type { ErrorHelp } from "./help/error_help_entry.ts";
import { OAUTH_HELP } from "./help/oauth_help.ts";
import { PAGE_HELP } from "./help/page_help.ts";
import { REQUEST_HELP } from "./help/request_help.ts";
import { RESOURCE_HELP } from "./help/resource_help.ts";

/** Reasons of the operator's interface and of the directory, which have documentation of their own. */
type Internal = `operations.${string}` | `directory.${string}`;

export type DocumentedReason = Exclude<ErrorReason, Internal>;

export const ERROR_HELP = {
  ...REQUEST_HELP,
  ...OAUTH_HELP,
  ...RESOURCE_HELP,
  ...PAGE_HELP,
} as const satisfies Readonly<Record<DocumentedReason, ErrorHelp>>;
