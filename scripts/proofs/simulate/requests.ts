/** The requests of participants, each signed anew. */
import { freshId, type Sent } from "./calls.ts";
import { detachedSignature, digestOf, publicJwk, signedJwt } from "./jwts.ts";
import { API, AUTH, DIRECTORY, type Party } from "./parties.ts";
import type { Simulation, Token } from "./simulation.ts";

/** A resource request. */
export interface ResourceCall {
  readonly who: Party;
  readonly token: Token;
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
  readonly query?: string;
  readonly body?: unknown;
  /** A sealed JWT as the body, in place of `body`. */
  readonly sealed?: string;
  readonly idempotencyKey?: string;
  readonly timeoutMs?: number;
}

/** A resource request with its DPoP proof and, if it has a body, its signature. */
export function resourceRequest(simulation: Simulation, call: ResourceCall): Sent {
  const { who, token, method, path, query = "", idempotencyKey, timeoutMs } = call;
  const body = call.body === undefined ? call.sealed : JSON.stringify(call.body);
  return {
    method,
    path: path + query,
    as: who,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(body === undefined ? {} : { body }),
    headers: {
      authorization: `DPoP ${token.value}`,
      dpop: proof(simulation, who, method, path, token.value),
      ...(idempotencyKey === undefined ? {} : { "x-idempotency-key": idempotencyKey }),
      ...contentOf(simulation, call, body),
    },
  };
}

/** Headers of the body. A sealed JWT is signed inside. */
function contentOf(
  simulation: Simulation,
  { who, sealed }: ResourceCall,
  body: string | undefined,
): Readonly<Record<string, string>> {
  if (body === undefined) return {};
  if (sealed !== undefined) return { "content-type": "application/jose" };
  return { "content-type": "application/json", "x-jws-signature": payloadSignature(simulation, who, body) };
}

/** A form to an OAuth endpoint of a bank, with client authentication. */
export function formRequest(
  simulation: Simulation,
  who: Party,
  bank: string,
  endpoint: "token" | "par",
  form: Readonly<Record<string, string>>,
): Sent {
  const iat = seconds(simulation);
  const path = `/${bank}/${endpoint}.oauth2/v1`;
  const assertion = signedJwt(who.signing.n, { kid: who.signing.kid }, {
    iss: who.clientId,
    sub: who.clientId,
    aud: `${AUTH}/${bank}`,
    iat,
    nbf: iat,
    exp: iat + 60,
    jti: freshId(simulation.random(`ids of ${who.orgId}`)),
  });
  return {
    method: "POST",
    path,
    as: who,
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      ...(endpoint === "token" ? { dpop: proof(simulation, who, "POST", path) } : {}),
    },
    body: String(
      new URLSearchParams({
        client_id: who.clientId,
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        client_assertion: assertion,
        ...form,
      }),
    ),
  };
}

function proof(simulation: Simulation, who: Party, htm: string, path: string, token?: string): string {
  return signedJwt(who.proof, { typ: "dpop+jwt", jwk: publicJwk(who.proof) }, {
    htm,
    htu: `${API}${path}`,
    iat: seconds(simulation),
    jti: freshId(simulation.random(`ids of ${who.orgId}`)),
    ...(token === undefined ? {} : { ath: digestOf(token) }),
  });
}

function payloadSignature(simulation: Simulation, who: Party, body: string): string {
  return detachedSignature(who.signing, {
    "http://openbanking.org.uk/iat": seconds(simulation),
    "http://openbanking.org.uk/iss": `${who.orgId}/${who.clientId}`,
    "http://openbanking.org.uk/tan": new URL(DIRECTORY).host,
  }, body);
}

/** The true time in Unix seconds: parties' clocks are right, the platform's may be wrong. */
export function seconds({ scheduler }: Simulation): number {
  return Math.floor(scheduler.now() / 1000);
}
