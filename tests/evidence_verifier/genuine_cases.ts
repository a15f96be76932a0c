/** Cases of real payments, made by the platform, two of each kind: the second differs in all that it may. */
import type { Environment } from "testing/environment.ts";
import { giveUp } from "../platform/core/payments/operated.ts";
import { grownBundle } from "../scripts/operators/case/bundles.ts";
import { accepts, answers, down, later, type PushEnvironment } from "support/orders.ts";
import type { BookEnvironment } from "support/bank_books.ts";
import { pass, settled, work } from "support/retention.ts";
import { copyOf, restore } from "support/restored_store.ts";
import { authorised, decide, putAccounts, returnPath, toBank } from "testing/authorization_flow.ts";
import { putStatus } from "testing/back_channel.ts";
import type { Participant } from "testing/participants.ts";
import { call, consentBody, DEBTOR_ACCOUNT, good, pay, type SentConsent } from "testing/flows.ts";
import { sharedToken } from "testing/shared_token.ts";

const OTHER_PAYEE = {
  SchemeName: "UK.OBIE.IBAN",
  Identification: "GB29NWBK60161331926819",
  Name: "Other Ltd",
};

/** What is asked for: the first and the second of a kind. */
function bodyOf(which: 0 | 1, initiation: Readonly<Record<string, unknown>> = {}): SentConsent {
  const other = which === 0 ? {} : {
    InstructionIdentification: "OTHER1",
    EndToEndIdentification: "OTHER.1",
    CreditorAccount: OTHER_PAYEE,
  };
  return consentBody({
    initiation: {
      InstructedAmount: { Amount: which === 0 ? "4.20" : "94.20", Currency: "EUR" },
      RemittanceInformation: { Reference: `REF-${which}`, Unstructured: `Order ${which}` },
      ...other,
      ...initiation,
    },
    risk: { PaymentContextCode: which === 0 ? "EcommerceGoods" : "EcommerceServices" },
  });
}

async function paid(env: PushEnvironment, body: SentConsent, bank?: Participant): Promise<string> {
  const flow = await authorised(env, { body, ...(bank === undefined ? {} : { bank }) });
  return (await good(pay(env, { ...flow, body }), 201)).Data.DomesticPaymentId;
}

type Data = Readonly<Record<string, unknown>>;

async function operate(env: PushEnvironment, path: string, Data: Data): Promise<void> {
  const headers = { "content-type": "application/json" };
  const request = { method: "POST", headers, body: JSON.stringify({ Data }) };
  await good(env.asOperator(`/operations/${path}`, request), 200);
}

/** A step of a dispute, a minute before the next one. */
async function dispute(env: PushEnvironment, who: Participant, id: string, data: Data): Promise<void> {
  const body = JSON.stringify({ Data: { DomesticPaymentId: id, ...data } });
  await good(call(env, who, await sharedToken(env, who, "BANKA"), "/BANKA/disputes/v1", { body }), 201);
  env.now += 60_000;
}

type Live = (env: PushEnvironment, which: 0 | 1) => Promise<string>;

/** Each returns the id of a case. */
export const KINDS: Readonly<Record<string, Live>> = {
  "settled, chosen at the platform": async (env, which) => {
    const id = await paid(env, bodyOf(which));
    await good(putStatus(env, env.bankA, id, "AcceptedSettlementCompleted"), 200);
    return id;
  },
  "settled, authorised at the bank": async (env, which) => {
    const id = await paid(env, bodyOf(which), env.bankB);
    await good(putStatus(env, env.bankB, id, "AcceptedSettlementCompleted"), 200);
    return id;
  },
  "rejected by the bank": async (env, which) => {
    env.answer = answers("Rejected");
    const id = await paid(env, bodyOf(which, { DebtorAccount: DEBTOR_ACCOUNT }));
    env.answer = accepts;
    return id;
  },
  "failed, and closed by an operator": async (env, which) => {
    env.answer = () => new Response("no", { status: 422 });
    const id = await paid(env, bodyOf(which));
    await giveUp(env);
    env.answer = accepts;
    const Data = {
      Reason: "The bank never had it.",
      StatusReason: "The bank did not take it.",
      MayBeAtBank: true,
    };
    await operate(env, `payment-orders/${id}/close`, Data);
    return id;
  },
  "pushed again": async (env, which) => {
    env.answer = down;
    const id = await paid(env, bodyOf(which, { DebtorAccount: DEBTOR_ACCOUNT }));
    env.answer = accepts;
    await later(env, 2000);
    return id;
  },
  "late at the screen": async (env, which) => {
    const flow = await toBank(env, { body: bodyOf(which) });
    await good(putAccounts(env, flow.bank, flow.consentId), 200);
    const screen = await flow.browser.open(await returnPath(env, flow.bank, flow.handover));
    env.now += 16 * 60_000;
    await flow.browser.open(screen.headers.get("location") ?? "");
    return flow.consentId;
  },
  "disputed, and decided by an operator": async (env, which) => {
    const id = await paid(env, bodyOf(which));
    await dispute(env, env.tpp, id, { Action: "Open", Statement: `It never came, says ${which}.` });
    const Statement = `It was credited to ${which}.`;
    await dispute(env, env.bankA, id, { Action: "Answer", Statement, IsAgreed: false });
    await operate(env, `disputes/${id}/decision`, { Outcome: "Upheld", Reason: `None for ${which}.` });
    return id;
  },
  "disputed, and withdrawn by the bank": async (env, which) => {
    const id = await paid(env, bodyOf(which));
    await dispute(env, env.bankA, id, { Action: "Open", Statement: `It came twice, says ${which}.` });
    await dispute(env, env.bankA, id, { Action: "Withdraw", Statement: `It came once, says ${which}.` });
    return id;
  },
  "refused by the customer": async (env, which) => {
    const flow = await toBank(env, { body: bodyOf(which) });
    await good(putAccounts(env, flow.bank, flow.consentId), 200);
    const screen = await flow.browser.open(await returnPath(env, flow.bank, flow.handover));
    await decide(flow.browser, screen.headers.get("location") ?? "", "refuse");
    return flow.consentId;
  },
};

/** The bundles of both cases of each kind. */
export async function genuineBundles(
  env: PushEnvironment,
): Promise<Readonly<Record<string, readonly [string, string]>>> {
  const ids: [string, string, string][] = [];
  for (const [kind, live] of Object.entries(KINDS)) ids.push([kind, await live(env, 0), await live(env, 1)]);
  const bundles: Record<string, readonly [string, string]> = {};
  for (const [kind, one, other] of ids) {
    bundles[kind] = [await grownBundle(env, one), await grownBundle(env, other)];
  }
  return bundles;
}

/** The bundles of cases of a bank that brings a payment back after a restore: the consent known, and lost. */
export async function recoveredBundles(
  env: BookEnvironment,
): Promise<Readonly<Record<string, readonly [string, string]>>> {
  const flows = [];
  for (const which of [0, 1] as const) {
    const body = bodyOf(which);
    flows.push({ ...await authorised(env, { body }), body });
  }
  const copy = await copyOf(env);
  const known = [];
  for (const flow of flows) known.push((await good(pay(env, flow), 201)).Data.DomesticPaymentId);
  const lost = [await paid(env, bodyOf(0)), await paid(env, bodyOf(1))];
  await restore(env, copy);
  await env.operate("/operations/order-holds/BANKA/reconcile", "");
  const bundles: string[] = [];
  for (const id of [...known, ...lost]) {
    await good(putStatus(env, env.bankA, id, "AcceptedSettlementCompleted"), 200);
    bundles.push(await grownBundle(env, id));
  }
  const [one = "", two = "", three = "", four = ""] = bundles;
  return { "recovered, with its consent": [one, two], "recovered, its consent lost": [three, four] };
}

/** The bundles of cases that retention has erased, and the proofs that it has deleted them, one after the other. */
export async function retiredBundles(
  env: Environment,
): Promise<Readonly<Record<string, readonly [string, string]>>> {
  const { paymentId: one } = await settled(env);
  await pass(env, 10);
  const { paymentId: two } = await settled(env);
  const retire = async (days: number): Promise<readonly [string, string]> => {
    await pass(env, days);
    await work(env);
    await pass(env, 10);
    await work(env);
    return [await grownBundle(env, one), await grownBundle(env, two)];
  };
  const erased = await retire(190);
  return { erased, deleted: await retire(90) };
}
