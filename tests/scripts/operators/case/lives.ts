/** Cases of every consent type and fate. */
import { authorised, decide, putAccounts, returnPath, toBank } from "testing/authorization_flow.ts";
import { putStatus } from "testing/back_channel.ts";
import { IMPLICIT } from "testing/bank_return.ts";
import { good, pay } from "testing/flows.ts";
import { MARIA, OPERATIONS_URL } from "testing/operators.ts";
import { accepts, answers, down, later, type PushEnvironment } from "support/orders.ts";

export const HOUR_MS = 3_600_000;

/** Makes a payment. Returns its id. */
async function paidWith(env: PushEnvironment, options: Parameters<typeof authorised>[1]): Promise<string> {
  return (await good(pay(env, await authorised(env, options)), 201)).Data.DomesticPaymentId;
}

/** Returns the id of the consent that the customer has refused at the platform. */
async function refused(env: PushEnvironment): Promise<string> {
  const flow = await toBank(env);
  await good(putAccounts(env, flow.bank, flow.consentId), 200);
  const screen = await flow.browser.open(await returnPath(env, flow.bank, flow.handover));
  await decide(flow.browser, screen.headers.get("location") ?? "", "refuse");
  return flow.consentId;
}

/** Each returns the id of a case. */
export const LIVES: Readonly<Record<string, (env: PushEnvironment) => Promise<string>>> = {
  "settled, with the account in the consent": async (env) => {
    const id = await paidWith(env, { body: IMPLICIT });
    await good(putStatus(env, env.bankA, id, "AcceptedSettlementCompleted"), 200);
    return id;
  },
  "settled, with an account chosen at the platform": async (env) => {
    const id = await paidWith(env, {});
    await good(putStatus(env, env.bankA, id, "AcceptedSettlementCompleted"), 200);
    return id;
  },
  "settled, authorised at the bank": async (env) => {
    const id = await paidWith(env, { bank: env.bankB });
    await good(putStatus(env, env.bankB, id, "AcceptedSettlementInProcess"), 200);
    return id;
  },
  "refused by the customer": refused,
  "failed at the bank": async (env) => {
    const flow = await toBank(env, { body: IMPLICIT });
    const failure = { claims: { status_code: "failure" } };
    await flow.browser.open(await returnPath(env, flow.bank, flow.handover, failure));
    return flow.consentId;
  },
  "authorised by a bank whose success is 200": async (env) => {
    const flow = await toBank(env, { body: IMPLICIT });
    const success = { claims: { status_code: "200" } };
    await flow.browser.open(await returnPath(env, flow.bank, flow.handover, success));
    return flow.consentId;
  },
  "never authorised": async (env) => (await toBank(env)).consentId,
  "rejected by the bank": async (env) => {
    env.answer = answers("Rejected");
    const id = await paidWith(env, { body: IMPLICIT });
    env.answer = accepts;
    return id;
  },
  "pushed again": async (env) => {
    env.answer = down;
    const id = await paidWith(env, { body: IMPLICIT });
    env.answer = accepts;
    await later(env, 2000);
    return id;
  },
  "given up, redriven and executed": async (env) => {
    env.answer = down;
    const id = await paidWith(env, { body: IMPLICIT });
    for (let hour = 0; hour < 12; hour++) await later(env, HOUR_MS);
    env.answer = accepts;
    const address = `${OPERATIONS_URL}/operations/payment-orders/${id}/redrive`;
    const redrive = new Request(address, { method: "POST", headers: MARIA });
    await good(env.platform.operations.fetch(redrive), 202);
    await later(env, 1000);
    return id;
  },
  "held for more than a day, given up and closed": async (env) => {
    const operate = async (path: string, data: object): Promise<void> => {
      const headers = { ...MARIA, "content-type": "application/json" };
      const body = JSON.stringify({ Data: data });
      const request = new Request(`${OPERATIONS_URL}/operations/${path}`, { method: "POST", headers, body });
      await good(env.platform.operations.fetch(request), 200);
    };
    await operate("banks/BANKA/hold", { Reason: "The bank asked us to wait." });
    const id = await paidWith(env, { body: IMPLICIT });
    await later(env, 1000);
    env.now += 24 * HOUR_MS + 1;
    await operate("banks/BANKA/release", { Reason: "The bank is ready again." });
    await later(env, 1000);
    const closing = { Reason: "The customer has paid otherwise.", StatusReason: "The bank did not get it." };
    await operate(`payment-orders/${id}/close`, closing);
    return id;
  },
};
