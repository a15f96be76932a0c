/** The responses of the operations API for its OpenAPI document. */
import type { OpenAPIRegistry } from "@asteasolutions/zod-to-openapi";
import { z } from "@hono/zod-openapi";
import { HEADERS as ANSWER_HEADERS } from "./openapi_answers.ts";

const errorSchema = z.strictObject({
  error: z.string().openapi({ example: "conflict" }),
  error_description: z.string().max(500).openapi({ example: "The order is not given up." }),
}).openapi("OperationError");

const HEADERS = {
  InteractionId: {
    description: "The request's own if it is a UUID, otherwise a new one.",
    required: true,
    schema: { type: "string", format: "uuid" },
  },
  NoStore: ANSWER_HEADERS.NoStore,
  NextPage: {
    description: 'RFC 8288: the next page, with `rel="next"`. Absent at the end.',
    required: false,
    schema: { type: "string" },
  },
  RetryAfter: ANSWER_HEADERS.RetryAfter,
  Allow: ANSWER_HEADERS.Allow,
  Challenge: { description: "RFC 6750 §3.", required: true, schema: { type: "string", pattern: "^Bearer" } },
} as const;

interface Reference {
  $ref: string;
}

const header = (name: keyof typeof HEADERS): Reference => ({ $ref: `#/components/headers/${name}` });
const fresh = { "x-fapi-interaction-id": header("InteractionId"), "cache-control": header("NoStore") };
const content = { "application/json": { schema: { $ref: "#/components/schemas/OperationError" } } };
const error = (description: string, headers: Readonly<Record<string, Reference>> = {}): {
  description: string;
  headers: Record<string, Reference>;
  content: typeof content;
} => ({ description, headers: { ...fresh, ...headers }, content });

const ERRORS = {
  400: error("`error_description` says what is wrong"),
  401: error("No operator's token", { "www-authenticate": header("Challenge") }),
  403: error("None of the operator's roles may do this", { "www-authenticate": header("Challenge") }),
  404: error("Does not exist"),
  405: error("The method is not allowed; `Allow` lists the allowed methods", { allow: header("Allow") }),
  409: error("The current state does not allow this"),
  413: error("The body is too large"),
  415: error("The Content-Type is not application/json, or the body has a Content-Encoding"),
  429: error("Too many wrong tokens; see `Retry-After`", { "retry-after": header("RetryAfter") }),
  500: error("The platform failed. Quote the `x-fapi-interaction-id` of the answer"),
  503: error("Temporarily unavailable; see `Retry-After`", { "retry-after": header("RetryAfter") }),
} as const;

/** Name of the security scheme that `openapi.ts` describes. */
export const OPERATOR_SCHEME = "Operator";
/** `security` of every endpoint behind the guard. */
export const OPERATOR_SECURITY = [{ [OPERATOR_SCHEME]: [] }];

/** A JSON response. */
export function operationAnswer(description: string, schema: z.ZodType): {
  description: string;
  headers: Record<string, Reference>;
  content: { "application/json": { schema: z.ZodType } };
} {
  return { description, headers: fresh, content: { "application/json": { schema } } };
}

/** A plain text response. */
export function operationText(description: string): {
  description: string;
  headers: Record<string, Reference>;
  content: { "text/plain": { schema: z.ZodType } };
} {
  return { description, headers: fresh, content: { "text/plain": { schema: z.string() } } };
}

/** A table as CSV (RFC 4180). */
export function operationTable(description: string): {
  description: string;
  headers: Record<string, Reference>;
  content: { "text/csv": { schema: z.ZodType } };
} {
  const headers = { ...fresh, link: header("NextPage") };
  return { description, headers, content: { "text/csv": { schema: z.string() } } };
}

const proposedSchema = z.strictObject({
  Data: z.strictObject({ ProposalId: z.uuid(), State: z.literal("proposed"), ExpiryDateTime: z.string() }),
}).openapi("Proposed");

/** The response of a change that needs two operators, where the deployment is configured so. */
export function proposedAnswer(): { 202: ReturnType<typeof operationAnswer> } {
  return {
    202: operationAnswer(
      "Proposed: a second operator must approve it (`PLATFORM_FOUR_EYES`)",
      proposedSchema,
    ),
  };
}

/** The same for a change that is answered 202 also when it is made. */
export function proposedOr(made: string, schema: z.ZodType): ReturnType<typeof operationAnswer> {
  return operationAnswer(
    `${made}, or proposed: a second operator must approve it (\`PLATFORM_FOUR_EYES\`)`,
    z.union([schema, proposedSchema]),
  );
}

/** Error responses of an endpoint behind the guard: the common ones and these. */
export function operationErrors(
  ...statuses: readonly (400 | 404 | 409 | 413 | 415)[]
): Record<string, Reference> {
  const all = [401, 403, 405, ...statuses, 429, 500, 503];
  return Object.fromEntries(
    all.map((status) => [status, { $ref: `#/components/responses/Operation${status}` }]),
  );
}

/** Registers the components that the responses refer to. */
export function registerOperationAnswers(registry: OpenAPIRegistry): void {
  registry.register("OperationError", errorSchema);
  for (const [name, component] of Object.entries(HEADERS)) {
    registry.registerComponent("headers", name, component);
  }
  for (const [status, answer] of Object.entries(ERRORS)) {
    registry.registerComponent("responses", `Operation${status}`, answer);
  }
}

/** Schema of the name that people read beside a client id. */
export const tppName = z.string().optional().openapi({
  description: "Its name. Absent if its registration was deleted.",
});

/** The member that names a TPP. */
export function tppMember(names: ReadonlyMap<string, string>, clientId: string): { readonly Tpp?: string } {
  const name = names.get(clientId);
  return name === undefined ? {} : { Tpp: name };
}
