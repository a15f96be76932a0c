/** Makes the security event token of an event: the same claims each time that it is sent (contract EVT2). */
import type { NamedKey } from "../../base/jose/sealed_jwt.ts";
import { signClaims } from "../../base/jose/sign_claims.ts";
import { asPaymentId, type PaymentId } from "../../base/kernel/identifiers.ts";
import type { EventOwner, PlacedEvent } from "./event_store.ts";
import { claimsOf, type Origins, SET_TYP } from "./security_event_token.ts";

export interface SignEventDeps extends Origins {
  readonly signer: NamedKey;
  /** Returns the bank's reason of a rejected payment, if the payment is rejected and has one. */
  readonly rejectionReason: (payment: PaymentId) => Promise<string | undefined>;
}

export async function signEvent(
  deps: SignEventDeps,
  owner: EventOwner,
  event: PlacedEvent,
): Promise<string> {
  return await signClaims(claimsOf(event, owner, deps, await reasonFor(deps, event)), deps.signer, SET_TYP);
}

/** The reason is a text of the bank and may name a person, so it stays in the payment, where it is sealed and erased. */
async function reasonFor(
  { rejectionReason }: SignEventDeps,
  { resource, entry: { value } }: PlacedEvent,
): Promise<string | undefined> {
  const payment = value.type === "payment-status-changed" && value.status === "Rejected"
    ? asPaymentId(resource)
    : undefined;
  return payment === undefined ? undefined : await rejectionReason(payment);
}
