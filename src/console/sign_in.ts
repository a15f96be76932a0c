/** Sign-in and sign-out: at an OpenID provider, or with a token of the program's own people. */
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Person } from "../base/http/bearer.ts";
import { readForm } from "../base/http/body.ts";
import { ApiError } from "../base/kernel/api_error.ts";
import { drawNotice } from "./notice_page.tsx";
import {
  HOME_PATH,
  isOwnForm,
  LOGGED_OUT_PATH,
  PROVIDER_PATH,
  RETURN_PATH,
  safeNext,
  SIGN_IN_PATH,
} from "./paths.ts";
import type { ConsoleProgram } from "./program.ts";
import type { SignInProvider } from "./provider.ts";
import { renderContinue, renderSignIn, type SignInFault } from "./sign_in_page.tsx";
import { languageOf } from "./visit.ts";

export interface SignInDeps {
  readonly program: ConsoleProgram;
  /** Absent without a provider with a client for the console. */
  readonly provider: SignInProvider | undefined;
  /** Identifies the person of a token, with its limits. Absent without a list of people. */
  readonly bearer: ((token: string, number: string) => Promise<Person>) | undefined;
}

/** A page that needs no session. */
export interface PublicPage {
  readonly method: "get" | "post";
  readonly path: string;
  readonly handle: (c: Context) => Promise<Response>;
}

/** The pages of a sign-in. The page that signs out has the check of a session, so that its form is one's own. */
export function signInPages(deps: SignInDeps): readonly PublicPage[] {
  return [
    {
      method: "get",
      path: SIGN_IN_PATH,
      handle: (c) => showSignIn(deps, c, { next: safeNext(c.req.query("next")) }),
    },
    { method: "post", path: SIGN_IN_PATH, handle: (c) => signInWithToken(deps, c) },
    { method: "get", path: PROVIDER_PATH, handle: (c) => leaveForProvider(deps, c) },
    { method: "get", path: RETURN_PATH, handle: (c) => returnFromProvider(deps, c) },
    { method: "post", path: LOGGED_OUT_PATH, handle: (c) => loggedOut(deps, c) },
  ];
}

/** Ends the session, and the one at the provider if the person has signed in there. */
export async function signOut(
  { program, provider }: Pick<SignInDeps, "program" | "provider">,
  c: Context,
): Promise<Response> {
  const kind = await program.sessions.end(c);
  const address = kind === "provider" ? await provider?.signOutAddress() : undefined;
  if (address === undefined) return c.redirect(SIGN_IN_PATH, 303);
  // The page's policy lets a form lead to this origin alone, also by a redirect.
  c.header("refresh", `0; url=${address}`);
  return c.html(renderContinue(program, { language: languageOf(c), next: address, title: "layout.signOut" }));
}

async function leaveForProvider(deps: SignInDeps, c: Context): Promise<Response> {
  const { provider, program: { sessions } } = deps;
  const next = safeNext(c.req.query("next"));
  if (provider === undefined) throw new ApiError("request.not_found");
  const begun = await provider.begin(next, c.req.query("confirm") === "1");
  if (begun === undefined) return await showSignIn(deps, c, { next, fault: "unavailable" }, 503);
  await sessions.keepSignIn(c, begun.keep);
  return c.redirect(begun.address, 303);
}

/** Takes the provider's logout token (OpenID Connect Back-Channel Logout 1.0 §2.8). */
async function loggedOut({ provider, program: { sessions } }: SignInDeps, c: Context): Promise<Response> {
  if (provider === undefined) throw new ApiError("request.not_found");
  c.header("cache-control", "no-store");
  const who = await provider.loggedOut((await readForm(c)).get("logout_token") ?? "");
  if (who === undefined) return c.json({ error: "invalid_request" }, 400);
  sessions.endAt(who);
  return c.body(null, 200);
}

async function returnFromProvider(deps: SignInDeps, c: Context): Promise<Response> {
  const { provider, program } = deps;
  const { sessions, log } = program;
  if (provider === undefined) throw new ApiError("request.not_found");
  const finished = await provider.finish(new URL(c.req.url).search, await sessions.takeSignIn(c));
  const { signedIn, until, next = HOME_PATH } = finished ?? {};
  const isPerson = signedIn?.kind === "provider";
  if (signedIn === undefined || isPerson && !await sessions.admits(signedIn)) {
    return await showSignIn(deps, c, { next, fault: "rejected" }, 403);
  }
  if (isPerson) await log.signedIn(signedIn.name);
  await sessions.start(c, signedIn, until);
  // The session's cookie is Strict: a redirect in the navigation from the provider would not send it.
  c.header("refresh", `0; url=${next}`);
  return c.html(renderContinue(program, { language: languageOf(c), next }));
}

async function signInWithToken(deps: SignInDeps, c: Context): Promise<Response> {
  const { bearer, program } = deps;
  const { sessions, log, numberOf } = program;
  if (bearer === undefined) throw new ApiError("request.not_found");
  const form = await readForm(c);
  if (!await isOwnForm(form, await sessions.visitorToken(c))) {
    log.formRejected(numberOf(c), undefined);
    return drawNotice(program, c, { status: 403, name: "form", language: languageOf(c) });
  }
  const token = (form.get("token") ?? "").trim();
  const next = safeNext(form.get("next"));
  try {
    const { name } = await bearer(token, numberOf(c));
    await log.signedIn(name);
    await sessions.start(c, { kind: "token", token });
    return c.redirect(next, 303);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const fault = SIGN_IN_FAULTS[error.reason];
    if (fault === undefined) throw error;
    return await showSignIn(deps, c, { next, fault: fault.name }, fault.status);
  }
}

const WRONG_TOKEN = { name: "token", status: 403 } as const;

const SIGN_IN_FAULTS: Readonly<
  Partial<Record<ApiError["reason"], { readonly name: SignInFault; readonly status: ContentfulStatusCode }>>
> = {
  "operations.unauthorized": WRONG_TOKEN,
  "directory.unauthorized": WRONG_TOKEN,
  "request.rate_limited": { name: "often", status: 429 },
};

async function showSignIn(
  { program, provider, bearer }: SignInDeps,
  c: Context,
  shown: { readonly next: string; readonly fault?: SignInFault },
  status: ContentfulStatusCode = 200,
): Promise<Response> {
  const view = {
    ...shown,
    language: languageOf(c),
    formToken: await program.sessions.visitorToken(c),
    providerPath: provider === undefined ? undefined : PROVIDER_PATH,
    takesToken: bearer !== undefined,
  };
  return c.html(renderSignIn(program, view), status);
}
