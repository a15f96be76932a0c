/** Notices to a bank about a consent or payment of its customers (contract EVT19). No I/O. */
import { filledPath, ORDER_PATH, PAYER_PATH } from "../config/paths.ts";
import type { BankEventType, Notice, StatusChange } from "./event.ts";

/** Returns the notice of a change. It links to what the bank reads on its back channel. */
export function bankNotice(
  { bank, resource, consentId, status, reasonCode, at }: StatusChange,
  type: BankEventType,
  baseUrl: string,
): Notice {
  const isPayment = type === "payment-closed";
  const path = isPayment
    ? filledPath(ORDER_PATH, { bank, paymentId: resource })
    : filledPath(PAYER_PATH, { bank, consentId });
  return {
    type,
    status,
    at,
    about: isPayment ? "domestic-payment" : "domestic-payment-consent",
    link: `${baseUrl}${path}`,
    details: {
      ...(isPayment ? { consent_id: consentId } : {}),
      ...(reasonCode === undefined ? {} : { reason_code: reasonCode }),
    },
  };
}
