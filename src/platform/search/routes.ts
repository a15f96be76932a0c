/** `GET /operations/search` (contract TRC7). */
import { createRoute, z } from "@hono/zod-openapi";
import { wireDateTime } from "../../base/kernel/clock.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import type { PlatformEndpoint } from "../http/endpoint.ts";
import { operationAnswer, operationErrors, OPERATOR_SECURITY } from "../http/operation_answers.ts";
import { operation } from "../security/operation.ts";
import { type ErrorUri, representTraceInFull, traceSchema } from "../traces/trace_representation.ts";
import { type AuditedSearchDeps, SEARCH_PATH, searchAsOperator } from "./audited_search.ts";
import { type FoundCase, MAX_CASES, MAX_SEARCH_CHARACTERS } from "./search.ts";

export interface SearchRouteDeps extends AuditedSearchDeps {
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
  CreationDateTime: z.string().openapi({ format: "date-time" }),
}).openapi("FoundCase");

/** Schema of what a search has found. */
export const searchSchema = z.strictObject({
  Data: z.strictObject({ Case: z.array(caseSchema), Trace: z.array(traceSchema) }),
});

const searchRoute = createRoute({
  method: "get",
  path: SEARCH_PATH,
  operationId: "search",
  tags: ["Search"],
  security: OPERATOR_SECURITY,
  summary: "Find a payment by any id",
  description:
    "`q`: an interaction id (`x-fapi-interaction-id`, or the number on a customer's error page), a payment id, a consent id, " +
    "an end-to-end id or an idempotency key. `Trace` has the traces of an interaction id, or the newest ones of the " +
    "TPP about the only case.",
  request: { query: z.object({ q: z.string().max(MAX_SEARCH_CHARACTERS) }) },
  responses: {
    200: operationAnswer(
      `At most ${MAX_CASES} cases, newest first`,
      searchSchema,
    ),
    ...operationErrors(400),
  },
});

export function searchRoutes(deps: SearchRouteDeps): readonly PlatformEndpoint[] {
  return [
    operation(searchRoute, [], async (c) => {
      const [text = "", ...more] = c.req.queries("q") ?? [];
      if (text.trim() === "" || text.length > MAX_SEARCH_CHARACTERS || more.length > 0) {
        const description = `q must be sent once, with at most ${MAX_SEARCH_CHARACTERS} characters`;
        throw new ApiError("operations.invalid_request", { description });
      }
      const found = await searchAsOperator(deps, c.get("operator"), text);
      return c.json({
        Data: {
          Case: found.cases.map(representCase),
          Trace: found.traces.map((trace) => representTraceInFull(trace, deps.errorUri)),
        },
      });
    }),
  ];
}

export function representCase(found: FoundCase): z.infer<typeof caseSchema> {
  const { paymentId, paymentStatus } = found;
  return {
    FoundBy: [...found.foundBy],
    ConsentId: found.consentId,
    ConsentStatus: found.consentStatus,
    ...(paymentId === undefined ? {} : { DomesticPaymentId: paymentId }),
    ...(paymentStatus === undefined ? {} : { PaymentStatus: paymentStatus }),
    Bank: found.bank,
    ClientId: found.clientId,
    CreationDateTime: wireDateTime(found.createdAt),
  };
}
