/**
 * A payment with the client library, on Deno, Node or Bun. Wants the folder of an onboarded participant and a running
 * sandbox, as `first_payment.ts` does. Bundled for Node and Bun: `deno bundle -o pay.js examples/pay.ts`.
 */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { argv, env, stdout } from "node:process";
import { loadParticipant } from "../src/client/tpp/participant.ts";
import { openFlow } from "../src/client/tpp/payment_journey.ts";
import { paymentRequest } from "../src/client/tpp/payment_request.ts";
import { persistently } from "../src/client/tpp/persistent.ts";
import { register } from "../src/client/tpp/register_client.ts";
import { beginPayment, finishPayment } from "../src/client/tpp/take_payment.ts";
import { openTpp } from "../src/client/tpp/tpp.ts";

const [, , name = "mine", bank = "BANKA"] = argv;
const dir = env["SANDBOX_DIR"] ?? ".data/sandbox";
const endpoints = JSON.parse(await readFile(`${dir}/endpoints.json`, "utf8"));
const [redirectUri = ""] = (await loadParticipant(`${dir}/participants/${name}`)).redirectUris;
const merchant = { name: "Company Limited", iban: "FR1420041010050500013M02606", categoryCode: "5812" };
const purchase = { orderId: crypto.randomUUID(), description: "Lunch of the day", amount: "4.20", merchant };

const tpp = await openTpp({ dir, name, endpoints, redirectUri });
const server = { fetch: tpp.fetch, baseUrl: tpp.baseUrl, audience: endpoints.registration_audience };
await persistently(() => register(server, tpp.participant, "PISP")).catch(registeredBefore);
const flow = await openFlow(tpp, bank);
const begun = await beginPayment(flow, paymentRequest(purchase));
say(`open this and log in as alice / sandbox, one-time code 123456:\n${begun.url}`);
const end = await finishPayment(flow, begun, await customersReturn(new URL(redirectUri)));
if (end.kind === "submitted") say(`payment ${end.payment.paymentId}: ${end.payment.status}`);
else say(`no payment, ${end.kind}: ${end.error} ${end.description}`);
tpp.close();

function say(line: string): void {
  stdout.write(`${line}\n`);
}

/** The statement was registered by an earlier run. */
function registeredBefore(error: unknown): void {
  say(`register: ${error instanceof Error ? error.message : error}`);
}

/** Serves the redirect URL until the customer's browser arrives. Returns the address with its query. */
async function customersReturn(redirect: URL): Promise<URL> {
  return await new Promise((resolve) => {
    const listener = createServer((request, response) => {
      const url = new URL(request.url ?? "", redirect);
      response.writeHead(url.pathname === redirect.pathname ? 200 : 404, { connection: "close" }).end(
        "Thank you.",
      );
      if (url.pathname === redirect.pathname) listener.close(() => resolve(url));
    }).listen(Number(redirect.port), "127.0.0.1");
  });
}
