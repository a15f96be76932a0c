/** A bank's signed statement of its orders, which the platform asks for after a restore. */
import { claimsOf, headerOf, signedJwt } from "./jwts.ts";
import { AUTH, type Party } from "./parties.ts";

/** An order as the statement names it. */
export interface StatedOrder {
  readonly id: string;
  readonly consentId: string;
  readonly status: string;
  /** The platform's order as it came. */
  readonly signed: string;
  /** Milliseconds. */
  readonly at: number;
}

/** Whether a JWS is an inquiry and not an order. */
export function isInquiry(jws: string): boolean {
  return headerOf(jws)["typ"] === "order-inquiry+jwt";
}

/** The whole statement in one page. */
export function statementOf(
  bank: Party,
  inquiry: string,
  orders: readonly StatedOrder[],
  now: number,
): string {
  const iat = Math.floor(now / 1000);
  const { Since } = claimsOf(inquiry)["Data"] as { readonly Since: string };
  return signedJwt(bank.signing.n, { typ: "order-statement+jwt", kid: bank.signing.kid }, {
    iss: bank.orgId,
    aud: AUTH,
    iat,
    exp: iat + 300,
    jti: `statement ${now}`,
    Data: {
      Since,
      PaymentOrder: orders.map(({ id, consentId, status, signed, at }) => ({
        DomesticPaymentId: id,
        ConsentId: consentId,
        Status: status,
        StatusUpdateDateTime: new Date(at).toISOString(),
        Order: signed,
      })),
    },
  });
}
