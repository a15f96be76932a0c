/** Settings that all pages of one deployment share. */
import type { Operator } from "./operator.ts";

/** Whose pages they are, and what of it the shell of every page shows. */
export interface Site {
  readonly sandbox: boolean;
  readonly operator: Operator;
}

/** Where the browser app serves the operator's logo. */
export const LOGO_PATH = "/assets/operator-logo";
