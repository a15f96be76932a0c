/** The form of a payment in the store. As in a stored consent, what was sent keeps the names of the API. */
import type { Account } from "../../base/values/account.ts";
import type { Initiation } from "../consents/initiation.ts";
import { fromWire, type OnWire, toWire } from "../http/wire_names.ts";
import type { Charge, Payment } from "./payment.ts";

export interface StoredPayment extends Omit<Payment, "initiation" | "debtorAccount" | "charges"> {
  readonly initiation: OnWire<Initiation>;
  readonly debtorAccount: OnWire<Account>;
  readonly charges: OnWire<readonly Charge[]>;
}

export function storedPayment(payment: Payment): StoredPayment {
  const { initiation, debtorAccount, charges } = payment;
  return {
    ...payment,
    initiation: toWire(initiation),
    debtorAccount: toWire(debtorAccount),
    charges: toWire(charges),
  };
}

export function paymentOf(stored: StoredPayment): Payment {
  const { initiation, debtorAccount, charges } = stored;
  return {
    ...stored,
    initiation: fromWire(initiation),
    debtorAccount: fromWire(debtorAccount),
    charges: fromWire(charges),
  };
}
