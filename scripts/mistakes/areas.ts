/** Every mistake, by area. */
import { CODES, LINKS, PUSHED_REQUESTS } from "./authorization.ts";
import { BACK_CHANNEL } from "./back_channel.ts";
import { BODIES } from "./bodies.ts";
import { CLIENT_ASSERTIONS } from "./client_assertions.ts";
import type { Area } from "./mistake.ts";
import { REGISTRATIONS } from "./registrations.ts";
import { HEADERS, SIGNATURES } from "./signatures.ts";
import { PROOFS, TOKENS } from "./tokens_and_proofs.ts";

export const AREAS: readonly Area[] = [
  CLIENT_ASSERTIONS,
  PROOFS,
  TOKENS,
  SIGNATURES,
  HEADERS,
  BODIES,
  PUSHED_REQUESTS,
  CODES,
  LINKS,
  REGISTRATIONS,
  BACK_CHANNEL,
];
