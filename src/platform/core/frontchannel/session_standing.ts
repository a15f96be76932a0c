/**
 * The entries that an authorization session depends on, and the address of its TPP. Every step and every end of a
 * session reads them.
 */
import type { Clock, WallTime } from "../../../base/kernel/clock.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { type RequestReads, startRead } from "../../../base/store/request_reads.ts";
import type { Entry, Reader } from "../../../base/store/store.ts";
import { issuerOf } from "../../guards/security/standing.ts";
import type { ReadableConsent } from "../consents/consent.ts";
import type { ConsentStore } from "../consents/consent_store.ts";
import { readConsent } from "../consents/read_consent.ts";
import type { PushedRequest } from "../oauth/pushed_request.ts";
import { findPushedRequest } from "../oauth/pushed_request_store.ts";
import type { Client } from "../registration/client.ts";
import type { ClientStore } from "../registration/client_store.ts";
import type { AuthorizationSession } from "./authorization_session.ts";
import { backTo, type TppAddress } from "./tpp_redirect.ts";

export interface StandingDeps {
  readonly clock: Clock;
  readonly consents: ConsentStore;
  readonly clients: ClientStore;
  readonly authUrl: string;
}

export interface Standing {
  readonly request: Entry<PushedRequest>;
  readonly consent: Entry<ReadableConsent>;
  readonly tpp: Client;
  readonly address: TppAddress;
}

export interface SessionStanding {
  /**
   * Reads the entries, with the consent as it is at `now` (milliseconds). A redirect_uri that its TPP has deregistered
   * is not an address of the TPP.
   *
   * @throws {ApiError} `interaction.finished` if the pushed request, the TPP or that address is gone
   */
  read(session: AuthorizationSession, from: Reader, now?: WallTime): Promise<Standing>;
  /** Starts the reads of `read`, so that they and the caller's next reads share a round trip. */
  prefetch(session: AuthorizationSession, reads: RequestReads): void;
}

export function openSessionStanding(
  { clock, consents, clients, authUrl }: StandingDeps,
): SessionStanding {
  return {
    read: async (session, from, now = clock()) => {
      const { consentId, clientId, requestHash } = session;
      const reading = { clock: () => now, consents };
      const consent = startRead(readConsent(reading, from, consentId, session)); // its fault comes last
      const [tpp, request] = await Promise.all([
        clients.find(from, clientId),
        findPushedRequest(from, requestHash),
      ]);
      if (tpp === null || request === null || !tpp.redirectUris.includes(request.value.redirectUri)) {
        throw new ApiError("interaction.finished", {
          detail: "no address of the TPP is left",
          ...backTo(tpp),
        });
      }
      return { request, consent: await consent, tpp, address: addressOf(authUrl, request.value) };
    },
    prefetch: ({ clientId, requestHash, consentId }, reads) => {
      startRead(Promise.all([
        clients.readRegistered(reads, clientId, undefined),
        findPushedRequest(reads, requestHash),
        consents.find(reads, consentId),
      ]));
    },
  };
}

/** Returns the TPP's address in a pushed request. */
export function addressOf(authUrl: string, request: PushedRequest): TppAddress {
  const state = request.state === undefined ? {} : { state: request.state };
  return { redirectUri: request.redirectUri, ...state, issuer: issuerOf(authUrl, request.bank) };
}
