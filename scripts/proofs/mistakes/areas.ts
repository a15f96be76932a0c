/** Every mistake, by area. */
import { EVENT_POLLS, EVENT_SUBSCRIPTIONS, LISTS, OWN_REGISTRATION } from "./after_payment.ts";
import { CODES, LINKS, PUSHED_REQUESTS } from "./authorization.ts";
import { ACCOUNTS, BANK_ACCESS, CONSENT_READS } from "./back_channel.ts";
import { BODIES } from "./bodies.ts";
import { CLIENT_ASSERTIONS } from "./client_assertions.ts";
import type { Area } from "./mistake.ts";
import { ORDER_ANSWERS, ORDER_LISTS, STATUS_REPORTS } from "./payment_orders.ts";
import { REGISTRATIONS } from "./registrations.ts";
import { RESULTS } from "./results.ts";
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
  EVENT_POLLS,
  EVENT_SUBSCRIPTIONS,
  LISTS,
  REGISTRATIONS,
  OWN_REGISTRATION,
  BANK_ACCESS,
  CONSENT_READS,
  ACCOUNTS,
  RESULTS,
  ORDER_ANSWERS,
  ORDER_LISTS,
  STATUS_REPORTS,
];
