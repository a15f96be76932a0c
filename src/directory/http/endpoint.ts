/** Declares the directory's endpoints, and builds their descriptions for the OpenAPI document. */
import type { RouteConfig } from "@asteasolutions/zod-to-openapi";
import { z } from "zod";
import type { Check, CheckedContext, Endpoint } from "../../base/http/endpoint.ts";
import { PROPOSABLE } from "../changes/four_eyes.ts";
import type { DirectoryEnv } from "./request_context.ts";

/** The answer to a change that waits for another administrator. */
const proposed = z.strictObject({
  proposal_id: z.string(),
  state: z.literal("proposed"),
  expires_at: z.iso.datetime(),
}).meta({ id: "Proposed" });

type Handle<C extends readonly Check[]> = (
  c: CheckedContext<DirectoryEnv, C, string>,
) => Response | Promise<Response>;

/**
 * Declares an endpoint for everyone.
 *
 * @param checks in the order in which they run
 */
export function publicEndpoint<const C extends readonly Check[]>(
  words: Operation,
  checks: C,
  handle: Handle<C>,
): Endpoint {
  return { route: operation(words, false), checks, handle };
}

/** Declares an endpoint for administrators. {@link behind} adds the check who the administrator is. */
export function adminEndpoint<const C extends readonly Check[]>(
  words: Operation,
  checks: C,
  handle: Handle<C>,
): Endpoint {
  return { route: operation(words, true), checks, handle };
}

/** The endpoints, each with the check in front of its own. */
export function behind(check: Check, endpoints: readonly Endpoint[]): readonly Endpoint[] {
  return endpoints.map((each) => ({ ...each, checks: [check, ...each.checks] }));
}

/** The description of an endpoint. */
export interface Operation {
  readonly id: string;
  /** Default: get. */
  readonly method?: "post" | "put";
  /** `/participants/{org_id}` */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  /** Optional parameters. */
  readonly query?: Readonly<Record<string, z.ZodType>>;
  /** The body; required unless it is optional. */
  readonly body?: z.ZodType;
  readonly bodyIsOptional?: true;
  readonly status?: 200 | 201 | 303;
  readonly answer: string;
  /** The responses, by media type. */
  readonly content: Readonly<Record<string, z.ZodType>>;
  /** Omitted from the document: a page for browsers. */
  readonly hide?: true;
  /** Whether the response has an ETag, so that 304 is possible. */
  readonly cacheable?: true;
}

const ERRORS = {
  400: "The request is not valid. `error_description` names each fault.",
  401: "The administrator token is missing, wrong or revoked.",
  404: "There is no such participant, key, login, report or proposal.",
  409: "The request conflicts with an existing record.",
  413: "The body is larger than 64 KiB.",
  415: "The body is not application/json, or it is encoded.",
  429: "Too many requests. Try again after the delay in Retry-After.",
  503: "The directory is temporarily unavailable. Try again later.",
} as const;

const fault = z.object({
  error: z.string().meta({ description: "A stable code.", examples: ["invalid_request"] }),
  error_description: z.string().meta({ description: "What was wrong and what was expected, in ASCII." }),
}).meta({ id: "Error" });

const PARAMETERS: Readonly<Record<string, z.ZodType>> = {
  org_id: z.string().regex(/^[A-Za-z0-9_-]{2,32}$/).meta({
    description: "The organisation. A bank's is its bank code.",
    examples: ["BANKA"],
  }),
  kid: z.string().regex(/^[A-Za-z0-9_-]{27}$/).meta({
    description: "The key's kid: its certificate's x5t.",
    examples: ["tWk1Jm6Cq0eO2zQb9x4hUyNcS7g"],
  }),
  login_id: z.string().regex(/^[0-9a-f]{16}$/).meta({
    description: "The login's id, from the participant's record.",
    examples: ["0f3b5a7c9d1e2f40"],
  }),
  proposal_id: z.string().regex(/^[0-9a-f]{28}$/).meta({
    description: "The proposal's id.",
    examples: ["fe642f2c67ff0f3b5a7c9d1e2f40"],
  }),
  certification_id: z.string().regex(/^[A-Za-z0-9_-]{43}$/).meta({
    description: "The report's id, from the participant's record.",
    examples: ["uU0nuZNNPgilLlLX2n2r-sSE7-N6U4DukIj3rOLvzek"],
  }),
};

const PROPOSED = {
  description: "Proposed: another administrator must approve it (`DIRECTORY_FOUR_EYES`)",
  content: { "application/json": { schema: proposed } },
};

/** Builds a route for the document. */
function operation(given: Operation, administrators: boolean): Endpoint["route"] {
  const { id, method = "get", path, summary, description, status = 200 } = given;
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const errors: readonly (keyof typeof ERRORS)[] = [
    ...given.body !== undefined ? [400, 409, 413, 415] as const : [],
    ...given.query !== undefined ? [400] as const : [],
    ...administrators ? [401] as const : [],
    ...names.length > 0 ? [404] as const : [],
    429,
    503,
  ];
  return {
    operationId: id,
    method,
    path,
    summary,
    ...(given.hide === undefined ? {} : { hide: true }),
    ...(description === undefined ? {} : { description }),
    tags: [administrators ? "Administrators" : "Public"],
    security: administrators ? [{ administrator: [] }] : [],
    request: {
      ...(names.length === 0 ? {} : { params: z.object(pick(names)) }),
      ...(given.query === undefined ? {} : { query: z.object(given.query).partial() }),
      ...(given.body === undefined ? {} : { body: jsonBody(given.body, given.bodyIsOptional !== true) }),
    },
    responses: {
      ...(PROPOSABLE.some((change) => change === id) ? { 202: PROPOSED } : {}),
      [status]: {
        description: given.answer,
        ...(status === 303 ? { headers: { Location: header("A path of this host.") } } : {}),
        ...(Object.keys(given.content).length === 0 ? {} : { content: describeContent(given.content) }),
        ...(given.cacheable ? { headers: { ETag: header("For If-None-Match.") } } : {}),
      },
      ...(given.cacheable ? { 304: { description: "The document has not changed." } } : {}),
      ...Object.fromEntries(errors.toSorted((a, b) => a - b).map((code) => [code, errorAnswer(code)])),
    },
  };
}

function pick(names: readonly string[]): Record<string, z.ZodType> {
  return Object.fromEntries(names.flatMap((name) => {
    const parameter = PARAMETERS[name];
    return parameter === undefined ? [] : [[name, parameter]];
  }));
}

function jsonBody(
  schema: z.ZodType,
  required: boolean,
): Required<NonNullable<RouteConfig["request"]>>["body"] {
  return { required, content: { "application/json": { schema } } };
}

function describeContent(content: Operation["content"]): Record<string, { schema: z.ZodType }> {
  return Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema }]));
}

function errorAnswer(code: keyof typeof ERRORS): RouteConfig["responses"][string] {
  const headers = code === 401
    ? { "WWW-Authenticate": header('`Bearer realm="directory"`') }
    : code === 429
    ? { "Retry-After": header("Seconds.") }
    : undefined;
  return {
    description: ERRORS[code],
    content: { "application/json": { schema: fault } },
    ...(headers === undefined ? {} : { headers }),
  };
}

function header(description: string): { description: string; schema: { type: "string" } } {
  return { description, schema: { type: "string" } };
}
