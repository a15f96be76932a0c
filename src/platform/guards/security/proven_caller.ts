/**
 * Decides who may read what was wrong with a request (Decision G8): the participant to whose keys the certificate's key
 * belongs, about its own requests. For other callers the generic words of the error table remain.
 */
import type { Context } from "hono";
import type { RequestVariables } from "../../../base/http/context.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { asClientId, type ClientId } from "../../../base/kernel/identifiers.ts";
import { type Mismatch, mismatch, quote } from "../../../base/kernel/result.ts";
import type { ErrorDeps, Explained } from "../http/on_error.ts";
import type { Caller, FindCaller, ParticipantKeys } from "./caller.ts";
import type { CertificateVariables } from "./client_certificate.ts";

/** How a request names its client. */
export interface Claim {
  /** The part of the request that names the client. */
  readonly by: "client_id" | "access token";
  /** As sent, so it may be any text. Undefined if the part is missing. */
  readonly clientId: string | undefined;
}

/** Set by the checks that find out which client a request names. */
export interface ClaimVariables {
  /** Every fault found after this was set is explained to this client only. */
  clientClaim?: Claim;
  /** The participant of a verified software statement, which may not be registered yet. */
  registrant?: Pick<Caller, "clientId" | "jwksUri" | "revokedJwksUri">;
}

export interface ExplainDeps {
  readonly findCaller: FindCaller;
  readonly keys: Pick<ParticipantKeys, "ownsTransportKey">;
}

/** The fault of a token that this client cannot use. It does not depend on whether the token is another client's. */
export const UNKNOWN_TOKEN: Mismatch = {
  at: "access token",
  expected: "one that the token endpoint of this bank issued to the client of your certificate within 3600 s",
  received: "an unknown, expired or revoked one",
};

type Env = {
  Variables: Pick<RequestVariables, "reads"> & Partial<CertificateVariables> & ClaimVariables;
};

export function openExplain(deps: ExplainDeps): ErrorDeps["explain"] {
  return async function explain(context, rejection) {
    const c: Context<Env> = context;
    const client = await provenClient(deps, c);
    if (client === undefined) return undefined;
    const claim = c.get("clientClaim");
    if (claim !== undefined && claim.clientId !== client) return notOwn(claim, client);
    const { reason, parts: { fault } } = rejection;
    return fault === undefined ? { client, reason } : { client, reason, fault };
  };
}

/** One explanation, whether the client that the request names exists or not. */
function notOwn({ by, clientId }: Claim, own: ClientId): Explained {
  if (by === "access token") return { client: own, reason: "token.invalid", fault: UNKNOWN_TOKEN };
  const { fault } = mismatch("client_id", `${quote(own)} (the client of your certificate)`, clientId);
  return { client: own, reason: "client.not_authenticated", fault };
}

/**
 * Returns the client whose transport key the certificate has. The certificate's subject and the request only select the
 * client to compare with.
 */
async function provenClient(deps: ExplainDeps, c: Context<Env>): Promise<ClientId | undefined> {
  const certificate = c.get("certificate");
  if (certificate === undefined) return undefined;
  const { spkiThumbprint, namedClient } = certificate;
  const registrant = c.get("registrant");
  const owns = async (named: Parameters<ParticipantKeys["ownsTransportKey"]>[0]): Promise<boolean> =>
    await deps.keys.ownsTransportKey(named, spkiThumbprint);
  try {
    // A participant gets no explanation about the statement of another one.
    if (registrant !== undefined) return await owns(registrant) ? registrant.clientId : undefined;
    for (const id of [namedClient, asClientId(c.get("clientClaim")?.clientId)]) {
      const caller = id === undefined ? null : await deps.findCaller(c.get("reads"), id);
      if (caller !== null && await owns(caller)) return caller.clientId;
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error; // without the directory or the store, the words stay generic
  }
  return undefined;
}
