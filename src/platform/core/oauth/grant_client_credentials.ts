/** The client credentials grant (contract EP1): a token for the client itself, bound to its DPoP key. */
import type { BankCode } from "../../../base/kernel/identifiers.ts";
import type { Authentication } from "../../evidence/evidence.ts";
import type { Caller } from "../../guards/security/caller.ts";
import type { VerifiedProof } from "../../guards/security/dpop_proof.ts";
import { type RequestState, type TransactDeps, transactFor } from "../../../base/store/transaction.ts";
import type { AccessTokenStore } from "./access_token_store.ts";
import { requireScope, tokenResponse } from "./token_response.ts";

export interface GrantDeps extends TransactDeps {
  readonly tokens: AccessTokenStore;
}

/** A request of an authenticated client with a valid proof. */
export interface TokenRequest extends RequestState {
  readonly caller: Caller;
  readonly authentication: Authentication;
  readonly bank: BankCode;
  readonly form: ReadonlyMap<string, string>;
  readonly proof: VerifiedProof;
  /** Hash of the form's code, if it has one. */
  readonly codeHash?: string | undefined;
}

/** Issues the token. Every client may use this grant: banks register another one but need this one (Decision B1). */
export async function grantClientCredentials(
  deps: GrantDeps,
  request: TokenRequest,
): Promise<ReturnType<typeof tokenResponse>> {
  const scope = requireScope(request.form.get("scope"), request.caller, request.bank);
  const token = await transactFor(
    deps,
    request,
    { what: "access token" },
    (tx) =>
      deps.tokens.stageIssue(tx, {
        clientId: request.caller.clientId,
        registration: request.caller.registration,
        bank: request.bank,
        scope,
        grant: "client_credentials",
        jkt: request.proof.jkt,
      }),
  );
  return tokenResponse(token.text, scope);
}
