/** The browser's side: the TPP's link (endpoint 4), the bank's return (endpoint 5), the platform's consent screen. */
import { createRoute, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { readForm } from "../http/body.ts";
import { endpoint, type PlatformApp } from "../http/endpoint.ts";
import { bankParameter } from "../http/openapi_parameters.ts";
import type { BankCode } from "../kernel/identifiers.ts";
import { asBankCode } from "../kernel/identifiers.ts";
import { Refusal } from "../kernel/refusal.ts";
import { renderConsentPage } from "../ui/consent_page.tsx";
import { chooseLanguage } from "../ui/language.ts";
import type { BrowserBinding } from "./browser_binding.ts";
import { consentView } from "./consent_view.ts";
import {
  decideConsent,
  type Decision,
  endOverdue,
  justEnded,
  type OpenDecision,
  openDecision,
} from "./decide_consent.ts";
import { finishAuthentication, type FinishDeps } from "./finish_authentication.ts";
import type { Interaction } from "./interaction.ts";
import { startAuthorization, type StartDeps } from "./start_authorization.ts";

/** What the routes need. */
export interface FrontchannelRouteDeps extends StartDeps, FinishDeps {
  readonly binding: BrowserBinding;
  readonly sandbox: boolean;
}

const SEE_OTHER = 303; // FAPI 5.3.2.2-10: never 307
const page = { "text/html": { schema: z.string() } };
const tags = ["Browser"];

const authorizeRoute = createRoute({
  method: "get",
  path: "/{bank}/authorization.oauth2",
  tags,
  summary: "Start an authorization (opened in the customer's browser)",
  request: { params: bankParameter, query: z.object({ client_id: z.string(), request_uri: z.string() }) },
  responses: {
    303: { description: "To the bank, or to the TPP with an error" },
    400: { description: "A page: the link cannot be used", content: page },
  },
});
const returnRoute = createRoute({
  method: "get",
  path: "/{bank}/authorization.sca.oauth2",
  tags,
  summary: "Take the customer back from the bank",
  request: { params: bankParameter, query: z.object({ oAuthUrl: z.string() }) },
  responses: {
    303: { description: "To the consent screen, or to the TPP with a code or an error" },
    400: { description: "A page: the return is not authentic; nothing has changed", content: page },
  },
});
const decisionQuery = z.object({ flow: z.string(), lang: z.string().optional() });
const consentRoute = createRoute({
  method: "get",
  path: "/{bank}/authorization.consent.oauth2",
  hide: true,
  request: { params: bankParameter, query: decisionQuery },
  responses: { 200: { description: "The consent screen", content: page } },
});
const decisionRoute = createRoute({
  ...consentRoute,
  method: "post",
  responses: { 303: { description: "To the TPP" } },
});

/** Mounts the browser routes. */
export function frontchannelRoutes(app: PlatformApp, deps: FrontchannelRouteDeps): void {
  mountAuthorize(app, deps);
  mountReturn(app, deps);
  mountScreen(app, deps);
}

function mountAuthorize(app: PlatformApp, deps: FrontchannelRouteDeps): void {
  app.get(endpoint(app, "browser", authorizeRoute), async (c) => {
    const query = queryOf(c, "authorization.invalid_request");
    const { secret, hash } = await deps.binding.fresh();
    const departure = await startAuthorization(deps, {
      bank: bankOf(c.req.param("bank")),
      clientId: query.get("client_id"),
      requestUri: query.get("request_uri"),
      bindingHash: hash,
    });
    if (departure.correlationId !== undefined) deps.binding.set(c, departure.correlationId, secret);
    return c.redirect(departure.url, SEE_OTHER);
  });
}

function mountReturn(app: PlatformApp, deps: FrontchannelRouteDeps): void {
  app.get(endpoint(app, "browser", returnRoute), async (c) => {
    const bank = bankOf(c.req.param("bank"));
    const sealed = queryOf(c, "bank_return.not_authentic").get("oAuthUrl");
    if (sealed === undefined) throw new Refusal("bank_return.not_authentic", "no oAuthUrl");
    const arrival = await finishAuthentication(deps, { bank, sealed, holds: holding(deps, c) });
    return c.redirect(
      arrival.to === "tpp" ? arrival.url : screenUrl(deps, bank, arrival.correlationId),
      SEE_OTHER,
    );
  });
}

function mountScreen(app: PlatformApp, deps: FrontchannelRouteDeps): void {
  app.get(endpoint(app, "browser", consentRoute), async (c) => {
    const open = await openScreen(deps, c);
    const overdue = await endOverdue(deps, open);
    return overdue === null ? await drawScreen(deps, c, open) : c.redirect(overdue, SEE_OTHER);
  });

  app.post(endpoint(app, "browser", decisionRoute), (c) =>
    orSameOutcome(deps, c, async () => {
      const open = await openScreen(deps, c);
      const { correlationId } = open.interaction;
      const form = await readForm(c);
      if (form.get("csrf") !== await deps.binding.csrfToken(c, correlationId)) {
        throw new Refusal("interaction.not_yours", "csrf");
      }
      const seal = (url: string): Promise<string> => deps.binding.seal(c, correlationId, url);
      return c.redirect(await decideConsent(deps, open, readDecision(form), seal), SEE_OTHER);
    }));
}

/**
 * A second click on a decision that has just been taken leads where the first one led: the browser has dropped the first
 * answer. Nothing is decided again, and no other browser learns anything.
 */
async function orSameOutcome(
  deps: FrontchannelRouteDeps,
  c: Context,
  act: () => Promise<Response>,
): Promise<Response> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof Refusal) || error.reason !== "interaction.finished") throw error;
    const flow = queryOf(c, "authorization.invalid_request").get("flow");
    const ended = await justEnded(deps, bankOf(c.req.param("bank")), flow, holding(deps, c));
    const url = ended === null ? null : await deps.binding.unseal(c, ended);
    if (url === null) throw error;
    return c.redirect(url, SEE_OTHER);
  }
}

async function openScreen(deps: FrontchannelRouteDeps, c: Context): Promise<OpenDecision> {
  const flow = queryOf(c, "authorization.invalid_request").get("flow");
  return await openDecision(deps, bankOf(c.req.param("bank")), flow, holding(deps, c));
}

async function drawScreen(deps: FrontchannelRouteDeps, c: Context, open: OpenDecision): Promise<Response> {
  const { correlationId, bank } = open.interaction;
  const view = consentView(open, {
    csrf: await deps.binding.csrfToken(c, correlationId),
    action: screenUrl(deps, bank, correlationId),
    sandbox: deps.sandbox,
    now: deps.clock(),
  });
  c.header("content-security-policy", screenPolicy(deps.sandbox));
  return c.html(
    renderConsentPage(view, chooseLanguage(c.req.header("accept-language"), c.req.query("lang"))),
  );
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

function holding(deps: FrontchannelRouteDeps, c: Context): (interaction: Interaction) => Promise<boolean> {
  return (interaction) => deps.binding.holds(c, interaction);
}

function screenUrl(deps: FrontchannelRouteDeps, bank: BankCode, correlationId: string): string {
  return `${deps.authUrl}/${bank}/authorization.consent.oauth2?flow=${correlationId}`;
}

function bankOf(text: string | undefined): BankCode {
  const bank = asBankCode(text);
  if (bank === undefined) throw new Refusal("bank.unknown");
  return bank;
}

/** The query's parameters, each at most once. */
function queryOf(
  c: Context,
  reason: "authorization.invalid_request" | "bank_return.not_authentic",
): ReadonlyMap<string, string> {
  const { search } = new URL(c.req.url);
  const wanted = new URLSearchParams(search);
  const twice = ["client_id", "request_uri", "oAuthUrl", "flow"].some((name) =>
    wanted.getAll(name).length > 1
  );
  if (twice) throw new Refusal(reason, "parameter twice");
  return new Map([...wanted].filter(([, value]) => value !== ""));
}
