/** Tokens of events, as the platform of the TPP tests signs them. */
import { signClaims } from "../../src/base/jose/own_key.ts";
import { testKey } from "testing/keys.ts";
import { authUrl, consentId, paymentId, type TppEnvironment } from "./sandbox_tpp_platform.ts";

/** The differences from a good token. */
export interface EventToken {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly typ?: string;
  /** Number of the signing key in the pool. */
  readonly key?: number;
}

const PLATFORM_KEY = 2;
export const OTHER_KEY = 3;
const RESOURCE_UPDATE = "urn:uk:org:openbanking:events:resource-update";

/** `toe` of a good token, seconds. */
export const EVENT_AT = 1_769_999_990;

/** A token that says that the payment is rejected, unless something differs. */
export async function eventToken(
  { tpp }: TppEnvironment,
  { claims, typ = "secevent+jwt", key = PLATFORM_KEY }: EventToken = {},
): Promise<string> {
  const good = {
    iss: `${authUrl}/BANKA`,
    aud: tpp.participant.clientId,
    iat: 1_770_000_000,
    jti: "1-a",
    toe: EVENT_AT,
    events: ofPayment("Rejected", { reason_code: "AM04", reason: "no money" }),
  };
  const signer = { key: await (await testKey(key)).privateKey("sign"), kid: "platform" };
  return await signClaims({ ...good, ...claims }, signer, typ);
}

/** `events` of a change of the payment. */
export function ofPayment(status: string, why: object = {}): Readonly<Record<string, unknown>> {
  return {
    [RESOURCE_UPDATE]: { subject: { "http://openbanking.org.uk/rid": paymentId } },
    [`${authUrl}/events/payment-status-changed`]: { status, consent_id: consentId, ...why },
  };
}

/** `events` of a change of the consent. */
export function ofConsent(type: string, status: string, id = consentId): Readonly<Record<string, unknown>> {
  return {
    [RESOURCE_UPDATE]: { subject: { "http://openbanking.org.uk/rid": id } },
    [`${authUrl}/events/${type}`]: { status },
  };
}
