/**
 * One payment by an impatient TPP over an unreliable network: it repeats calls until they are answered, posts the
 * payment several times at once, and drops responses. Only records the results.
 */
import {
  type AccessToken,
  checkCallback,
  exchangeCode,
  grantClientToken,
  pushAuthorization,
} from "../../../src/client/tpp/authorization.ts";
import { createConsent, createPayment, readConsent } from "../../../src/client/tpp/domestic_payments.ts";
import type { PaymentFlow } from "../../../src/client/tpp/payment_journey.ts";
import { type PaymentRequest, paymentRequest } from "../../../src/client/tpp/payment_request.ts";
import { merchant } from "../../../src/sandbox/shop/catalogue.ts";
import { goThroughAuthorization } from "../../../src/sandbox/customer/customer.ts";
import { pause, persistently, type Rejected, rejectionOf } from "./calls.ts";
import type { PaymentPlan, PlannedFault, PlannedPost } from "./plan.ts";
import type { ProvedSystem } from "./system.ts";

/** The final response to one POST. */
export interface PostFact {
  readonly key: number;
  readonly mismatch: boolean;
  /** How often it was sent. */
  readonly tries: number;
  /** The client gave the first try up before its answer. */
  readonly dropped: boolean;
  readonly paymentId?: string;
  readonly rejected?: Rejected;
}

/** The result of one consent. */
export interface ConsentFact {
  readonly consentId: string;
  /** The response to a concurrent repetition of the request under the same key. */
  readonly repeatedId: string;
  readonly bank: string;
  readonly amount: string;
  readonly fault: PlannedFault | undefined;
  /** None where the consent was lost on the way to its token. */
  readonly posts: readonly PostFact[];
}

/** Dependencies of a payment. */
export interface PaymentDeps {
  readonly sandbox: ProvedSystem;
  readonly flow: PaymentFlow;
  /** Called as each phase begins. */
  readonly onPhase: (phase: "authorization" | "payment") => void;
}

const ACCOUNT: Readonly<Record<string, string>> = {
  BANKA: "GB33BUKB20201555555555",
  BANKB: "DE89370400440532013000",
};
const MAX_CONSENTS = 20;
const MAX_VISITS = 5;
const PAUSE_MS = 200;

/** Makes the payment and returns every consent that it needed. @throws {Error} if no attempt leads to a payment */
export async function makePayment(deps: PaymentDeps, plan: PaymentPlan): Promise<readonly ConsentFact[]> {
  const facts: ConsentFact[] = [];
  while (facts.length < MAX_CONSENTS) {
    const request = requestFor(plan);
    const clientToken = await persistently(deps.sandbox, () => grantClientToken(deps.flow));
    const [consentId, repeatedId] = await askTwice(deps, clientToken, request);
    const fact = { consentId, repeatedId, bank: plan.bank, amount: plan.amount, fault: plan.fault };
    deps.onPhase("authorization");
    const token = await authorise(deps, clientToken, consentId);
    if (token === undefined) {
      facts.push({ ...fact, posts: [] }); // the code was lost with its answer: a customer would begin again
      continue;
    }
    if (plan.fault !== undefined) await armFault(deps.sandbox, plan.bank, plan.fault, consentId);
    deps.onPhase("payment");
    const keys = new Map<number, string>();
    const posts = await Promise.all(
      plan.posts.map((post) => send(deps, token, keyOf(keys, post.key), { consentId, ...request }, post)),
    );
    return [...facts, { ...fact, posts }];
  }
  throw new Error(`payment ${plan.index} took more than ${MAX_CONSENTS} consents`);
}

/** A kill that comes between has the bank forget it: so be it. */
async function armFault(
  { endpoints }: ProvedSystem,
  bank: string,
  fault: PlannedFault,
  consent_id: string,
): Promise<void> {
  const init = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ fault, consent_id }),
  };
  const armed = await fetch(`${endpoints.banks_url}/${bank}/faults`, init).catch(() => undefined);
  await armed?.body?.cancel().catch(() => {});
}

function requestFor({ amount, implicit, bank }: PaymentPlan): PaymentRequest {
  const debtorIban = implicit ? ACCOUNT[bank] : undefined;
  return paymentRequest({
    orderId: crypto.randomUUID(),
    description: "Proof",
    amount,
    merchant,
    ...(debtorIban === undefined ? {} : { debtorIban }),
  });
}

/** The same request twice at once, with one key; the consents that were answered. */
async function askTwice(
  deps: PaymentDeps,
  token: AccessToken,
  request: PaymentRequest,
): Promise<readonly [string, string]> {
  const key = crypto.randomUUID();
  const ask = async (): Promise<string> =>
    (await persistently(deps.sandbox, () => createConsent(deps.flow, token, request, key))).consentId;
  return await Promise.all([ask(), ask()]);
}

/** The payment's token, or undefined where this consent can get none any more. */
async function authorise(
  deps: PaymentDeps,
  clientToken: AccessToken,
  consentId: string,
): Promise<AccessToken | undefined> {
  const { sandbox, flow } = deps;
  for (let visit = 0; visit < MAX_VISITS; visit++) {
    try {
      const pending = await persistently(sandbox, () => pushAuthorization(flow, consentId));
      const plan = { startUrl: pending.url, redirectUri: flow.tpp.redirectUri };
      const callback = checkCallback(flow, pending, await goThroughAuthorization(plan, () => {}));
      return await persistently(sandbox, () => exchangeCode(flow, pending, callback));
    } catch {
      // A bank that died forgot the visit, a platform that died may have given the code or the token out already.
      const { status } = await persistently(sandbox, () => readConsent(flow, clientToken, consentId));
      if (status !== "AwaitingAuthorisation") return undefined;
    }
    await pause(PAUSE_MS);
  }
  return undefined;
}

/** Sends until it is answered. */
async function send(
  { sandbox, flow }: PaymentDeps,
  token: AccessToken,
  idempotencyKey: string,
  command: PaymentRequest & { readonly consentId: string },
  post: PlannedPost,
): Promise<PostFact> {
  const wanted = post.mismatch ? withOtherAmount(command) : command;
  let tries = 0;
  await pause(post.afterMs);
  const fact = { key: post.key, mismatch: post.mismatch, dropped: post.dropAfterMs !== undefined };
  try {
    const made = await persistently(sandbox, () => {
      const timeoutMs = tries++ === 0 ? post.dropAfterMs : undefined;
      return createPayment(impatient(flow, timeoutMs), token, wanted, idempotencyKey);
    });
    return { ...fact, tries, paymentId: made.paymentId };
  } catch (error) {
    const rejected = rejectionOf(error);
    if (rejected === undefined) throw error;
    return { ...fact, tries, rejected };
  }
}

function withOtherAmount<T extends PaymentRequest>(command: T): T {
  const { InstructedAmount } = command.initiation;
  const Amount = (Number(InstructedAmount.Amount) + 0.01).toFixed(2);
  return {
    ...command,
    initiation: { ...command.initiation, InstructedAmount: { ...InstructedAmount, Amount } },
  };
}

/** The flow, whose calls are given up after so long. */
function impatient(flow: PaymentFlow, timeoutMs: number | undefined): PaymentFlow {
  if (timeoutMs === undefined) return flow;
  return {
    ...flow,
    fetch: (url, request) => flow.fetch(url, { ...request, signal: AbortSignal.timeout(timeoutMs) }),
  };
}

function keyOf(keys: Map<number, string>, number: number): string {
  const key = keys.get(number) ?? crypto.randomUUID();
  keys.set(number, key);
  return key;
}
