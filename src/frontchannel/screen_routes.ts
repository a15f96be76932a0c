/** The platform's consent screen in the browser: shown to the browser that began the flow, decided by one form. */
import { createRoute, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { readForm } from "../http/body.ts";
import { endpoint, type PlatformApp } from "../http/endpoint.ts";
import { bankParameter } from "../http/openapi_parameters.ts";
import { Refusal } from "../kernel/refusal.ts";
import { renderConsentPage } from "../ui/consent_page.tsx";
import { chooseLanguage, type Language } from "../ui/language.ts";
import type { BrowserBinding } from "./browser_binding.ts";
import { consentView, shownPage } from "./consent_view.ts";
import {
  decideConsent,
  type DecideDeps,
  type Decision,
  endOverdue,
  justLed,
  type OpenDecision,
  openDecision,
} from "./decide_consent.ts";
import { wayOutOfInactive } from "./inactive_party.ts";
import { bankOf, queryOf } from "./link.ts";
import { SCREEN_SEGMENT, screenUrl } from "./screen_url.ts";

/** What the screen's routes need. */
export interface ScreenRouteDeps extends DecideDeps {
  readonly binding: BrowserBinding;
  readonly sandbox: boolean;
}

/** Of every redirect: a form is never posted on (FAPI 5.3.2.2-10: never 307). */
export const SEE_OTHER = 303;

const page = { "text/html": { schema: z.string() } };
const decisionQuery = z.object({ flow: z.string(), lang: z.string().optional() });
const consentRoute = createRoute({
  method: "get",
  path: `/{bank}/${SCREEN_SEGMENT}`,
  hide: true,
  request: { params: bankParameter, query: decisionQuery },
  responses: { 200: { description: "The consent screen", content: page } },
});
const decisionRoute = createRoute({
  ...consentRoute,
  method: "post",
  responses: { 303: { description: "To the TPP" } },
});

/** Mounts the consent screen. */
export function screenRoutes(app: PlatformApp, deps: ScreenRouteDeps): void {
  app.get(endpoint(app, "browser", consentRoute), async (c) => {
    const open = await openScreen(deps, c);
    const away = await endOverdue(deps, open, deps.binding.asking(c)) ??
      await wayOutOfInactive(deps, open.bank, open.interaction, c.get("reads"));
    return away === null ? await drawScreen(deps, c, open) : c.redirect(away, SEE_OTHER);
  });

  app.post(endpoint(app, "browser", decisionRoute), (c) =>
    orSameOutcome(deps, c, async () => {
      const open = await openScreen(deps, c);
      const form = await readForm(c);
      if (form.get("csrf") !== await deps.binding.csrfToken(c, open.interaction.correlationId)) {
        throw new Refusal("interaction.not_yours", "csrf");
      }
      const page = await shownPage(open, languageOf(c, open));
      const traces = { browser: deps.binding.asking(c), page, reads: c.get("reads") };
      return c.redirect(await decideConsent(deps, open, readDecision(form), traces), SEE_OTHER);
    }));
}

/**
 * A second click on a decision that has just been taken leads where the first one led: the browser has dropped the first
 * answer. Nothing is decided again, and no other browser learns anything.
 */
async function orSameOutcome(
  deps: ScreenRouteDeps,
  c: Context,
  act: () => Promise<Response>,
): Promise<Response> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof Refusal) || error.reason !== "interaction.finished") throw error;
    const flow = queryOf(c.req.url, "authorization.invalid_request").get("flow");
    const led = await justLed(deps, bankOf(c.req.param("bank")), flow, deps.binding.asking(c));
    if (led === null) throw error;
    return c.redirect(led, SEE_OTHER);
  }
}

async function openScreen(deps: ScreenRouteDeps, c: Context): Promise<OpenDecision> {
  const flow = queryOf(c.req.url, "authorization.invalid_request").get("flow");
  return await openDecision(deps, bankOf(c.req.param("bank")), flow, {
    browser: deps.binding.asking(c),
    reads: c.get("reads"),
  });
}

async function drawScreen(deps: ScreenRouteDeps, c: Context, open: OpenDecision): Promise<Response> {
  const language = languageOf(c, open);
  const view = consentView(open, {
    csrf: await deps.binding.csrfToken(c, open.interaction.correlationId),
    address: screenUrl(deps.authUrl, open.interaction),
    language,
    sandbox: deps.sandbox,
    now: deps.clock(),
  });
  c.header("content-security-policy", screenPolicy(deps.sandbox));
  return c.html(renderConsentPage(view, language));
}

function languageOf(c: Context, { interaction }: OpenDecision): Language {
  return chooseLanguage(c.req.header("accept-language"), c.req.query("lang"), interaction.uiLocales);
}

// Browsers hold every redirect after a form post to form-action as well, and the way back to the TPP may have several
// hosts on it: a narrower list would leave a customer who has decided standing on this page.
function screenPolicy(sandbox: boolean): string {
  const loopback = sandbox ? " http://localhost:* http://127.0.0.1:*" : "";
  return "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; " +
    `form-action 'self' https:${loopback}`;
}

function readDecision(form: ReadonlyMap<string, string>): Decision {
  const decision = form.get("decision");
  if (decision !== "accept" && decision !== "refuse") {
    throw new Refusal("authorization.invalid_request", "no decision");
  }
  const account = form.get("account");
  const accountIndex = account !== undefined && /^\d{1,3}$/.test(account) ? Number(account) : undefined;
  return { accepted: decision === "accept", accountIndex };
}
