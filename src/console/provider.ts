/**
 * Sign-in at an OpenID provider: authorization code flow with PKCE, state and nonce (RFC 9700 §2.1.1). The ID
 * token's signature is verified, and `personOf` reads the person from its claims.
 */
import * as oidc from "openid-client";
import { z } from "zod";
import type { Person } from "../base/http/bearer.ts";
import { type LoggedOut, remoteKeys, verifyLogoutToken } from "../base/jose/logout_token.ts";
import type { Clock } from "../base/kernel/clock.ts";
import { openRecentlyUsed } from "../base/kernel/recently_used.ts";
import { because } from "../base/kernel/result.ts";
import { RETURN_PATH, SIGN_IN_PATH } from "./paths.ts";
import { CONFIRMED_MS, type SignedIn } from "./session.ts";

/** Values that the browser keeps while the person is at the provider. */
const waiting = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  next: z.string(),
  isConfirmation: z.boolean(),
});

export interface SignInProvider {
  /**
   * Begins a sign-in. Returns undefined if the provider cannot be reached.
   *
   * @param isConfirmation whether the person is to be authenticated now, and in the configured way, for a change
   */
  begin(
    next: string,
    isConfirmation: boolean,
  ): Promise<{ readonly address: string; readonly keep: object } | undefined>;
  /**
   * Ends a sign-in.
   *
   * @param query of the request with which the provider sent the browser back
   * @param kept what the browser kept
   * @returns undefined if the provider's answer is not the one to this browser's request
   */
  finish(query: string, kept: unknown): Promise<Finished | undefined>;
  /**
   * Returns where the browser ends its session at the provider (OpenID Connect RP-Initiated Logout 1.0 §2), or undefined
   * if the provider has no such address or cannot be reached.
   */
  signOutAddress(): Promise<string | undefined>;
  /** Returns whose sessions a logout token ends, or undefined if the token is not good, or was used before. */
  loggedOut(token: string): Promise<LoggedOut | undefined>;
}

export interface Finished {
  readonly signedIn: SignedIn;
  /** Milliseconds. The end of the ID token. */
  readonly until: number;
  readonly next: string;
}

/** The console's registration at the provider. */
export interface ConsoleClient {
  readonly id: string;
  readonly secret: string;
  /** `acr` of an authentication that may make changes, best first. Without them every `acr` may. */
  readonly acrValues?: readonly string[];
}

export interface ProviderDeps {
  readonly issuer: string;
  /** Returns the person of verified claims, or undefined if the subject is not usable. */
  readonly personOf: (claims: Readonly<Record<string, unknown>>) => Person | undefined;
  readonly client: ConsoleClient;
  /** The console's origin. */
  readonly consoleUrl: string;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  /** Sandbox only: http on loopback. */
  readonly loopbackHttp: boolean;
  readonly log: {
    unavailable(why: string): void;
    rejected(why: string): void;
  };
}

const TIMEOUT_SECONDS = 5;
/** Oldest authentication at the provider, for a sign-in and for a change (OpenID Connect Core §3.1.2.1). */
const MAX_AGE_SECONDS = { signIn: 28_800, confirmation: CONFIRMED_MS / 1000 };
/** Logout tokens live for minutes, and a provider has fewer sign-outs meanwhile. */
const MAX_LOGOUTS = 10_000;

export function openSignInProvider(deps: ProviderDeps): SignInProvider {
  let known: Promise<oidc.Configuration> | undefined;
  const configuration = (): Promise<oidc.Configuration> => {
    const found = known ??= discover(deps);
    found.catch(() => void (known === found && (known = undefined)));
    return found;
  };
  const loggedOut = openLogouts(deps, configuration);
  return {
    loggedOut,
    async begin(next, isConfirmation) {
      const provider = await configuration().catch((error: unknown) => {
        deps.log.unavailable(whyOf(error));
      });
      return provider === undefined ? undefined : await begun(deps, provider, { next, isConfirmation });
    },
    async finish(query, kept) {
      const parsed = waiting.safeParse(kept);
      const reject = (why: string): undefined => void deps.log.rejected(why);
      if (!parsed.success) return reject("this browser began no sign-in, or more than ten minutes ago");
      try {
        const finished = await finishedAt(deps, await configuration(), query, parsed.data);
        return typeof finished === "string" ? reject(finished) : finished;
      } catch (error) {
        return reject(whyOf(error));
      }
    },
    async signOutAddress() {
      const provider = await configuration().catch((error: unknown) => {
        deps.log.unavailable(whyOf(error));
      });
      if (provider?.serverMetadata().end_session_endpoint === undefined) return undefined;
      const back = { post_logout_redirect_uri: `${deps.consoleUrl}${SIGN_IN_PATH}` };
      return oidc.buildEndSessionUrl(provider, back).href;
    },
  };
}

async function begun(
  { consoleUrl, client: { acrValues } }: ProviderDeps,
  provider: oidc.Configuration,
  asked: { readonly next: string; readonly isConfirmation: boolean },
): Promise<{ readonly address: string; readonly keep: z.infer<typeof waiting> }> {
  const [state, nonce, verifier] = [oidc.randomState(), oidc.randomNonce(), oidc.randomPKCECodeVerifier()];
  const address = oidc.buildAuthorizationUrl(provider, {
    redirect_uri: `${consoleUrl}${RETURN_PATH}`,
    scope: "openid",
    state,
    nonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    max_age: String(maxAgeOf(asked)),
    ...(asked.isConfirmation && acrValues !== undefined ? { acr_values: acrValues.join(" ") } : {}),
  });
  return { address: address.href, keep: { state, nonce, verifier, ...asked } };
}

async function finishedAt(
  { personOf, consoleUrl, client: { acrValues } }: ProviderDeps,
  provider: oidc.Configuration,
  query: string,
  { state, nonce, verifier, ...asked }: z.infer<typeof waiting>,
): Promise<Finished | string> {
  const checks = {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
    maxAge: maxAgeOf(asked),
    idTokenExpected: true,
  };
  const answer = new URL(`${consoleUrl}${RETURN_PATH}${query}`);
  const claims = (await oidc.authorizationCodeGrant(provider, answer, checks)).claims();
  const person = claims === undefined ? undefined : personOf(claims);
  if (claims === undefined || person === undefined) return "the ID token has no usable subject";
  const isStrong = acrValues === undefined || acrValues.includes(String(claims["acr"]));
  if (asked.isConfirmation && !isStrong) return "acr of the ID token is not one of the configured values";
  const { sid } = claims;
  const atProvider = { sub: claims.sub, ...(typeof sid === "string" ? { sid } : {}) };
  const proven = isStrong && claims.auth_time !== undefined ? { provenAt: claims.auth_time * 1000 } : {};
  const signedIn = { kind: "provider", ...person, ...atProvider, ...proven } as const;
  return { signedIn, until: claims.exp * 1000, next: asked.next };
}

function maxAgeOf({ isConfirmation }: { readonly isConfirmation: boolean }): number {
  return isConfirmation ? MAX_AGE_SECONDS.confirmation : MAX_AGE_SECONDS.signIn;
}

function openLogouts(
  { issuer, client, clock, fetch, log }: ProviderDeps,
  configuration: () => Promise<oidc.Configuration>,
): SignInProvider["loggedOut"] {
  const used = openRecentlyUsed<true>(MAX_LOGOUTS);
  const ownFetch = fetchAt(issuer, fetch);
  const openKeys = async (): Promise<ReturnType<typeof remoteKeys>> => {
    const { jwks_uri: uri = "" } = (await configuration()).serverMetadata();
    return remoteKeys(uri, ownFetch);
  };
  let keys: ReturnType<typeof openKeys> | undefined;
  return async (token) => {
    const opening = keys ??= openKeys();
    opening.catch(() => void (keys === opening && (keys = undefined)));
    const rules = { issuer, audience: client.id, now: clock() };
    const verified = await opening.then(
      (found) => verifyLogoutToken(token, { ...rules, keys: found }),
      () => because("the provider's keys are not available"),
    );
    const why = !verified.ok ? verified.fault.why : used.has(verified.value.jti) ? "jti was used" : undefined;
    if (!verified.ok || why !== undefined) return void log.rejected(`logout token: ${why}`);
    used.set(verified.value.jti, true);
    return verified.value;
  };
}

type OwnFetch = (url: string, options: object) => Promise<Response>;

/** The provider is asked at its issuer's host alone, as for its access tokens. */
function fetchAt(issuer: string, fetch: typeof globalThis.fetch): OwnFetch {
  const { host } = new URL(issuer);
  return async (url, options) => {
    if (new URL(url).host !== host) throw new Error("an address of another host");
    return await fetch(url, { ...options, redirect: "manual" });
  };
}

async function discover({ issuer, client, fetch, loopbackHttp }: ProviderDeps): Promise<oidc.Configuration> {
  const provider = await oidc.discovery(
    new URL(issuer),
    client.id,
    undefined,
    oidc.ClientSecretBasic(client.secret),
    {
      [oidc.customFetch]: fetchAt(issuer, fetch),
      timeout: TIMEOUT_SECONDS,
      execute: loopbackHttp ? [oidc.allowInsecureRequests] : [],
    },
  );
  oidc.enableNonRepudiationChecks(provider);
  return provider;
}

/** The code of the library's error, which quotes no part of the request. */
function whyOf(error: unknown): string {
  if (error instanceof oidc.ResponseBodyError) return `the provider answered ${error.status}`;
  if (error instanceof oidc.AuthorizationResponseError) return "the provider rejected the sign-in";
  return error instanceof oidc.ClientError
    ? error.code ?? "unusable answer"
    : "unreachable or unusable answer";
}
