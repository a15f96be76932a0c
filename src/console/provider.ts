/**
 * Sign-in at an OpenID provider: authorization code flow with PKCE, state and nonce (RFC 9700 §2.1.1). The ID
 * token's signature is verified, and `personOf` reads the person from its claims.
 */
import * as oidc from "openid-client";
import { z } from "zod";
import type { Person } from "../base/http/bearer.ts";
import { RETURN_PATH, SIGN_IN_PATH } from "./paths.ts";
import type { SignedIn } from "./session.ts";

/** Values that the browser keeps while the person is at the provider. */
const waiting = z.object({ state: z.string(), nonce: z.string(), verifier: z.string(), next: z.string() });

export interface SignInProvider {
  /** Begins a sign-in. Returns undefined if the provider cannot be reached. */
  begin(next: string): Promise<{ readonly address: string; readonly keep: object } | undefined>;
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
}

export interface Finished {
  readonly signedIn: SignedIn;
  /** Milliseconds. The end of the ID token. */
  readonly until: number;
  readonly next: string;
}

export interface ProviderDeps {
  readonly issuer: string;
  /** Returns the person of verified claims, or undefined if the subject is not usable. */
  readonly personOf: (claims: Readonly<Record<string, unknown>>) => Person | undefined;
  readonly client: { readonly id: string; readonly secret: string };
  /** The console's origin. */
  readonly consoleUrl: string;
  readonly fetch: typeof fetch;
  /** Sandbox only: http on loopback. */
  readonly loopbackHttp: boolean;
  readonly log: {
    unavailable(why: string): void;
    rejected(why: string): void;
  };
}

const TIMEOUT_SECONDS = 5;

export function openSignInProvider(deps: ProviderDeps): SignInProvider {
  let known: Promise<oidc.Configuration> | undefined;
  const configuration = (): Promise<oidc.Configuration> => {
    const found = known ??= discover(deps);
    found.catch(() => void (known === found && (known = undefined)));
    return found;
  };
  return {
    async begin(next) {
      const provider = await configuration().catch((error: unknown) => {
        deps.log.unavailable(whyOf(error));
      });
      return provider === undefined ? undefined : await begun(deps, provider, next);
    },
    async finish(query, kept) {
      const parsed = waiting.safeParse(kept);
      const reject = (why: string): undefined => void deps.log.rejected(why);
      if (!parsed.success) return reject("this browser began no sign-in, or more than ten minutes ago");
      try {
        const finished = await finishedAt(deps, await configuration(), query, parsed.data);
        return finished ?? reject("the ID token has no usable subject");
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
  { consoleUrl }: ProviderDeps,
  provider: oidc.Configuration,
  next: string,
): Promise<{ readonly address: string; readonly keep: z.infer<typeof waiting> }> {
  const [state, nonce, verifier] = [oidc.randomState(), oidc.randomNonce(), oidc.randomPKCECodeVerifier()];
  const address = oidc.buildAuthorizationUrl(provider, {
    redirect_uri: `${consoleUrl}${RETURN_PATH}`,
    scope: "openid",
    state,
    nonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  });
  return { address: address.href, keep: { state, nonce, verifier, next } };
}

async function finishedAt(
  { personOf, consoleUrl }: ProviderDeps,
  provider: oidc.Configuration,
  query: string,
  { state, nonce, verifier, next }: z.infer<typeof waiting>,
): Promise<Finished | undefined> {
  const checks = {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
    idTokenExpected: true,
  };
  const answer = new URL(`${consoleUrl}${RETURN_PATH}${query}`);
  const claims = (await oidc.authorizationCodeGrant(provider, answer, checks)).claims();
  const person = claims === undefined ? undefined : personOf(claims);
  if (claims === undefined || person === undefined) return undefined;
  return { signedIn: { kind: "provider", ...person }, until: claims.exp * 1000, next };
}

/** The provider is asked at its issuer's host alone, as for its access tokens. */
async function discover(
  { issuer, client, fetch, loopbackHttp }: ProviderDeps,
): Promise<oidc.Configuration> {
  const { host } = new URL(issuer);
  const ownFetch: oidc.CustomFetch = async (url, options) => {
    if (new URL(url).host !== host) throw new Error("an address of another host");
    return await fetch(url, { ...options, redirect: "manual" } as RequestInit);
  };
  const provider = await oidc.discovery(
    new URL(issuer),
    client.id,
    undefined,
    oidc.ClientSecretBasic(client.secret),
    {
      [oidc.customFetch]: ownFetch,
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
