/** One push of an order to its bank (Decision D4): a PS256 JWS by POST, the bank's `Status` in answer. Never trusts more of it. */
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
}

const MAX_ANSWER_CHARACTERS = 16_384;

/** Pushes once. `now` in milliseconds. A "no" means: nothing is known, try again. */
export async function pushOrder(
  deps: PushOrderDeps,
  uri: string,
  payment: Payment,
  now: number,
): Promise<Verdict<OrderAnswer>> {
  const iat = unixSeconds(now);
  const body = await signClaims({
    iss: deps.authUrl,
    aud: payment.bank,
    iat,
    exp: iat + HANDOVER_SECONDS,
    jti: crypto.randomUUID(),
    ...representOrder(payment),
  }, deps.signer);
  try {
    const response = await deps.fetch(uri, {
      method: "POST",
      redirect: "manual",
      headers: { "content-type": "application/jose", accept: "application/json" },
      body,
      signal: AbortSignal.timeout(ORDER_PUSH_SECONDS * 1000),
    });
    const text = (await response.text()).slice(0, MAX_ANSWER_CHARACTERS);
    return response.status === 200 ? readAnswer(text) : no(`status ${response.status}`);
  } catch (error) {
    return no(error instanceof Error ? error.name : "failed");
  }
}

function readAnswer(text: string): Verdict<OrderAnswer> {
  const parsed = strictJson(text);
  const value = parsed.ok ? parsed.value : undefined;
  const status = typeof value === "object" && value !== null && "Status" in value ? value.Status : undefined;
  if (status === "AcceptedSettlementInProcess" || status === "Rejected") return yes(status);
  return no("no Status in the answer");
}
