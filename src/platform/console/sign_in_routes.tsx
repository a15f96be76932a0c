/** Sign-in and sign-out: at the operators' OpenID provider, or with an operator's token. */
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Person } from "../../base/http/bearer.ts";
import { readForm } from "../../base/http/body.ts";
import type { RequestEnv } from "../../base/http/context.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import { endpoint, type PlatformEndpoint } from "../http/endpoint.ts";
import { type ConsoleDeps, consolePage, hidden, isOwnForm, safeNext, SIGN_IN_PATH } from "./console_page.tsx";
import { drawNotice } from "./notice_page.tsx";
import { RETURN_PATH, type SignInProvider } from "./provider.ts";
import { renderContinue, renderSignIn, type SignInFault } from "./sign_in_page.tsx";
import { languageOf } from "./visit.ts";

export interface SignInDeps extends ConsoleDeps {
  /** Absent without a provider with a client for the console. */
  readonly provider: SignInProvider | undefined;
  /** Identifies the person of a token, with its limits. Absent without a list of operators. */
  readonly bearer: ((token: string, interactionId: string) => Promise<Person>) | undefined;
}

export const PROVIDER_PATH = "/console/sign-in/provider";

export function signInRoutes(deps: SignInDeps): readonly PlatformEndpoint[] {
  const { sessions, provider, site, log } = deps;
  return [
    publicPage("get", SIGN_IN_PATH, (c) => showSignIn(deps, c, { next: safeNext(c.req.query("next")) })),
    publicPage("post", SIGN_IN_PATH, (c) => signInWithToken(deps, c)),
    publicPage("get", PROVIDER_PATH, async (c) => {
      const next = safeNext(c.req.query("next"));
      if (provider === undefined) throw new ApiError("request.not_found");
      const begun = await provider.begin(next);
      if (begun === undefined) return await showSignIn(deps, c, { next, fault: "unavailable" }, 503);
      await sessions.keepSignIn(c, begun.keep);
      return c.redirect(begun.address, 303);
    }),
    publicPage("get", RETURN_PATH, async (c) => {
      if (provider === undefined) throw new ApiError("request.not_found");
      const finished = await provider.finish(new URL(c.req.url).search, await sessions.takeSignIn(c));
      if (finished === undefined) {
        return await showSignIn(deps, c, { next: "/console", fault: "rejected" }, 403);
      }
      const { signedIn, until, next } = finished;
      await sessions.start(c, signedIn, until);
      if (signedIn.kind === "provider") log.info("operator.signed_in", { operator: signedIn.name });
      // The session's cookie is Strict: a redirect in the navigation from the provider would not send it.
      c.header("refresh", `0; url=${next}`);
      return c.html(renderContinue({ language: languageOf(c), site, next }));
    }),
    consolePage(deps, "post", "/console/sign-out", async (_visit, c) => {
      await sessions.end(c);
      return c.redirect(SIGN_IN_PATH, 303);
    }),
  ];
}

type PageContext = Context<RequestEnv>;

function publicPage(
  method: "get" | "post",
  path: string,
  handle: (c: PageContext) => Promise<Response>,
): PlatformEndpoint {
  return endpoint("browser", "operator", hidden(method, path), [], handle as never);
}

async function signInWithToken(deps: SignInDeps, c: PageContext): Promise<Response> {
  const { sessions, bearer, site, log } = deps;
  if (bearer === undefined) throw new ApiError("request.not_found");
  const form = await readForm(c);
  const language = languageOf(c);
  const interactionId = c.get("interactionId");
  if (!await isOwnForm(form, await sessions.visitorToken(c))) {
    log.warn("operator.form_rejected", { interactionId, operator: undefined });
    return drawNotice(c, { status: 403, name: "form", site, language });
  }
  const token = (form.get("token") ?? "").trim();
  const next = safeNext(form.get("next"));
  try {
    const { name } = await bearer(token, interactionId);
    await sessions.start(c, { kind: "token", token });
    log.info("operator.signed_in", { operator: name });
    return c.redirect(next, 303);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const fault = SIGN_IN_FAULTS[error.reason];
    if (fault === undefined) throw error;
    return await showSignIn(deps, c, { next, fault: fault.name }, fault.status);
  }
}

const SIGN_IN_FAULTS: Readonly<
  Partial<Record<ApiError["reason"], { readonly name: SignInFault; readonly status: ContentfulStatusCode }>>
> = {
  "operations.unauthorized": { name: "token", status: 403 },
  "request.rate_limited": { name: "often", status: 429 },
};

async function showSignIn(
  { sessions, provider, bearer, site }: SignInDeps,
  c: PageContext,
  shown: { readonly next: string; readonly fault?: SignInFault },
  status: ContentfulStatusCode = 200,
): Promise<Response> {
  const view = {
    ...shown,
    language: languageOf(c),
    site,
    formToken: await sessions.visitorToken(c),
    providerPath: provider === undefined ? undefined : PROVIDER_PATH,
    takesToken: bearer !== undefined,
  };
  return c.html(renderSignIn(view), status);
}
