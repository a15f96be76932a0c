/** The statuses that a bank reports. */
import type { PaymentOrder } from "testing/answers.ts";
import { bankCall, orderPath } from "testing/back_channel.ts";
import { good } from "testing/flows.ts";
import type { Environment } from "testing/environment.ts";

export const IN_PROCESS = "AcceptedSettlementInProcess";

export const COMPLETED = "AcceptedSettlementCompleted";

export const NOT_POSTED = "AcceptedWithoutPosting";

export const CREDITED = "AcceptedCreditSettlementCompleted";

export const STATUSES = ["Pending", "Rejected", IN_PROCESS, COMPLETED, NOT_POSTED, CREDITED] as const;

export type Status = typeof STATUSES[number];

export async function order(env: Environment, id: string): Promise<PaymentOrder["Data"]> {
  return (await good<PaymentOrder>(bankCall(env, env.bankA, orderPath(id)), 200)).Data;
}
