/**
 * Authenticated calls from one bank to the platform's API: a client credentials token with scope `bank`
 * (private_key_jwt, DPoP), cached until shortly before it expires, and DPoP on every call.
 */
import * as oauth from "oauth4webapi";
import { clientAuthentication, requireBound } from "../party/client_authentication.ts";
import type { Fetch } from "../party/http_request.ts";
import type { Participant } from "../party/participant.ts";
import { SIGNATURE_ALG } from "../party/profile.ts";

/** One call of a resource endpoint. */
export interface LinkRequest {
  readonly method: "GET" | "POST" | "PUT";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A bank's connection to the platform. */
export interface PlatformLink {
  /**
   * The platform's response, whatever its status.
   * @throws {Error} if no token can be obtained or the platform cannot be reached
   */
  readonly call: (request: LinkRequest) => Promise<Response>;
}

export interface PlatformLinkDeps {
  /** The bank's code. */
  readonly code: string;
  readonly participant: Pick<Participant, "clientId" | "signer">;
  readonly baseUrl: string;
  readonly authUrl: string;
  readonly fetch: Fetch;
  readonly now: () => number;
}

interface BoundToken {
  readonly accessToken: string;
  readonly dpop: oauth.DPoPHandle;
  readonly expiresAtMs: number;
}

const renewBeforeExpiryMs = 60_000;

/** A connection without a token. */
export function createPlatformLink(deps: PlatformLinkDeps): PlatformLink {
  let current: Promise<BoundToken> | undefined;
  let renewAtMs = 0;
  let proofKeys: Promise<CryptoKeyPair> | undefined;

  function token(): Promise<BoundToken> {
    if (current !== undefined && deps.now() < renewAtMs) return current;
    proofKeys ??= oauth.generateKeyPair(SIGNATURE_ALG); // the pair that the tokens are bound to (RFC 9449 §5)
    const requested = proofKeys.then((pair) => requestToken(deps, pair));
    current = requested;
    renewAtMs = Infinity; // concurrent calls share this request
    requested.then((bound) => {
      if (current === requested) renewAtMs = bound.expiresAtMs - renewBeforeExpiryMs;
    }, () => {
      if (current === requested) current = undefined;
    });
    return requested;
  }

  return {
    async call(request): Promise<Response> {
      const used = token();
      const first = await callWith(deps, await used, request);
      if (first.status !== 401) return first;
      await first.body?.cancel();
      if (current === used) current = undefined; // the platform may have lost the token, for instance after it started with an empty store
      return await callWith(deps, await token(), request);
    },
  };
}

async function requestToken(deps: PlatformLinkDeps, proofKeys: CryptoKeyPair): Promise<BoundToken> {
  const { code, participant, baseUrl, authUrl, now } = deps;
  // Decision A1: the issuer, alone and as a string, is the audience of client assertions.
  const server = { issuer: `${authUrl}/${code}`, token_endpoint: `${baseUrl}/${code}/token.oauth2/v1` };
  const client: oauth.Client = { client_id: participant.clientId };
  const dpop = oauth.DPoP(client, proofKeys, {
    [oauth.modifyAssertion]: (_header, claims) => {
      claims["iat"] = Math.floor(now() / 1000);
    },
  });
  const scope = "bank"; // Decision B1
  const options = { ...transportOptions(deps), DPoP: dpop };
  const authentication = clientAuthentication({ participant, now });
  const response = await oauth.clientCredentialsGrantRequest(
    server,
    client,
    authentication,
    { scope },
    options,
  );
  const answer = await oauth.processClientCredentialsResponse(server, client, response);
  requireBound(answer, scope);
  return { accessToken: answer.access_token, dpop, expiresAtMs: now() + (answer.expires_in ?? 0) * 1000 };
}

async function callWith(deps: PlatformLinkDeps, token: BoundToken, request: LinkRequest): Promise<Response> {
  try {
    return await oauth.protectedResourceRequest(
      token.accessToken,
      request.method,
      new URL(request.url),
      new Headers(request.headers),
      request.body ?? null,
      { ...transportOptions(deps), DPoP: token.dpop },
    );
  } catch (error) {
    // oauth4webapi throws for any response with a challenge. The caller needs only its status.
    if (error instanceof oauth.WWWAuthenticateChallengeError) return error.response;
    throw error;
  }
}

interface TransportOptions {
  [oauth.customFetch]: (
    url: string,
    init: oauth.CustomFetchOptions<string, oauth.ProtectedResourceRequestBody>,
  ) => Promise<Response>;
  [oauth.allowInsecureRequests]: boolean;
}

function transportOptions({ baseUrl, fetch }: PlatformLinkDeps): TransportOptions {
  return {
    [oauth.customFetch]: (url, { body, headers, method }) =>
      fetch(url, { method, headers, body: body instanceof URLSearchParams ? body : body?.toString() }),
    // Plain http is allowed only to this computer.
    [oauth.allowInsecureRequests]: new URL(baseUrl).hostname === "localhost",
  };
}
