/** A payment whose order goes through the certifier's hands, and what it did to the customer's account. */
import { decodeJwt } from "jose";
import { z } from "zod";
import type { JsonObject } from "../../../../src/base/jose/compact_jws.ts";
import { BANK_REASON_CODES } from "../../../../src/base/values/reason_codes.ts";
import type { PaymentSeen } from "../../../../src/client/tpp/domestic_payments.ts";
import type { BankBench } from "./bench.ts";
import type { OrderAnswer, Push, TakePush } from "./between.ts";
import { authorise, pay, settled } from "./journey.ts";

/** A paid order. */
export interface PaidOrder {
  readonly payment: PaymentSeen;
  /** The account that pays. */
  readonly payer: string;
  /** Cents by which the payer's account fell, and the amount of the order. */
  readonly debited: number;
  readonly cents: number;
  /** The last push that the certifier took. */
  readonly push: Push;
}

const answerSchema = z.object({
  Status: z.string(),
  StatusReasonCode: z.enum(BANK_REASON_CODES).optional(), // contract RSN5
  StatusReason: z.string().optional(),
});
/** The statuses with which a bank may answer a push (contract PO3). */
const PUSH_ANSWERS: readonly string[] = ["AcceptedSettlementInProcess", "Rejected"];

/**
 * Authorises and pays from an account of the bank's customer; the certifier takes the order's pushes.
 *
 * @param take plays with the bank, and returns what the platform gets
 */
export async function payThrough(
  bench: BankBench,
  take: TakePush,
  { account, amount }: { readonly account?: string; readonly amount?: string } = {},
): Promise<PaidOrder> {
  const [first] = await bench.hook.payers();
  const payer = account ?? first?.Identification ?? "";
  const journey = await authorise(bench, { debtor: payer, ...(amount === undefined ? {} : { amount }) });
  const before = await balanceOf(bench, payer);
  let push: Push | undefined;
  let fault: unknown;
  bench.platform.between.takePushes(journey.consentId, async (taken) => {
    push = taken;
    try {
      return await take(taken);
    } catch (error) {
      fault ??= error;
      return "lost";
    }
  });
  const payment = await settled(bench, await pay(bench, journey));
  if (fault !== undefined) throw fault;
  if (push === undefined) throw new Error("the platform pushed no order: the bank has no payment_orders_uri");
  const debited = before - await balanceOf(bench, payer);
  return { payment, payer, debited, cents: Math.round(Number(journey.amount) * 100), push };
}

/** The balance of the customer's account, cents. */
export async function balanceOf({ hook }: BankBench, identification: string): Promise<number> {
  const account = (await hook.payers()).find(({ Identification }) => Identification === identification);
  if (account === undefined) throw new Error("the hook does not list the payer's account any more");
  return Math.round(Number(account.Balance) * 100);
}

/** The claims of an order as the platform signed them. */
export function claimsOf({ jws }: Push): JsonObject {
  return decodeJwt(jws);
}

/** The status in a bank's answer. @throws {Error} if it is not an answer to an order */
export function statusOf({ status, body }: OrderAnswer): string {
  if (status !== 200) throw new Error(`an order was answered ${status} in place of 200`);
  const answer = answerSchema.parse(JSON.parse(body));
  if (!PUSH_ANSWERS.includes(answer.Status)) {
    throw new Error(
      `an order was answered with Status ${answer.Status.slice(0, 40)}, which no push may have`,
    );
  }
  return answer.Status;
}

/** Whether the order was executed once. */
export function isOnce({ debited, cents }: PaidOrder): boolean {
  return debited === cents;
}

/** The change of the account, in words. */
export function debit({ debited, cents }: PaidOrder): string {
  return `an order of ${euros(cents)} debited ${euros(debited)}`;
}

function euros(cents: number): string {
  return `EUR ${(cents / 100).toFixed(2)}`;
}
