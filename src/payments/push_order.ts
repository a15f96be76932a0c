/** One push of an order to its bank (Decision D4): a PS256 JWS by POST, the bank's `Status` in answer. Never trusts more of it. */
import { isCallable, readBounded } from "../http/outgoing.ts";
import { unixSeconds } from "../kernel/clock.ts";
import { strictJson } from "../kernel/strict_json.ts";
import { no, type Verdict, yes } from "../kernel/verdict.ts";
import type { NamedKey } from "../jose/sealed_jwt.ts";
import { signClaims } from "../jose/sign_claims.ts";
import { HANDOVER_SECONDS, ORDER_PUSH_SECONDS } from "../profile.ts";
import type { Payment } from "./payment.ts";
import { representOrder } from "./payment_order_representation.ts";

/** What the bank can answer to an order. */
export type OrderAnswer = "AcceptedSettlementInProcess" | "Rejected";

/** What pushing needs. */
export interface PushOrderDeps {
  readonly fetch: typeof fetch;
  readonly signer: NamedKey;
  readonly authUrl: string;
  /** Sandbox only: banks on this computer's loopback addresses. */
  readonly loopbackBanks: boolean;
}

const MAX_ANSWER_BYTES = 16_384;

/** Pushes once. `now` in milliseconds. A "no" means: nothing is known, try again. */
export async function pushOrder(
  deps: PushOrderDeps,
  uri: string,
  payment: Payment,
  now: number,
): Promise<Verdict<OrderAnswer>> {
  if (!isCallable(uri, { loopback: deps.loopbackBanks })) return no("payment_orders_uri may not be called");
  const body = await signedOrder(deps, payment, unixSeconds(now));
  try {
    const response = await deps.fetch(uri, {
      method: "POST",
      redirect: "manual", // an order goes where the statement says and nowhere else
      headers: { "content-type": "application/jose", accept: "application/json" },
      body,
      signal: AbortSignal.timeout(ORDER_PUSH_SECONDS * 1000),
    });
    if (response.status === 200) return readAnswer(await readBounded(response, MAX_ANSWER_BYTES));
    await response.body?.cancel();
    return no(`status ${response.status}`);
  } catch (error) {
    return no(error instanceof Error ? error.name : "failed");
  }
}

function signedOrder({ authUrl, signer }: PushOrderDeps, payment: Payment, iat: number): Promise<string> {
  return signClaims({
    iss: authUrl,
    aud: payment.bank,
    iat,
    exp: iat + HANDOVER_SECONDS,
    jti: crypto.randomUUID(),
    ...representOrder(payment),
  }, signer);
}

function readAnswer(text: string | undefined): Verdict<OrderAnswer> {
  if (text === undefined) return no("the answer is too large");
  const parsed = strictJson(text);
  const value = parsed.ok ? parsed.value : undefined;
  const status = typeof value === "object" && value !== null && "Status" in value ? value.Status : undefined;
  if (status === "AcceptedSettlementInProcess" || status === "Rejected") return yes(status);
  return no("no Status in the answer");
}
