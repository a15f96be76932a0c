/**
 * A payment with the client library, on Deno, Node or Bun. Wants the folder of an onboarded participant and a running
 * sandbox, as `first_payment.ts` does, and ends with the same statuses. `npm install @payment-initiation/client` has the
 * library without this repository.
 */
import { readFile } from "node:fs/promises";
import process, { argv, env, stdout } from "node:process";
import {
  awaitReturn,
  beginPayment,
  finishPayment,
  grantClientToken,
  loadParticipant,
  openFlow,
  openTpp,
  type PaymentEnd,
  paymentRequest,
  type PaymentSeen,
  PaymentUnknown,
  persistently,
  readPayment,
  register,
} from "@payment-initiation/client";

type Endpoints = Record<"auth_url" | "base_url" | "directory_url" | "registration_audience", string>;
const [, , name = "mine", bank = "BANKA"] = argv;
const dir = env["SANDBOX_DIR"] ?? ".data/sandbox";
const endpoints = JSON.parse(await readFile(`${dir}/endpoints.json`, "utf8")) as Endpoints;
const [redirectUri = ""] = (await loadParticipant(`${dir}/participants/${name}`)).redirectUris;
const merchant = { name: "Company Limited", iban: "FR1420041010050500013M02606", categoryCode: "5812" };
const purchase = { orderId: crypto.randomUUID(), description: "Lunch of the day", amount: "4.20", merchant };

const tpp = await openTpp({ dir, name, endpoints, redirectUri });
const server = { fetch: tpp.fetch, baseUrl: tpp.baseUrl, audience: endpoints.registration_audience };
await persistently(() => register(server, tpp.participant, "PISP")).catch(registeredBefore);
const flow = await openFlow(tpp, bank);
const begun = await beginPayment(flow, paymentRequest(purchase));
say(`open this and log in as alice / sandbox, one-time code 123456:\n${begun.url}`);
process.exitCode = await finishPayment(flow, begun, await awaitReturn(redirectUri)).then(
  ended,
  unknown,
);
tpp.close();

/** Says how the payment ended. Returns the exit status. */
async function ended(end: PaymentEnd): Promise<number> {
  if (end.kind !== "submitted") {
    say(`no payment, ${end.kind}: ${end.error} ${end.description}`);
    return end.kind === "rejected" ? 3 : 1;
  }
  const { paymentId, status } = await settled(end.payment).catch(() => end.payment);
  say(`payment ${paymentId}: ${status}`);
  return status === "Rejected" ? 3 : status === "Pending" ? 4 : 0;
}

function unknown(error: unknown): number {
  say(error instanceof Error ? error.message : String(error));
  return error instanceof PaymentUnknown ? 4 : 1;
}

/** Reads the status until the bank has answered, for half a minute. */
async function settled(payment: PaymentSeen): Promise<PaymentSeen> {
  let seen = payment;
  for (let reads = 0; seen.status === "Pending" && reads < 30; reads += 1) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const token = await grantClientToken(flow);
    seen = await readPayment(flow, token, payment.paymentId);
  }
  return seen;
}

function say(line: string): void {
  stdout.write(`${line}\n`);
}

/** The statement was registered by an earlier run. */
function registeredBefore(error: unknown): void {
  say(`register: ${error instanceof Error ? error.message : error}`);
}
