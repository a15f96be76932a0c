/** The responses of the operations API for its OpenAPI document. */
import type { OpenAPIRegistry, RouteConfig } from "@asteasolutions/zod-to-openapi";
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
interface Answer {
  description: string;
  headers: Record<string, Reference>;
  content: Record<string, { schema: z.ZodType }>;
}

/** A JSON response. */
export function operationAnswer(description: string, schema: z.ZodType): Answer {
  return { description, headers: fresh, content: { "application/json": { schema } } };
}

/** A plain text response. */
export function operationText(description: string): Answer {
  return { description, headers: fresh, content: { "text/plain": { schema: z.string() } } };
}

/** A table as CSV (RFC 4180). */
export function operationTable(description: string): Answer {
  const headers = { ...fresh, link: header("NextPage") };
  return { description, headers, content: { "text/csv": { schema: z.string() } } };
}

const proposedSchema = z.strictObject({
  Data: z.strictObject({ ProposalId: z.uuid(), State: z.literal("proposed"), ExpiryDateTime: z.string() }),
}).openapi("Proposed");

const proposed = operationAnswer(
  "Proposed: a second operator must approve it (`PLATFORM_FOUR_EYES`)",
  proposedSchema,
);

/** A response of 202 to a change that a second operator may have to approve, and that is answered 202 also if it is made. */
export function proposedOr(made: string, schema: z.ZodType): Answer {
  return operationAnswer(
    `${made}, or proposed: a second operator must approve it (\`PLATFORM_FOUR_EYES\`)`,
    z.union([schema, proposedSchema]),
  );
}

/** A route of the operations API, as it is declared. */
interface OperationRoute<P extends string>
  extends Pick<RouteConfig, "method" | "operationId" | "tags" | "summary" | "description" | "request"> {
  readonly path: P;
  /** The JSON that the endpoint takes. */
  readonly body?: z.ZodType;
  readonly answers: Readonly<Record<number, Answer>>;
  /** Whether a second operator may have to approve it (`PLATFORM_FOUR_EYES`). */
  readonly isProposable?: true;
  /** Besides those of the guard, of a query and of a body. */
  readonly errors?: readonly (400 | 404 | 409 | 413)[];
}

const GUARD_ERRORS = [401, 403, 405, 429, 500, 503];
const BODY_ERRORS = [400, 413, 415];

/** Describes an endpoint behind the guard, with what the guard, its parameters and four eyes add to its answers. */
export function operationRoute<P extends string>(
  { body, answers, isProposable, errors = [], request, ...route }: OperationRoute<P>,
): RouteConfig & { path: P } {
  const unreadable = body !== undefined ? BODY_ERRORS : request?.query !== undefined ? [400] : [];
  const statuses = [...GUARD_ERRORS, ...unreadable, ...errors];
  const json = body && { required: true, content: { "application/json": { schema: body } } };
  return {
    ...route,
    security: [{ [OPERATOR_SCHEME]: [] }],
    request: { ...request, ...(json === undefined ? {} : { body: json }) },
    responses: {
      ...answers,
      ...(isProposable === true ? { 202: proposed } : {}),
      ...Object.fromEntries(
        statuses.map((code) => [code, { $ref: `#/components/responses/Operation${code}` }]),
      ),
    },
  };
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

/** Schema of a time. */
export const at = z.string().openapi({ format: "date-time" });

/** The schema of a body whose `Data` has these members and no others. */
export function dataSchema<Members extends z.ZodRawShape>(
  members: Members,
): z.ZodObject<{ Data: z.ZodObject<Members, z.core.$strict> }, z.core.$strict> {
  return z.strictObject({ Data: z.strictObject(members) });
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
