/**
 * Handles a session whose bank or TPP is not active any more (Decision G5). No code is issued and the consent is not
 * decided. The browser is redirected to the TPP with an error. The consent waits for a new request or its deadline.
 */
import { findPushedRequest } from "../oauth/pushed_request_store.ts";
import type { BankClient } from "../registration/client.ts";
import type { ClientStore } from "../registration/client_store.ts";
import type { StandingOf } from "../../guards/security/standing.ts";
import type { Reader } from "../../../base/store/store.ts";
import type { AuthorizationSession } from "./authorization_session.ts";
import { addressOf } from "./session_standing.ts";
import { inactiveUrl } from "./tpp_redirect.ts";

export interface InactivePartyDeps {
  readonly clients: Pick<ClientStore, "find">;
  readonly standingOf: StandingOf;
  readonly authUrl: string;
}

/**
 * Returns the next URL of this session if its bank or its TPP is not active. Returns null if both are active, or if
 * the pushed request is deleted, because the session is then over.
 *
 * @throws {ApiError} `platform.unavailable` if the status list is too old
 */
export type UrlIfInactive = (
  bank: BankClient,
  session: Pick<AuthorizationSession, "clientId" | "requestHash">,
  reads: Reader,
) => Promise<string | null>;

export function urlIfInactive({ clients, standingOf, authUrl }: InactivePartyDeps): UrlIfInactive {
  return async (bank, session, reads) => {
    const ofBank = await standingOf(bank);
    const [tpp, request] = await Promise.all([
      clients.find(reads, session.clientId),
      findPushedRequest(reads, session.requestHash),
    ]);
    if (request === null) return null;
    const isRegistered = tpp?.registration === request.value.registration;
    const ofTpp = isRegistered ? await standingOf(tpp) : "deregistered";
    const to = addressOf(authUrl, request.value);
    if (ofBank !== "active") return inactiveUrl(to, "bank", ofBank);
    return ofTpp === "active" ? null : inactiveUrl(to, "TPP", ofTpp);
  };
}
