/**
 * `private_key_jwt`: how a party authenticates to the platform's token and PAR endpoints (contract FAPI-G5), and which
 * tokens it takes.
 */
import type { ClientAuth, TokenEndpointResponse } from "oauth4webapi";
import { UntrustedMessage } from "./errors.ts";
import type { Participant } from "./participant.ts";
import { signJwt } from "./signer.ts";

/** A client assertion is used immediately. */
const ASSERTION_SECONDS = 60;

/** A participant, and the time on its clock in milliseconds since the Unix epoch. */
export interface DatedParticipant {
  readonly participant: Pick<Participant, "signer">;
  readonly now: () => number;
}

/** Authenticates by a new client assertion for each request. Its `aud` is the issuer alone (Decision A1). */
export function clientAuthentication({ participant: { signer }, now }: DatedParticipant): ClientAuth {
  return async (server, { client_id: clientId }, body) => {
    const iat = Math.floor(now() / 1000);
    const times = { iat, nbf: iat, exp: iat + ASSERTION_SECONDS };
    const claims = { jti: crypto.randomUUID(), aud: server.issuer, iss: clientId, sub: clientId, ...times };
    body.set("client_id", clientId);
    body.set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
    body.set("client_assertion", await signJwt(signer, claims, {})); // RFC 7523 §2.2
  };
}

/** @throws {UntrustedMessage} if the token is not sender-constrained (FAPI 2.0 5.3.3), or for something else */
export function requireBound(
  { token_type, scope }: Pick<TokenEndpointResponse, "token_type" | "scope">,
  requested: string,
): void {
  if (token_type !== "dpop") throw new UntrustedMessage("The access token is not bound to the DPoP key");
  if (scope !== undefined && scope !== requested) {
    throw new UntrustedMessage("The access token has another scope");
  }
}
