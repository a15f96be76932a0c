/**
 * The context of one payment with one bank: the discovered authorization server, the DPoP key for its tokens and calls,
 * and the record of its messages. Accepts only metadata whose URLs are on the configured hosts.
 */
import type { FlattenedVerifyGetKey } from "jose";
import * as oauth from "oauth4webapi";
import { emptyMessageLog, type MessageLog, recordingFetch } from "./message_log.ts";
import type { Fetch } from "../party/http_request.ts";
import { UntrustedMessage } from "../party/errors.ts";
import { clientAuthentication } from "../party/client_authentication.ts";
import { createPlatformKeys } from "../party/platform_keys.ts";
import type { Tpp } from "./tpp.ts";

/** Context of every call of one payment. */
export interface PaymentFlow {
  readonly tpp: Tpp;
  /** The bank's code (Decision A4). */
  readonly bank: string;
  readonly server: oauth.AuthorizationServer;
  readonly client: oauth.Client;
  readonly authenticate: oauth.ClientAuth;
  readonly dpop: oauth.DPoPHandle;
  /** The platform's keys for verifying signatures of responses. */
  readonly platformKeys: FlattenedVerifyGetKey;
  /** Records every message. */
  readonly fetch: Fetch;
}

/**
 * Discovers the bank's authorization server. Every message is recorded in `messages`.
 * @throws {UntrustedMessage} if the metadata names other hosts
 * @throws {oauth.OperationProcessingError} if the bank is unknown
 */
export async function openFlow(
  tpp: Tpp,
  bank: string,
  messages: MessageLog = emptyMessageLog(),
): Promise<PaymentFlow> {
  const fetch = recordingFetch(tpp.fetch, messages, tpp.now);
  const server = await discover(tpp, bank, fetch);
  const client: oauth.Client = { client_id: tpp.participant.clientId };
  return {
    tpp,
    bank,
    server,
    client,
    authenticate: clientAuthentication(tpp),
    dpop: oauth.DPoP(client, tpp.dpopKeys, {
      [oauth.modifyAssertion]: (_header, claims) => {
        claims["iat"] = nowSeconds(tpp);
      },
    }),
    platformKeys: createPlatformKeys({ ...tpp, fetch }).verificationKey,
    fetch,
  };
}

/** JWTs are dated by the TPP's own clock, which can differ from this computer's in a sandbox. */
function nowSeconds({ now }: Pick<Tpp, "now">): number {
  return Math.floor(now() / 1000);
}

async function discover(tpp: Tpp, bank: string, fetch: Fetch): Promise<oauth.AuthorizationServer> {
  const issuer = new URL(`${tpp.authUrl}/${encodeURIComponent(bank)}`);
  const response = await oauth.discoveryRequest(issuer, {
    algorithm: "oauth2",
    [oauth.allowInsecureRequests]: isLoopback(issuer),
    [oauth.customFetch]: fetch,
  });
  const server = await oauth.processDiscoveryResponse(issuer, response);
  if (!staysHome(server, tpp, issuer.href)) {
    throw new UntrustedMessage(`The metadata of ${bank} names addresses elsewhere`);
  }
  // RFC 9207 §2.4: with this set, a callback without `iss` is rejected.
  return { ...server, authorization_response_iss_parameter_supported: true };
}

/**
 * Returns whether the metadata sends assertions and tokens only to the API host, and the customer only to the browser
 * host.
 */
function staysHome(server: oauth.AuthorizationServer, tpp: Tpp, issuer: string): boolean {
  return server.issuer === issuer && // byte for byte: it becomes `aud` and is compared with `iss`
    [server.token_endpoint, server.pushed_authorization_request_endpoint]
      .every((endpoint) => endpoint?.startsWith(`${tpp.baseUrl}/`)) &&
    server.authorization_endpoint?.startsWith(`${tpp.authUrl}/`) === true;
}

/** Plain http is allowed only for the sandbox on this computer. */
function isLoopback(url: URL): boolean {
  return url.protocol === "http:" && ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
}
