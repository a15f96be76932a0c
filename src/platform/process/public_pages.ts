/** Public pages of the browser host: style, health, the OpenAPI document and the documentation. */
import { createRoute, z } from "@hono/zod-openapi";
import type { Endpoint } from "../../base/http/endpoint.ts";
import { endpoint, type PlatformEndpoint } from "../guards/http/endpoint.ts";
import { oauthAnswer, oauthErrors, taggedAnswers } from "../guards/http/openapi_answers.ts";
import { answerDocument, documentStore, PUBLIC_CACHE } from "../../base/http/public_document.ts";
import { ERROR_TABLE, type Wire } from "../guards/http/error_table.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import type { Readiness } from "../../base/observability/health.ts";
import { type Docs, openDocs } from "../../portal/docs_page.tsx";
import { errorPageRoute, type FindTpp } from "../guards/http/error_routes.ts";
import type { ErrorEntry, ErrorRemedy } from "../../portal/error_table.tsx";
import { type DocumentedReason, ERROR_HELP } from "../guards/http/error_help.ts";
import { CHAPTERS, DOCS_PATH, REFERENCE_PATH, TRACES_PAGE_PATH } from "../../portal/paths.ts";
import type { DirectoryFacts } from "../../portal/overview_page.tsx";
import { renderTracePage } from "../../portal/trace_page.tsx";
import { shownTrace } from "../operations/traces/shown_trace.ts";
import type { ErrorUri } from "../operations/traces/trace_representation.ts";
import type { TraceStore } from "../operations/traces/trace_store.ts";
import { isUuid } from "../../base/kernel/identifiers.ts";
import { LOGO_PATH, type Site } from "../../pages/site.ts";
import { READINESS_PATH } from "../config/paths.ts";
import { ICON, ICON_PATH, STYLESHEET, STYLESHEET_PATH } from "../../pages/stylesheet.ts";

export interface PublicPageDeps {
  readonly authUrl: string;
  readonly directory: DirectoryFacts;
  readonly site: Site;
  readonly findTpp: FindTpp;
  readonly readiness: () => Promise<Readiness>;
  /** Whether proxies may send requests to this process. */
  readonly isServing: () => boolean;
  /** The OpenAPI 3.1 document of both hosts, generated from their routes. */
  readonly openApi: () => object;
  readonly traces: Pick<TraceStore, "byInteraction">;
  readonly errorUri: ErrorUri;
}

const HTML = "text/html; charset=UTF-8";
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
/** With its own endpoint. */
const CHAPTER_PATHS = CHAPTERS.map(([path]) => path).filter((path) => path !== TRACES_PAGE_PATH);
/** `/docs/{chapter}` is not a route, because it would take paths of a bank with the code docs. */
const docsRoutes = [...CHAPTER_PATHS, `${REFERENCE_PATH}/{part}`].map(hidden);

/**
 * The pages. Documents are rendered once and cached, so that a flood of requests for them hardly delays payments.
 */
export function publicPageRoutes(deps: PublicPageDeps): readonly PlatformEndpoint[] {
  const document = documentStore();
  const openApi = once(deps.openApi);
  const docs = once(() => openDocs(openApi(), { ...deps, errors: errorCatalogue() }));
  const { logo } = deps.site.operator;
  const file = (
    route: Endpoint["route"],
    type: string,
    content: () => string | Uint8Array<ArrayBuffer>,
  ): PlatformEndpoint =>
    endpoint("oauth", "public", route, [], async (c) => {
      return answerDocument(c, await document(route.path, type, content));
    });
  return [
    file(hidden(STYLESHEET_PATH), "text/css; charset=utf-8", () => STYLESHEET),
    file(hidden(ICON_PATH), "image/svg+xml", () => ICON),
    ...(logo === undefined ? [] : [file(hidden(LOGO_PATH), logo.type, () => logo.bytes)]),
    ...healthEndpoints(deps),
    file(documentRoute, "application/json", () => JSON.stringify(openApi())),
    endpoint("browser", "public", rootRoute, [], (c) => c.redirect(DOCS_PATH, 303)),
    errorPageRoute(deps.site, deps.findTpp),
    ...docsEndpoints(document, docs),
    ...traceEndpoint(deps, document),
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
        c.header("cache-control", PUBLIC_CACHE);
        return c.html(docs().find(query));
      }
      const { path } = c.req;
      if (!docs().paths.includes(path)) throw new ApiError("request.not_found");
      return answerDocument(c, await document(path, HTML, () => docs().page(path) ?? ""));
    })
  );
}

/** In a sandbox the page shows every participant's traces (contract TRC12). Elsewhere it reads none. */
function traceEndpoint(
  { site, traces, errorUri }: PublicPageDeps,
  document: ReturnType<typeof documentStore>,
): readonly PlatformEndpoint[] {
  const route = hidden(TRACES_PAGE_PATH);
  return [
    endpoint("browser", "public", route, [], async (c) => {
      if (!site.sandbox) {
        return answerDocument(
          c,
          await document(route.path, HTML, () => renderTracePage({})),
        );
      }
      const id = c.req.query("id")?.trim() ?? "";
      const found = isUuid(id) ? (await traces.byInteraction(id)).traces : [];
      return c.html(renderTracePage({ id, traces: found.map((trace) => shownTrace(trace, errorUri)) }));
    }),
  ];
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** Reasons of rejections that OAuth endpoints share with resources or pages. */
const OF_OAUTH_TOO = /^(?:bank|certificate|dpop|platform|request|store)\./;

/** Returns the error table for the documentation, one row per surface. */
function errorCatalogue(): ErrorEntry[] {
  const documented = Object.entries(ERROR_HELP) as [DocumentedReason, ErrorRemedy][];
  return documented.flatMap(
    ([reason, help]) => {
      const { oauth, resource, page }: Wire = ERROR_TABLE[reason];
      const entries: ErrorEntry[] = [];
      if ((resource === undefined && page === undefined) || OF_OAUTH_TOO.test(reason)) {
        entries.push({
          reason,
          surface: "OAuth client",
          status: oauth.status,
          code: oauth.error,
          words: oauth.description,
          help,
        });
      }
      if (resource !== undefined) {
        const code = resource.code === undefined ? resource.challenge ?? "" : `UK.OBIE.${resource.code}`;
        entries.push({
          reason,
          surface: "API client",
          status: resource.status,
          code,
          words: resource.message,
          help,
        });
      }
      if (page !== undefined) {
        const { status, page: code } = page;
        entries.push({ reason, surface: "customer", status, code, words: "A page", help });
      }
      return entries;
    },
  );
}
