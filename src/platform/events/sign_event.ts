/** Makes the security event token of an event: the same claims each time that it is sent (contract EVT2). */
import { type OwnKey, signClaims } from "../../base/jose/own_key.ts";
import { EVENT_JWT } from "./event_claims_representation.ts";
import type { EventOwner, PlacedEvent } from "./event_store.ts";
import { claimsOf, type Origins } from "./security_event_token.ts";

export interface SignEventDeps extends Origins {
  readonly signer: OwnKey;
}

export async function signEvent(deps: SignEventDeps, owner: EventOwner, event: PlacedEvent): Promise<string> {
  return await signClaims(claimsOf(event, owner, deps), deps.signer, EVENT_JWT.typ);
}
