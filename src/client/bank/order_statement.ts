/**
 * The platform's inquiry after a restore, and the bank's signed statement of the payment orders that it holds, each as
 * the platform signed it (contract EN16).
 */
import { compactVerify, decodeProtectedHeader } from "jose";
import * as z from "zod/mini";
import { HANDOVER_SECONDS, MAX_BODY_BYTES, SIGNATURE_ALG } from "../party/profile.ts";
import { signJwt } from "../party/signer.ts";
import type { Bank } from "./bank.ts";
import { type BankWord, wordOnWire } from "./bank_word.ts";
import { OrderRejected } from "./payment_order.ts";

const inquiryType = "order-inquiry+jwt";
const statementType = "order-statement+jwt";
const ordersAPage = 10;
/** The platform reads 64 KiB. The payload's base64url is 4/3 as long, and the header, the signature and other claims need 2 KiB. */
const bytesAPage = (MAX_BODY_BYTES - 2048) * 3 / 4;

/** An order that the bank holds. */
export interface StatedOrder extends BankWord {
  readonly domesticPaymentId: string;
  readonly consentId?: string | undefined;
  readonly status: string;
  /** When the order reached its status, milliseconds since the Unix epoch. */
  readonly at: number;
  /** The order as the platform signed it, if it was pushed. */
  readonly signed?: string | undefined;
}

const inquirySchema = z.object({
  iss: z.string(),
  aud: z.string(),
  exp: z.number(),
  Data: z.object({ Since: z.iso.datetime({ offset: true }), After: z.optional(z.string()) }),
});
type Inquiry = z.infer<typeof inquirySchema>;

/** Returns whether this JWS is an inquiry rather than an order. Verifies no signature. */
export function isInquiry(token: string): boolean {
  try {
    return decodeProtectedHeader(token).typ === inquiryType;
  } catch {
    return false;
  }
}

/**
 * Returns the requested page of the statement as a compact JWS.
 *
 * @param heldSince the orders that changed at this time or later (milliseconds since the Unix epoch), always in the
 *   same order
 * @throws {OrderRejected} if the inquiry is not from the platform, not for this bank, or expired
 */
export async function stateOrders(
  bank: Bank,
  token: string,
  heldSince: (since: number) => Promise<readonly StatedOrder[]>,
): Promise<string> {
  const { Data } = await openInquiry(bank, token);
  const orders = await heldSince(Date.parse(Data.Since));
  const start = orders.findIndex(({ domesticPaymentId }) => domesticPaymentId === Data.After) + 1;
  const page = fitting(
    orders.slice(start, start + ordersAPage).map((order) => stateOrder(order, bank.now())),
  );
  const last = orders[start + page.length - 1];
  const next = last === undefined || start + page.length === orders.length
    ? {}
    : { Next: last.domesticPaymentId };
  const now = Math.floor(bank.now() / 1000);
  const claims = {
    iss: bank.code,
    aud: bank.authUrl,
    iat: now,
    exp: now + HANDOVER_SECONDS,
    jti: crypto.randomUUID(),
    Data: { ...Data, ...next, PaymentOrder: page },
  };
  return await signJwt(bank.signer, claims, { typ: statementType });
}

async function openInquiry({ platformKeys, code, authUrl, now }: Bank, token: string): Promise<Inquiry> {
  const { kid } = decodeProtectedHeader(token);
  const key = kid === undefined ? undefined : await platformKeys.signatureKey(kid);
  if (key === undefined) throw new OrderRejected("kid is not the platform's");
  const { payload } = await compactVerify(token, key, { algorithms: [SIGNATURE_ALG] }).catch(() => {
    throw new OrderRejected("the inquiry's signature");
  });
  const decoded = inquirySchema.safeParse(JSON.parse(new TextDecoder().decode(payload)));
  if (!decoded.success) throw new OrderRejected("not an inquiry");
  const { iss, aud, exp } = decoded.data;
  if (iss !== authUrl || aud !== code || exp * 1000 < now()) {
    throw new OrderRejected("an inquiry of another platform, for another bank, or expired");
  }
  return decoded.data;
}

/** The first ones that a page can have, and always one. */
function fitting(orders: readonly object[]): readonly object[] {
  let bytes = 0;
  const end = orders.findIndex((order, index) => {
    bytes += new TextEncoder().encode(JSON.stringify(order)).length + 1;
    return bytes > bytesAPage && index > 0;
  });
  return end < 0 ? orders : orders.slice(0, end);
}

function stateOrder({ status, at, signed, ...rest }: StatedOrder, now: number): Record<string, unknown> {
  return {
    DomesticPaymentId: rest.domesticPaymentId,
    ConsentId: rest.consentId,
    Status: status,
    StatusUpdateDateTime: new Date(Math.min(at, now)).toISOString(),
    ...wordOnWire(rest),
    ...(signed === undefined ? {} : { Order: signed }),
  };
}
