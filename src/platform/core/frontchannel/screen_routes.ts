/**
 * Routes of the platform's consent screen. Only the browser that began the session sees it, and one form decides it.
 */
import { createRoute, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import { formBody } from "../../../base/http/body.ts";
import type { RequestVariables } from "../../../base/http/context.ts";
import { endpoint, type PlatformEndpoint } from "../../guards/http/endpoint.ts";
import { pageAnswer, pageErrors, redirectAnswer } from "../../guards/http/openapi_answers.ts";
import { bankParameter } from "../../guards/http/openapi_parameters.ts";
import { CONSENT_SCREEN_PATH, WAITING_PATH } from "../../config/paths.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import type { BankCode } from "../../../base/kernel/identifiers.ts";
import { type ConsentView, renderConsentPage } from "../../../pages/consent_page.tsx";
import type { LanguageLink } from "../../../pages/layout.tsx";
import { renderWaitingPage } from "../../../pages/waiting_page.tsx";
import { chooseLanguage, type Language, LANGUAGES } from "../../../pages/language.ts";
import type { Site } from "../../../pages/site.ts";
import type { BrowserBinding } from "./browser_binding.ts";
import { awaitBank, type Waiting } from "./await_bank.ts";
import { decideConsent, type DecideDeps, openScreen, type ScreenVisit } from "./decide_consent.ts";
import type { Decision, OpenDecision } from "./open_decision.ts";
import type { Reading } from "./decision_evidence.ts";
import { bankOf, queryOf } from "./link.ts";
import { isAccountMissing, screenUrl, waitingUrl } from "./screen_url.ts";
import { shownFacts } from "./shown_facts.ts";

export interface ScreenRouteDeps extends DecideDeps {
  readonly binding: BrowserBinding;
  readonly site: Site;
}

/** Status of every redirect, so that a form is never posted on (FAPI 2.0 §5.3.2.2 item 10: never 307). */
export const SEE_OTHER = 303;
/** Between two visits of a browser that waits. */
const WAITING_SECONDS = 2;

const consentRoute = createRoute({
  method: "get",
  path: CONSENT_SCREEN_PATH,
  hide: true,
  responses: {},
});
const waitingRoute = createRoute({
  method: "get",
  path: WAITING_PATH,
  tags: ["Browser"],
  operationId: "awaitBank",
  summary: "Wait for the bank's result (opened in the customer's browser)",
  description:
    "`flow` is the `correlation_id` of the handover JWT. The page loads itself every 2 s until the bank has " +
    "delivered its result, and then leads on. Only the browser that began the session can open it.",
  security: [],
  request: {
    params: bankParameter,
    query: z.object({ flow: z.string(), lang: z.string().optional() }),
  },
  responses: {
    200: pageAnswer("The page that waits"),
    303: redirectAnswer("To the consent screen, or to the TPP with a code or an error"),
    ...pageErrors(400, 404, 405, 500, 503),
  },
});
const decisionRoute = createRoute({ ...consentRoute, method: "post" });

interface LinkVariables {
  bankCode: BankCode;
  query: ReadonlyMap<string, string>;
}

/** Check: the bank of the path. */
export const linkedBank = createMiddleware<
  { Variables: Pick<LinkVariables, "bankCode"> & Pick<RequestVariables, "facts"> }
>(
  async function bankCode(c, next) {
    const bank = bankOf(c.req.param("bank"));
    c.set("bankCode", bank);
    c.get("facts").bank = bank;
    await next();
  },
);

/** Check: the parameters of the link, each at most once. */
export const linkQuery = createMiddleware<{ Variables: Pick<LinkVariables, "query"> }>(
  async function linkQuery(c, next) {
    c.set("query", queryOf(c.req.url));
    await next();
  },
);

export function screenRoutes(deps: ScreenRouteDeps): readonly PlatformEndpoint[] {
  return [
    endpoint("browser", "returning", consentRoute, [linkedBank, linkQuery], async (c) => {
      const screen = await openScreen(deps, visitOf(deps, c, c.var));
      return "show" in screen
        ? await drawScreen(deps, c, c.get("query"), screen.show)
        : c.redirect(screen.leadTo, SEE_OTHER);
    }),
    endpoint("browser", "returning", decisionRoute, [linkedBank, linkQuery, formBody], async (c) => {
      const form = c.get("form");
      const userAgent = c.req.header("user-agent");
      const reading = (open: OpenDecision): Reading => ({ language: languageOf(c, open), userAgent });
      const posted = { decisionOf: () => readDecision(form), token: form.get("csrf"), reading };
      return c.redirect(await decideConsent(deps, visitOf(deps, c, c.var), posted), SEE_OTHER);
    }),
    endpoint("browser", "returning", waitingRoute, [linkedBank, linkQuery], async (c) => {
      const next = await awaitBank(deps, visitOf(deps, c, c.var));
      return "wait" in next ? drawWaiting(deps, c, next.wait) : c.redirect(next.leadTo, SEE_OTHER);
    }),
  ];
}

function visitOf(
  deps: ScreenRouteDeps,
  c: Context,
  { bankCode, query, reads, interactionId }:
    & LinkVariables
    & Pick<RequestVariables, "reads" | "interactionId">,
): ScreenVisit {
  return {
    bank: bankCode,
    correlationId: query.get("flow"),
    browser: deps.binding.asking(c),
    reads,
    interactionId,
  };
}

async function drawScreen(
  deps: ScreenRouteDeps,
  c: Context,
  query: LinkVariables["query"],
  open: OpenDecision,
): Promise<Response> {
  const language = languageOf(c, open);
  const address = screenUrl(deps.authUrl, open.session);
  const view: ConsentView = {
    ...shownFacts(open),
    csrf: await deps.binding.asking(c).formToken(open.session.correlationId),
    action: inLanguage(address, language), // so that the response to the decision has the page's language too
    now: deps.clock(),
    isAccountMissing: isAccountMissing(query),
    site: deps.site,
    languageSwitch: switchOf(address),
  };
  c.header("content-security-policy", screenPolicy(deps.site.sandbox));
  return c.html(renderConsentPage(view, language));
}

/** The browser asks again until the session expires, and then it is led to the TPP. */
function drawWaiting(deps: ScreenRouteDeps, c: Context, { session, ...names }: Waiting): Response {
  const language = languageOf(c, { session });
  const at = waitingUrl(deps.authUrl, session);
  const address = inLanguage(at, language);
  const languageSwitch = switchOf(at);
  const view = {
    ...names,
    address,
    expiresAt: session.expiresAt,
    now: deps.clock(),
    site: deps.site,
    languageSwitch,
  };
  c.header("refresh", String(WAITING_SECONDS));
  return c.html(renderWaitingPage(view, language));
}

/** The links to a page of a session in each language. */
function switchOf(address: string): LanguageLink[] {
  return LANGUAGES.map((language) => ({ language, href: inLanguage(address, language) }));
}

function inLanguage(address: string, language: Language): string {
  return `${address}&lang=${language}`;
}

function languageOf(c: Context, { session }: Pick<OpenDecision, "session">): Language {
  return chooseLanguage(c.req.header("accept-language"), c.req.query("lang"), session.uiLocales);
}

// Browsers apply form-action also to every redirect after a form post, and the redirects to the TPP may use several
// hosts. A narrower list would leave a customer who has decided on this page.
function screenPolicy(sandbox: boolean): string {
  const loopback = sandbox ? " http://localhost:* http://127.0.0.1:*" : "";
  return "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; " +
    `form-action 'self' https:${loopback}`;
}

function readDecision(form: ReadonlyMap<string, string>): Decision {
  const decision = form.get("decision");
  if (decision !== "accept" && decision !== "refuse") {
    throw new ApiError("authorization.invalid_request", "no decision");
  }
  const account = form.get("account");
  const accountIndex = account !== undefined && /^\d{1,3}$/.test(account) ? Number(account) : undefined;
  return { accepted: decision === "accept", accountIndex };
}
