/** Public pages of the browser host: style, health, the OpenAPI document and the documentation. */
import { createRoute, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Endpoint } from "../../base/http/endpoint.ts";
import { endpoint, type PlatformEndpoint } from "../guards/http/endpoint.ts";
import { oauthAnswer, oauthErrors, taggedAnswers } from "../guards/http/openapi_answers.ts";
import { answerDocument, documentStore, PUBLIC_CACHE } from "../../base/http/public_document.ts";
import { ERROR_TABLE, type Wire } from "../guards/http/error_table.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import type { Readiness } from "../../base/observability/health.ts";
import { type Docs, openDocs } from "../../portal/docs_page.tsx";
import { CONTENT_SECURITY_POLICY } from "../../base/http/host_middleware.ts";
import { errorPageRoute, type FindTpp } from "../guards/http/error_routes.ts";
import type { ErrorAnswer, ErrorEntry } from "../../portal/errors_page.tsx";
import { type DocumentedReason, ERROR_HELP } from "../guards/http/error_help.ts";
import type { TryLink } from "../../portal/api_reference.ts";
import { DOCS_PATH, LLMS_PATH, SCRIPT_PATH, TRACES_PAGE_PATH } from "../../portal/paths.ts";
import type { DirectoryFacts } from "../../portal/addresses.ts";
import SCRIPT from "../../portal/portal.js" with { type: "text" };
import { TraceFinder } from "../operations/traces/trace_page.tsx";
import type { ErrorUri } from "../operations/traces/trace_representation.ts";
import type { TraceStore } from "../operations/traces/trace_store.ts";
import { isUuid } from "../../base/kernel/identifiers.ts";
import { LOGO_PATH, type Site } from "../../pages/site.ts";
import { READINESS_PATH } from "../config/paths.ts";
import { FONT_CACHE, FONT_TYPE, fontFiles } from "../../pages/fonts.ts";
import { ICON, ICON_PATH, STYLESHEET, STYLESHEET_PATH } from "../../pages/stylesheet.ts";

export interface PublicPageDeps {
  readonly site: Site;
  readonly findTpp: FindTpp;
  readonly readiness: () => Promise<Readiness>;
  /** Whether proxies may send requests to this process. */
  readonly isServing: () => boolean;
  /** The OpenAPI 3.1 document of both hosts, generated from their routes. */
  readonly openApi: () => object;
  readonly docs: () => Docs;
  readonly traces: Pick<TraceStore, "byInteraction">;
  readonly errorUri: ErrorUri;
}

const HTML = "text/html; charset=UTF-8";
const MARKDOWN = "text/markdown; charset=UTF-8";
const PORTAL_POLICY = `${CONTENT_SECURITY_POLICY}; script-src 'self'`;
const tags = ["Operation"];
const hidden = (
  path: string,
): { method: "get"; path: string; hide: true; responses: { 200: { description: string } } } => ({
  method: "get",
  path,
  hide: true,
  responses: { 200: { description: "A file" } },
});

const readinessSchema = z.strictObject({
  ready: z.boolean(),
  parts: z.record(z.string(), z.strictObject({ ok: z.boolean(), detail: z.string().optional() })),
}).openapi("Readiness");

const liveRoute = createRoute({
  method: "get",
  path: "/health/live",
  tags,
  operationId: "getLiveness",
  summary: "The process answers",
  description: "For the supervisor that restarts a process which hangs. Asks no other part.",
  security: [],
  responses: {
    200: oauthAnswer("Alive", z.strictObject({ live: z.literal(true) })),
    ...oauthErrors(405, 500),
  },
});
const servingSchema = z.strictObject({ serving: z.boolean() });
const servingRoute = createRoute({
  method: "get",
  path: "/health/serving",
  tags,
  operationId: "getServing",
  summary: "Proxies may send requests to this process",
  description: "For proxies. 503 as soon as the process is asked to stop. Asks no other part, so that " +
    "a slow database does not take every process out at once.",
  security: [],
  responses: {
    200: oauthAnswer("Serving", servingSchema),
    ...oauthErrors(405, 500),
    503: oauthAnswer("Stopping; requests are still served for a while", servingSchema),
  },
});
const readyRoute = createRoute({
  method: "get",
  path: READINESS_PATH,
  tags,
  operationId: "getReadiness",
  summary: "The platform can do its work",
  description:
    "For alarms. Asks the parts that the platform needs, and those that it can do without for a while.",
  security: [],
  responses: {
    200: oauthAnswer("Ready", readinessSchema),
    ...oauthErrors(405, 500),
    503: oauthAnswer("Not ready; `parts` says what is missing", readinessSchema),
  },
});
const documentRoute = createRoute({
  method: "get",
  path: "/openapi.json",
  tags,
  operationId: "getOpenApiDocument",
  summary: "This document",
  description: "OpenAPI 3.1, generated from the routes that answer.",
  security: [],
  responses: { ...taggedAnswers("OpenAPI 3.1", z.looseObject({})), ...oauthErrors(405, 500) },
});
const rootRoute = { ...hidden("/"), responses: { 303: { description: "To the documentation" } } };
/** A bank cannot have the code `docs` (`identifiers.ts`). The page of traces is an endpoint of its own. */
const docsRoutes = ["", "/{page}", "/{chapter}/{page}", "/{chapter}/{part}/{page}"]
  .map((path) => hidden(`${DOCS_PATH}${path}`));

/**
 * The pages. Documents are rendered once and cached, so that a flood of requests for them hardly delays payments.
 */
export function publicPageRoutes(deps: PublicPageDeps): readonly PlatformEndpoint[] {
  const document = documentStore();
  const { openApi, docs } = deps;
  const { logo } = deps.site.operator;
  const file = (
    route: Endpoint["route"],
    type: string,
    content: () => string | Uint8Array<ArrayBuffer>,
    cache = PUBLIC_CACHE,
  ): PlatformEndpoint =>
    endpoint("oauth", "public", route, [], async (c) => {
      return answerDocument(c, await document(route.path, type, content), cache);
    });
  return [
    file(hidden(STYLESHEET_PATH), "text/css; charset=utf-8", () => STYLESHEET),
    ...fontFiles(STYLESHEET_PATH).map(([path, bytes]) =>
      file(hidden(path), FONT_TYPE, () => bytes, FONT_CACHE)
    ),
    file(hidden(ICON_PATH), "image/svg+xml", () => ICON),
    file(hidden(SCRIPT_PATH), "text/javascript; charset=utf-8", () => SCRIPT),
    ...(logo === undefined ? [] : [file(hidden(LOGO_PATH), logo.type, () => logo.bytes)]),
    ...healthEndpoints(deps),
    file(documentRoute, "application/json", () => JSON.stringify(openApi())),
    endpoint("browser", "public", rootRoute, [], (c) => c.redirect(DOCS_PATH, 303)),
    errorPageRoute(deps.site, deps.findTpp),
    file(hidden(LLMS_PATH), MARKDOWN, () => docs().text(LLMS_PATH) ?? ""),
    ...(deps.site.sandbox ? [traceEndpoint(deps)] : []),
    ...docsEndpoints(document, docs),
  ];
}

/** The health of this process. */
export function healthEndpoints(
  { readiness, isServing }: Pick<PublicPageDeps, "readiness" | "isServing">,
): readonly PlatformEndpoint[] {
  return [
    endpoint("oauth", "probe", liveRoute, [], (c) => c.json({ live: true })),
    endpoint("oauth", "probe", servingRoute, [], (c) => {
      const serving = isServing();
      return c.json({ serving }, serving ? 200 : 503);
    }),
    endpoint("oauth", "operator", readyRoute, [], async (c) => {
      const state = await readiness();
      return c.json(state, state.ready ? 200 : 503);
    }),
  ];
}

function docsEndpoints(
  document: ReturnType<typeof documentStore>,
  docs: () => Docs,
): readonly PlatformEndpoint[] {
  return docsRoutes.map((route) =>
    endpoint("browser", "public", route, [], async (c) => {
      const query = route.path === DOCS_PATH ? c.req.query("q") : undefined;
      if (query !== undefined) {
        allowScript(c);
        c.header("cache-control", PUBLIC_CACHE);
        return c.html(await docs().find(query));
      }
      const { path } = c.req;
      const content = docs().text(path);
      const type = path.endsWith(".md") ? MARKDOWN : "text/plain; charset=utf-8";
      if (content !== undefined) return answerDocument(c, await document(path, type, () => content));
      if (!docs().paths.includes(path)) throw new ApiError("request.not_found");
      allowScript(c);
      return answerDocument(c, await document(path, HTML, () => docs().page(path) ?? ""));
    })
  );
}

/** The portal's own script may run on its pages, and on no page of customers (contract AZ12). */
function allowScript(c: Context): void {
  c.header("content-security-policy", PORTAL_POLICY);
}

/** In a sandbox the page shows every participant's traces (contract TRC12). Elsewhere it is a document without any. */
function traceEndpoint({ docs, traces, errorUri }: PublicPageDeps): PlatformEndpoint {
  return endpoint("browser", "public", hidden(TRACES_PAGE_PATH), [], async (c) => {
    allowScript(c);
    const id = c.req.query("id")?.trim() ?? "";
    const found = isUuid(id) ? (await traces.byInteraction(id)).traces : [];
    return c.html(docs().page(TRACES_PAGE_PATH, TraceFinder({ id, traces: found, errorUri })) ?? "");
  });
}

/** The documentation of the platform: its own parts, and what its configuration says. */
export function documentation(
  openApi: object,
  { config, tryLink }: {
    /** `repositoryUrl` is where the files of this version are; it ends with a slash. */
    readonly config: DirectoryFacts & {
      readonly authUrl: string;
      readonly repositoryUrl: string | undefined;
    };
    /** Absent outside of a sandbox. */
    readonly tryLink?: TryLink | undefined;
  },
): Docs {
  const { authUrl, repositoryUrl } = config;
  return openDocs(openApi, { authUrl, repositoryUrl, tryLink, directory: config, errors: errorCatalogue() });
}

/** A function that makes its value at its first call. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** Reasons of rejections that OAuth endpoints share with resources or pages. */
const OF_OAUTH_TOO = /^(?:bank|certificate|dpop|platform|request|store)\./;

/** Returns the error table for the documentation. */
export function errorCatalogue(): readonly ErrorEntry[] {
  return Object.entries(ERROR_HELP).map(([reason, help]) => ({
    reason,
    ...help,
    answers: answersOf(reason, ERROR_TABLE[reason as DocumentedReason]),
  }));
}

function answersOf(reason: string, { oauth, resource, page }: Wire): readonly ErrorAnswer[] {
  const isOAuth = (resource === undefined && page === undefined) || OF_OAUTH_TOO.test(reason);
  return [
    ...(isOAuth
      ? [{ surface: "OAuth client", status: oauth.status, code: oauth.error, words: oauth.description }]
      : []),
    ...(resource === undefined ? [] : [{
      surface: "API client",
      status: resource.status,
      code: resource.code === undefined ? resource.challenge ?? "" : `UK.OBIE.${resource.code}`,
      words: resource.message,
    }]),
    ...(page === undefined
      ? []
      : [{ surface: "customer", status: page.status, code: page.page, words: "A page" }]),
  ];
}
