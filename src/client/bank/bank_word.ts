/** What a bank may say beside a status: in its answer to an order, in a report, and in a statement. */
import type { BankReasonCode } from "../party/reason_codes.ts";

/** Why an order was rejected. */
export interface BankWord {
  /** The code of the reason. */
  readonly reasonCode?: BankReasonCode | undefined;
  /** More about it, without personal data. The TPP reads it. */
  readonly reason?: string | undefined;
}

/** Returns the members as the platform names them. JSON leaves the undefined ones out. */
export function wordOnWire({ reasonCode, reason }: BankWord): object {
  return { StatusReasonCode: reasonCode, StatusReason: reason };
}
