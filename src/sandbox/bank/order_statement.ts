/**
 * Answers the platform's inquiry after a restore with a signed statement of the payment orders that this bank holds,
 * each as the platform signed it. Only reads the ledger.
 */
import { compactVerify, decodeProtectedHeader, SignJWT } from "jose";
import { z } from "zod";
import { HANDOVER_SECONDS, SIGNATURE_ALG } from "../../client/party/profile.ts";
import type { Bank } from "./bank.ts";
import { bankKeys } from "./bank_keys.ts";
import type { ExecutedOrder } from "./ledger.ts";
import { OrderRejected } from "./payment_order.ts";

const inquiryType = "order-inquiry+jwt";
const statementType = "order-statement+jwt";
/** A page may have at most 64 KiB, and a signed order has up to about 5 KiB. */
const ordersAPage = 10;

const inquirySchema = z.object({
  iss: z.string(),
  aud: z.string(),
  exp: z.number(),
  Data: z.object({ Since: z.iso.datetime({ offset: true }), After: z.string().optional() }),
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
 * @throws {OrderRejected} if the inquiry is not from the platform, not for this bank, or expired
 */
export async function stateOrders(bank: Bank, token: string): Promise<string> {
  const { Data } = await openInquiry(bank, token);
  const since = Date.parse(Data.Since);
  const orders = (await bank.ledger.orders()).filter((executed) => lastMovedAt(executed) >= since);
  const start = orders.findIndex((executed) => cursorOf(executed) === Data.After) + 1;
  const page = orders.slice(start, start + ordersAPage);
  const last = page.at(-1);
  const next = last === undefined || start + page.length === orders.length ? {} : { Next: cursorOf(last) };
  const now = Math.floor(bank.clock() / 1000);
  const { signing } = await bankKeys(bank.profile);
  return await new SignJWT({
    iss: bank.profile.orgId,
    aud: bank.authUrl,
    iat: now,
    exp: now + HANDOVER_SECONDS,
    jti: crypto.randomUUID(),
    Data: { ...Data, ...next, PaymentOrder: page.map((executed) => stated(executed, bank.clock())) },
  }).setProtectedHeader({ alg: SIGNATURE_ALG, typ: statementType, kid: signing.kid }).sign(signing.key);
}

async function openInquiry({ platformKeys, profile, authUrl, clock }: Bank, token: string): Promise<Inquiry> {
  const { kid } = decodeProtectedHeader(token);
  const key = kid === undefined ? undefined : await platformKeys.signatureKey(kid);
  if (key === undefined) throw new OrderRejected("kid is not the platform's");
  const { payload } = await compactVerify(token, key, { algorithms: [SIGNATURE_ALG] }).catch(() => {
    throw new OrderRejected("the inquiry's signature");
  });
  const decoded = inquirySchema.safeParse(JSON.parse(new TextDecoder().decode(payload)));
  if (!decoded.success) throw new OrderRejected("not an inquiry");
  const { iss, aud, exp } = decoded.data;
  if (iss !== authUrl || aud !== profile.code || exp * 1000 < clock()) {
    throw new OrderRejected("an inquiry of another platform, for another bank, or expired");
  }
  return decoded.data;
}

function lastMovedAt({ executedAtMs, reportedAtMs }: ExecutedOrder): number {
  return reportedAtMs ?? executedAtMs;
}

function cursorOf({ order }: ExecutedOrder): string {
  return order.domesticPaymentId;
}

function stated(
  { order, status, reason, executedAtMs }: ExecutedOrder,
  now: number,
): Record<string, unknown> {
  return {
    DomesticPaymentId: order.domesticPaymentId,
    ConsentId: order.consentId,
    Status: status,
    StatusUpdateDateTime: new Date(Math.min(executedAtMs, now)).toISOString(),
    ...(reason === undefined ? {} : { StatusReason: reason }),
    ...(order.signed === undefined ? {} : { Order: order.signed }),
  };
}
