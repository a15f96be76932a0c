/** A bank's side: back channel, payload signature, the customers' redirect and the push of orders. */
import { decodeJwt } from "jose";
import { signPayload } from "../../../src/client/party/payload_signature.ts";
import { readRejection } from "../../../src/client/party/api_error.ts";
import type { PaymentOrders, Traces } from "../../testing/answers.ts";
import { ask, type Examination, known, type Layer, TASK, Wrong } from "./examination.ts";

function orders({ addresses, description }: Examination, id = ""): string {
  return `${addresses.base_url}/${known(description).org_id}/back-channel-payments/v1${id && `/${id}`}`;
}

const BACK_CHANNEL: Layer = {
  name: "back channel",
  mend: ({ patient: { name } }) => `${TASK} participant show --name ${name}`,
  async check(at) {
    const response = await known(at.bank).link.call({ method: "GET", url: orders(at), headers: {} });
    const text = await response.text();
    if (response.status !== 200) throw readRejection(response, text);
    const { Data } = JSON.parse(text) as PaymentOrders;
    return `${Data.PaymentOrder.length} orders on the first page`;
  },
};

const SIGNATURE: Layer = {
  name: "payload signature",
  mend: ({ patient: { name } }) =>
    `${TASK} sign payload --name ${name} --body body.json   # sign exactly the bytes that you send`,
  async check(at) {
    const { signer, link } = known(at.bank);
    const StatusUpdateDateTime = new Date(at.now()).toISOString();
    const report = { Data: { Status: "AcceptedSettlementInProcess", StatusUpdateDateTime } };
    const body = JSON.stringify(report);
    const signature = await signPayload(signer, new TextEncoder().encode(body), at.now());
    const headers = { "content-type": "application/json", "x-jws-signature": signature };
    const url = orders(at, crypto.randomUUID());
    const response = await link.call({ method: "PUT", url, headers, body });
    const rejection = readRejection(response, await response.text());
    if (!rejection.codes.includes("UK.OBIE.Resource.NotFound")) throw rejection; // the payment is made up
    return `signed by ${signer.kid}`;
  },
};

const REDIRECT: Layer = {
  name: "redirect",
  mend: (at) => `curl -i ${known(at.participant).redirectUris[0]}   # start the bank, or renew its statement`,
  async check(at) {
    const address = known(at.participant).redirectUris[0] ?? "";
    const status = await statusAt(at, address, { redirect: "manual" });
    if (isUnusable(status)) throw new Wrong(`${address} answers ${status} to a customer.`);
    return `${address} answers`;
  },
};

/** Whether nothing at the address can take the request: no page is there, no method of it, or the server fails. */
function isUnusable(status: number): boolean {
  return status >= 500 || status === 404 || status === 405;
}

async function statusAt(at: Examination, address: string, init: RequestInit): Promise<number> {
  const response = await ask(at, address, init);
  await response.body?.cancel();
  return response.status;
}

const ORDER_PUSH: Layer = {
  name: "order push",
  mend: (at) =>
    `curl -i -X POST -H 'content-type: application/jose' ${pushAddress(at)}   # what the bank answers`,
  async check(at) {
    const address = pushAddress(at);
    if (address === undefined) return "no payment_orders_uri: the bank pulls its orders";
    const headers = { "content-type": "application/jose" };
    const status = await statusAt(at, address, {
      method: "POST",
      headers,
      body: UNSIGNED,
      redirect: "manual",
    });
    if (status < 400) {
      throw new Wrong(`${address} answers ${status} to an order that the platform has not signed.`);
    }
    if (isUnusable(status)) throw new Wrong(`${address} answers ${status} to an order.`);
    const told = await rejectedPush(at);
    if (told !== undefined) throw new Wrong(`The platform could not use the bank's last answer: ${told}`);
    return `${address} rejects an order that the platform has not signed`;
  },
};

const UNSIGNED = "e30.e30.e30";

function pushAddress(at: Examination): string | undefined {
  const uri = decodeJwt(known(at.participant).softwareStatement)["payment_orders_uri"];
  return typeof uri === "string" ? uri : undefined;
}

/** The fault of the answer to a push, if the newest rejected request of the bank is one. */
async function rejectedPush(at: Examination): Promise<string | undefined> {
  const url = `${at.addresses.base_url}/traces/v1?rejected=true`;
  const answer = await known(at.bank).link.call({ method: "GET", url, headers: {} });
  const { Data } = await answer.json() as Partial<Traces>;
  const [newest] = (Data?.Trace ?? []).filter(({ Rejection }) =>
    Rejection?.Reason === "payment_order.unusable_answer"
  );
  const isRecent = newest !== undefined && at.now() - Date.parse(newest.DateTime) < RECENT_MS;
  return isRecent ? newest.Rejection?.Message : undefined;
}

const RECENT_MS = 600_000;

export const BANK_LAYERS: readonly Layer[] = [SIGNATURE, REDIRECT, BACK_CHANNEL, ORDER_PUSH];
