/**
 * Renders error pages. A page can be read again in another language at its own address, because the request that
 * failed (a one-time link, a form) must not be repeated for that.
 */
import { createRoute } from "@hono/zod-openapi";
import type { Context } from "hono";
import { endpoint, type PlatformEndpoint } from "./endpoint.ts";
import { explanation } from "../../../base/kernel/result.ts";
import { LINK_FAULTS, linkFaultNamed } from "./link_faults.ts";
import type { DrawErrorPage, ErrorPage } from "./on_error.ts";
import { ERROR_PAGES } from "../../../pages/error_page.tsx";
import { isUuid } from "../../../base/kernel/identifiers.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { renderErrorPage } from "../../../pages/error_page.tsx";
import { chooseLanguage, LANGUAGES } from "../../../pages/language.ts";
import type { LanguageLink } from "../../../pages/layout.tsx";
import type { Site } from "../../../pages/site.ts";

/** One segment, so it cannot be a page of a bank. */
const PROBLEM_PATH = "/problem";

const problemRoute = createRoute({
  method: "get",
  path: PROBLEM_PATH,
  hide: true,
  responses: {},
});

/** Finds a TPP and its registered web page by the client id in the query. */
export type FindTpp = (clientId: string) => Promise<ErrorPage["tpp"]>;

/** Returns the function that renders an error as a page. */
export function errorPages(site: Site): DrawErrorPage {
  return (c, { status, ...shown }) => {
    c.header("content-type", "text/html; charset=utf-8");
    return c.newResponse(draw(c, shown, site), status);
  };
}

/** The address of error pages. The link to the TPP comes from the registration, never from the query. */
export function errorPageRoute(site: Site, findTpp: FindTpp): PlatformEndpoint {
  return endpoint("browser", "public", problemRoute, [], async (c) => {
    const page = ERROR_PAGES.find((known) => known === c.req.query("page"));
    const { request: interactionId, tpp: clientId, fault: name } = c.req.query();
    if (page === undefined || !isUuid(interactionId)) throw new ApiError("request.not_found");
    const tpp = clientId === undefined ? undefined : await findTpp(clientId);
    const fault = linkFaultNamed(name);
    return c.html(draw(c, { page, interactionId, nextUrl: undefined, tpp, fault }, site));
  });
}

function draw(c: Context, shown: Omit<ErrorPage, "status">, site: Site): string {
  const language = chooseLanguage(c.req.header("accept-language"), c.req.query("lang"), shown.uiLocales);
  const { page, interactionId, tpp, fault, nextUrl = tpp?.uri } = shown;
  const view = {
    page,
    interactionId,
    nextUrl,
    tppName: tpp?.name,
    fault: fault === undefined || !site.sandbox ? undefined : explanation(LINK_FAULTS[fault]),
    site,
    languageSwitch: languageSwitch(c, shown),
  };
  return renderErrorPage(view, language);
}

function languageSwitch(
  c: Context,
  { page, interactionId, nextUrl, tpp, fault }: Omit<ErrorPage, "status">,
): LanguageLink[] {
  const named = {
    ...(tpp === undefined ? {} : { tpp: tpp.clientId }),
    ...(fault === undefined ? {} : { fault }),
  };
  const again = nextUrl === undefined || c.req.method !== "GET"
    ? { path: PROBLEM_PATH, query: { page, request: interactionId, ...named } }
    : { path: c.req.path, query: c.req.query() }; // a link that may be opened again, including the link to the TPP
  return LANGUAGES.map((language) => ({
    language,
    href: `${again.path}?${new URLSearchParams({ ...again.query, lang: language })}`,
  }));
}
