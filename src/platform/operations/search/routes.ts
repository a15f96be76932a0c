/** `GET /operations/search` (contract TRC7, TRC13). */
import { z } from "@hono/zod-openapi";
import { wireDateTime } from "../../../base/kernel/clock.ts";
import { BANK_CODE, CLIENT_ID } from "../../../base/kernel/identifiers.ts";
import { AMOUNT_PATTERN } from "../../../base/values/money.ts";
import { DAY_MS } from "../../observed/figures/figures.ts";
import { isWalkCursor } from "../../guards/lists/lookup_store.ts";
import type { PlatformEndpoint } from "../../guards/http/endpoint.ts";
import {
  dataSchema,
  operationAnswer,
  operationRoute,
  tppMember,
  tppName,
} from "../../guards/http/operation_answers.ts";
import { operation } from "../../guards/security/operation.ts";
import { type ErrorUri, representTraceInFull, traceSchema } from "../traces/trace_representation.ts";
import {
  type AmountQuery,
  type Found,
  type FoundCase,
  MAX_CASES,
  MAX_SEARCH_CHARACTERS,
  namesIn,
  search,
  searchAmount,
  type SearchDeps,
} from "./search.ts";
import { invalidRequest } from "../../guards/security/operation_body.ts";
import type { RecordRead } from "../../guards/security/operator_audit.ts";

/** The path of the search, which stands in the histories of operators. */
const SEARCH_PATH = "/operations/search";
/** The path of the search by amount and days. */
const AMOUNT_PATH = "/operations/cases";

export interface SearchRouteDeps extends SearchDeps {
  readonly recordRead: RecordRead;
  readonly errorUri: ErrorUri;
}

/** Schema of a found case. */
export const caseSchema = z.strictObject({
  FoundBy: z.array(z.string()).openapi({ example: ["interaction id"] }),
  ConsentId: z.string(),
  ConsentStatus: z.string(),
  DomesticPaymentId: z.string().optional(),
  PaymentStatus: z.string().optional(),
  Bank: z.string(),
  ClientId: z.string(),
  Tpp: tppName,
  CreationDateTime: z.string().openapi({ format: "date-time" }),
}).openapi("FoundCase");

/** Schema of what a search has found. */
export const searchSchema = dataSchema({
  Case: z.array(caseSchema),
  Trace: z.array(traceSchema),
  IsComplete: z.boolean().openapi({ description: "`false` if there are further cases or traces." }),
});

const searchRoute = operationRoute({
  method: "get",
  path: SEARCH_PATH,
  operationId: "search",
  tags: ["Search"],
  summary: "Find a payment by any id",
  description:
    "`q`: an interaction id (`x-fapi-interaction-id`, or the number on a customer's error page), a payment id, a consent id, " +
    "an end-to-end id or an idempotency key. `Trace` has the traces of an interaction id, or the newest ones of the " +
    "TPP about the only case.",
  request: { query: z.object({ q: z.string().max(MAX_SEARCH_CHARACTERS) }) },
  answers: {
    200: operationAnswer(`At most ${MAX_CASES} cases, newest first`, searchSchema),
  },
});

/** Schema of a page of a search by amount. */
export const amountSchema = dataSchema({
  Case: z.array(caseSchema),
  After: z.string().optional().openapi({
    description: "Where the search goes on; absent at its end. A page can be empty before it.",
  }),
});

const amountQuery = z.object({
  amount: z.string().regex(AMOUNT_PATTERN).openapi({ example: "49.90" }),
  currency: z.string().regex(/^[A-Z]{3}$/).optional(),
  from: z.iso.date(),
  until: z.iso.date().optional(),
  bank: z.string().regex(BANK_CODE).optional(),
  tpp: z.string().regex(CLIENT_ID).optional(),
  after: z.string().refine(isWalkCursor).optional(),
});
/** Longest time of one search. */
export const MAX_AMOUNT_DAYS = 31;

const amountRoute = operationRoute({
  method: "get",
  path: AMOUNT_PATH,
  operationId: "findCasesByAmount",
  tags: ["Search"],
  summary: "Find a payment by its amount and day",
  description:
    "Consents of this amount that were created, or paid, on these days (UTC): from `from` to `until`, which is the same " +
    `day by default, at most ${MAX_AMOUNT_DAYS} days. \`bank\` and \`tpp\` make the search shorter. A search looks at 5000 ` +
    "consents at most: go on with `after` from its `After`.",
  request: { query: amountQuery },
  answers: {
    200: operationAnswer(`At most ${MAX_CASES} cases, in the order of banks, TPPs and times`, amountSchema),
  },
});

function readAmountQuery(sent: Readonly<Record<string, string>>): AmountQuery {
  const parsed = amountQuery.safeParse(sent);
  if (!parsed.success) {
    const [name] = parsed.error.issues[0]?.path ?? [];
    throw invalidRequest(`${String(name)}: ${AMOUNT_HELP}`);
  }
  const { amount, currency, bank, tpp, after, from: day, until: lastDay = day } = parsed.data;
  const [from, until] = [Date.parse(day), Date.parse(lastDay) + DAY_MS];
  if (from >= until || until - from > MAX_AMOUNT_DAYS * DAY_MS) {
    throw invalidRequest(`until must not be before from, and at most ${MAX_AMOUNT_DAYS} days are searched`);
  }
  return { amount, currency, bank, tpp, after, from, until };
}

const AMOUNT_HELP =
  "amount must be an amount such as 49.90, currency such as EUR, from and until days such as 2040-01-15, bank the code of " +
  "a bank, tpp a client id, after the After of an earlier page. amount and from are required.";

function amountEndpoint(deps: SearchRouteDeps): PlatformEndpoint {
  return operation(amountRoute, [], async (c) => {
    const query = readAmountQuery(c.req.query());
    const { cases, next } = await searchAmount(deps, query);
    await recordFound(deps, c.get("operator"), AMOUNT_PATH, cases);
    const names = await namesIn(deps, cases);
    return c.json({ Data: { Case: cases.map((one) => representCase(one, names)), After: next } });
  });
}

export function searchRoutes(deps: SearchRouteDeps): readonly PlatformEndpoint[] {
  return [
    amountEndpoint(deps),
    operation(searchRoute, [], async (c) => {
      const [text = "", ...more] = c.req.queries("q") ?? [];
      if (text.trim() === "" || text.length > MAX_SEARCH_CHARACTERS || more.length > 0) {
        throw invalidRequest(`q must be sent once, with at most ${MAX_SEARCH_CHARACTERS} characters`);
      }
      const found = await search(deps, text);
      await recordFound(deps, c.get("operator"), SEARCH_PATH, found.cases, found.traces);
      const names = await namesIn(deps, found.cases);
      return c.json({
        Data: {
          Case: found.cases.map((one) => representCase(one, names)),
          Trace: found.traces.map((trace) => representTraceInFull(trace, deps.errorUri)),
          IsComplete: found.isComplete,
        },
      });
    }),
  ];
}

/**
 * Records what the operator has found in the operator's history, before it is returned. The text that was searched for is
 * not recorded, because it may be about a person.
 */
async function recordFound(
  { recordRead }: SearchRouteDeps,
  operator: string,
  path: string,
  cases: readonly FoundCase[],
  [trace]: Found["traces"] = [],
): Promise<void> {
  const other = trace === undefined ? "nothing found" : `interaction ${trace.interactionId}`;
  const ids = cases.length === 0 ? [other] : cases.map(({ consentId }) => `consent ${consentId}`);
  for (const one of ids) await recordRead(operator, `${path}: ${one}`);
}

/** `names` are those of {@link namesIn}. */
export function representCase(
  found: FoundCase,
  names: ReadonlyMap<string, string>,
): z.infer<typeof caseSchema> {
  const { paymentId, paymentStatus } = found;
  return {
    FoundBy: [...found.foundBy],
    ConsentId: found.consentId,
    ConsentStatus: found.consentStatus,
    DomesticPaymentId: paymentId,
    PaymentStatus: paymentStatus,
    Bank: found.bank,
    ClientId: found.clientId,
    ...tppMember(names, found.clientId),
    CreationDateTime: wireDateTime(found.createdAt),
  };
}
