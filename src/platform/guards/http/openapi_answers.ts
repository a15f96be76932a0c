/**
 * The responses of the three surfaces for the OpenAPI document. Errors and headers are shared components.
 * `scripts/testing/api_contract.ts` checks every response of the HTTP tests against them.
 */
import type { OpenAPIRegistry } from "@asteasolutions/zod-to-openapi";
import { z } from "@hono/zod-openapi";

/** The documentation of an error. Its address is stable. */
const ERROR_URI = z.url().optional().openapi({
  description: "Cause, expected value, example and remedy. Present if the client certificate is proven.",
  example: "https://auth.example/docs/errors#client-not-authenticated",
});

/** `{error, error_description, error_uri}` (RFC 6749 §5.2). */
export const oauthErrorSchema = z.strictObject({
  error: z.string().openapi({ example: "invalid_client" }),
  error_description: z.string().max(500).openapi({
    description:
      "Printable ASCII. If the client certificate is proven: what was wrong, what was expected and what was received.",
    example:
      "client_assertion aud must be 'https://auth.example/BANKA' (the issuer of this bank, as a string); got 'BANKA'.",
  }),
  error_uri: ERROR_URI,
}).openapi("OAuthError");

/** `OBErrorResponse1` (contract EB1 to EB4). */
export const resourceErrorSchema = z.strictObject({
  Code: z.string().max(40).openapi({ example: "400 BadRequest" }),
  Id: z.uuid().openapi({ description: "Id of this error, which is also in the platform's log." }),
  Message: z.string().max(500),
  Errors: z.array(z.strictObject({
    ErrorCode: z.string().regex(/^UK\.OBIE\.[A-Za-z.]+$/).openapi({ example: "UK.OBIE.Field.Missing" }),
    Message: z.string().min(1).max(500),
    Path: z.string().min(1).max(500).optional().openapi({
      description: "The field, header, query parameter or JOSE member that has the error.",
      example: "Data.Initiation.InstructedAmount.Amount",
    }),
    Url: ERROR_URI,
  })).min(1).max(20),
}).openapi("OBErrorResponse1");

interface Reference {
  $ref: string;
}

interface Answer {
  description: string;
  headers: Record<string, Reference>;
  content?: Record<string, { schema: z.ZodType | Reference | { type: "string" } }>;
}

interface Header {
  description: string;
  required?: true;
  schema: { type: "string" | "integer"; [rule: string]: string | number };
}

/** Response headers by component name. */
/** Components of the document by name. */
export const HEADERS = {
  InteractionId: {
    description:
      "The request's own if it is a UUID, otherwise a new one. Quote it when you report a problem.",
    required: true,
    schema: { type: "string", format: "uuid" },
  },
  PayloadSignature: {
    description: "Detached JWS over the exact body bytes, signed by a key of the platform's key set.",
    required: true,
    schema: { type: "string", pattern: "^[A-Za-z0-9_-]+\\.\\.[A-Za-z0-9_-]+$" },
  },
  SignatureOfBody: {
    description: "Detached JWS over the exact body bytes, if there is a body.",
    schema: { type: "string", pattern: "^[A-Za-z0-9_-]+\\.\\.[A-Za-z0-9_-]+$" },
  },
  NoStore: { description: "Never cached.", required: true, schema: { type: "string", const: "no-store" } },
  Cacheable: {
    description: "May be cached.",
    required: true,
    schema: { type: "string", pattern: "^public, max-age=\\d+$" },
  },
  RetryAfter: {
    description: "Seconds until the request may be repeated.",
    required: true,
    schema: { type: "integer", minimum: 1 },
  },
  Quota: {
    description: "The number of consents that may await authorisation, if that limit is reached.",
    schema: { type: "string", pattern: '^"open_consents";q=\\d+$' },
  },
  Challenge: {
    description:
      "Which access token or DPoP proof the request needs (RFC 9449 §7.1). `error_description` and " +
      "`error_uri` explain the fault if the client certificate is proven.",
    required: true,
    schema: { type: "string", pattern: '^DPoP .*algs="PS256"$' },
  },
  TokenFault: {
    description: "Only if the access token was sent in the wrong way (RFC 6750 §3.1).",
    schema: { type: "string", pattern: '^DPoP error="invalid_request", .*algs="PS256"$' },
  },
  EntityTag: {
    description: "Send it as `If-None-Match` to get a 304 if the document has not changed.",
    required: true,
    schema: { type: "string", pattern: '^"[A-Za-z0-9_-]+"$' },
  },
  Allow: {
    description: "The allowed methods.",
    required: true,
    schema: { type: "string", pattern: "^[A-Z]+(, [A-Z]+)*$" },
  },
  Location: { description: "Absolute URL.", required: true, schema: { type: "string", format: "uri" } },
  BrowserBinding: {
    description: "Binds the authorization session to this browser, or deletes that cookie.",
    schema: { type: "string", pattern: "HttpOnly" },
  },
} as const satisfies Record<string, Header>;

const header = (name: keyof typeof HEADERS): Reference => ({ $ref: `#/components/headers/${name}` });
const named = { "x-fapi-interaction-id": header("InteractionId") };
const fresh = { ...named, "cache-control": header("NoStore") };
const bound = { ...fresh, "set-cookie": header("BrowserBinding") };
const signed = { ...fresh, "x-jws-signature": header("PayloadSignature") };
const schemaOf = (name: string): { schema: Reference } => ({
  schema: { $ref: `#/components/schemas/${name}` },
});
/** Content of every page. */
export const PAGE_CONTENT = { "text/html": { schema: { type: "string" } } } as const;

const oauthBody = { content: { "application/json": schemaOf("OAuthError") } };
const resourceBody = { headers: signed, content: { "application/json": schemaOf("OBErrorResponse1") } };
const retry = { "retry-after": header("RetryAfter") };
const allow = { allow: header("Allow") };
const challenge = { "www-authenticate": header("Challenge") };

const WORDS = {
  404: "No such bank",
  405: "The method is not allowed; `Allow` lists the allowed methods",
  413: "The body is too large",
  429: "Too many requests; see `Retry-After`",
  500: "The platform failed. Quote the `x-fapi-interaction-id` of the answer",
  503: "Temporarily unavailable; see `Retry-After`",
} as const;

/** Errors of OAuth endpoints, public documents, and registration. */
const OAUTH = {
  400: {
    description: "Bad request; `error` and `error_description` say what is wrong",
    headers: fresh,
    ...oauthBody,
  },
  401: { description: "The client, or its certificate, is not authenticated", headers: fresh, ...oauthBody },
  404: { description: WORDS[404], headers: fresh, ...oauthBody },
  405: { description: WORDS[405], headers: { ...fresh, ...allow }, ...oauthBody },
  413: { description: WORDS[413], headers: fresh, ...oauthBody },
  415: {
    description:
      "The Content-Type of a registration is not application/jose, or the body has a Content-Encoding",
    headers: fresh,
    ...oauthBody,
  },
  429: { description: WORDS[429], headers: { ...fresh, ...retry }, ...oauthBody },
  500: { description: WORDS[500], headers: fresh, ...oauthBody },
  503: { description: WORDS[503], headers: { ...fresh, ...retry }, ...oauthBody },
} as const satisfies Record<number, Answer>;

/** Errors of resource endpoints. 401, 404, 405, 406 and 429 have no body. */
const RESOURCE = {
  400: {
    description: "Bad request; `Errors` names each fault",
    ...resourceBody,
    headers: { ...signed, "www-authenticate": header("TokenFault") },
  },
  401: {
    description: "No valid access token, DPoP proof or certificate",
    headers: { ...fresh, ...challenge },
  },
  403: {
    description: "The access token does not allow this; `Errors` names the token that is needed",
    ...resourceBody,
    headers: { ...signed, ...challenge },
  },
  404: { description: WORDS[404], headers: fresh },
  405: { description: WORDS[405], headers: { ...fresh, ...allow } },
  406: {
    description: "The `Accept` header excludes application/json, the only supported type",
    headers: fresh,
  },
  409: { description: "The resource exists", ...resourceBody },
  413: { description: WORDS[413], ...resourceBody },
  415: { description: "Wrong Content-Type or Content-Encoding", ...resourceBody },
  429: { description: WORDS[429], headers: { ...fresh, ...retry, "ratelimit-policy": header("Quota") } },
  500: { description: WORDS[500], ...resourceBody },
  503: {
    description: `${WORDS[503]}. Without a body if the platform has too many requests`,
    ...resourceBody,
    headers: { ...fresh, "x-jws-signature": header("SignatureOfBody"), ...retry },
  },
} as const satisfies Record<number, Answer>;

/** Errors of browser routes are pages. If the address is wrong, clients that do not accept HTML get JSON. */
const PAGE = {
  400: {
    description: "A page: the link or the return cannot be used; nothing has changed",
    headers: bound,
    content: PAGE_CONTENT,
  },
  404: {
    description: WORDS[404],
    headers: fresh,
    content: { ...PAGE_CONTENT, "application/json": schemaOf("OAuthError") },
  },
  405: {
    description: WORDS[405],
    headers: { ...fresh, ...allow },
    content: { ...PAGE_CONTENT, "application/json": schemaOf("OAuthError") },
  },
  500: { description: `A page. ${WORDS[500]}`, headers: bound, content: PAGE_CONTENT },
  503: {
    description: "A page: temporarily unavailable",
    headers: { ...bound, ...retry },
    content: PAGE_CONTENT,
  },
} as const satisfies Record<number, Answer>;

type Errors = Record<string, Reference>;

/** Error responses of an OAuth endpoint or a public document. */
export function oauthErrors(...statuses: readonly (keyof typeof OAUTH)[]): Errors {
  return references("OAuth", statuses);
}

/** Error responses of a resource endpoint: the common ones and these. */
export function resourceErrors(...statuses: readonly (keyof typeof RESOURCE)[]): Errors {
  return references("Resource", [400, 401, 403, 404, 405, 406, ...statuses, 429, 500, 503]);
}

/** Error responses of a browser route. */
export function pageErrors(...statuses: readonly (keyof typeof PAGE)[]): Errors {
  return references("Page", statuses);
}

/** A JSON response of a resource endpoint. */
export function resourceAnswer(description: string, schema: z.ZodType): Answer {
  return { description, headers: signed, content: { "application/json": { schema } } };
}

/** A response of a resource endpoint without a body. */
export function emptyResourceAnswer(description: string): Answer {
  return { description, headers: fresh };
}

/** A JSON response of an OAuth endpoint. */
export function oauthAnswer(description: string, schema: z.ZodType): Answer {
  return { description, headers: fresh, content: { "application/json": { schema } } };
}

/** A cacheable JSON response. */
export function publicAnswer(description: string, schema: z.ZodType): Answer {
  const headers = { ...named, "cache-control": header("Cacheable") };
  return { description, headers, content: { "application/json": { schema } } };
}

/** A cacheable public document with an entity tag (RFC 9110 §13.1.2). */
export function taggedAnswers(description: string, schema: z.ZodType): Record<200 | 304, Answer> {
  const answer = publicAnswer(description, schema);
  const headers = { ...answer.headers, etag: header("EntityTag") };
  return { 200: { ...answer, headers }, 304: { description: "The document has not changed", headers } };
}

/** A redirect of the customer's browser. */
export function redirectAnswer(description: string): Answer {
  return { description, headers: { ...bound, location: header("Location") } };
}

/** A page for the customer's browser. */
export function pageAnswer(description: string): Answer {
  return { description, headers: bound, content: PAGE_CONTENT };
}

/** Registers all components that the responses refer to. */
export function registerAnswers(registry: OpenAPIRegistry): void {
  registry.register("OAuthError", oauthErrorSchema);
  registry.register("OBErrorResponse1", resourceErrorSchema);
  for (const [name, component] of Object.entries(HEADERS)) {
    registry.registerComponent("headers", name, component);
  }
  for (const [surface, answers] of Object.entries({ OAuth: OAUTH, Resource: RESOURCE, Page: PAGE })) {
    for (const [status, answer] of Object.entries(answers)) {
      registry.registerComponent("responses", `${surface}${status}`, answer);
    }
  }
}

function references(surface: string, statuses: readonly number[]): Errors {
  return Object.fromEntries(
    statuses.map((status) => [status, { $ref: `#/components/responses/${surface}${status}` }]),
  );
}
