/** Every mistake, by area. */
import { CLIENT_ASSERTIONS } from "./client_assertions.ts";
import type { Area } from "./mistake.ts";
import { PROOFS, TOKENS } from "./tokens_and_proofs.ts";

export const AREAS: readonly Area[] = [CLIENT_ASSERTIONS, PROOFS, TOKENS];
