/** The steps of a TPP's payment, up to the bank's answer to the order. The last two need a sandbox, or a bank of the examination. */
import { pushAuthorization } from "../../../src/client/tpp/authorization.ts";
import { createConsent } from "../../../src/client/tpp/domestic_payments.ts";
import { paymentRequest } from "../../../src/client/tpp/payment_request.ts";
import { merchant } from "../../../src/sandbox/shop/catalogue.ts";
import { readDescription } from "../participant/folder.ts";
import type { Traces } from "../../testing/answers.ts";
import { openItsBank } from "./access_layers.ts";
import { ask, type Examination, known, type Layer, TASK, Wrong } from "./examination.ts";
import { ownBankLayers } from "./own_bank.ts";
import { payAndWait, returnedWithCode } from "./payment_end.ts";

const SIGNATURE: Layer = {
  name: "payload signature",
  mend: ({ patient: { name } }) =>
    `${TASK} sign payload --name ${name} --body body.json   # sign exactly the bytes that you send`,
  async check(at) {
    at.request = paymentRequest({
      orderId: crypto.randomUUID(),
      description: "deno task doctor",
      amount: "0.01",
      merchant,
    });
    const { consentId } = await createConsent(known(at.flow), known(at.token), at.request);
    at.consentId = consentId;
    return `consent ${consentId}`;
  },
};

const PAR: Layer = {
  name: "PAR",
  mend: ({ patient: { name } }) =>
    `${TASK} participant renew-statement --name ${name} --changes .data/changes.json   # then register again`,
  async check(at) {
    at.pending = await pushAuthorization(known(at.flow), known(at.consentId));
    return `a request_uri for ${at.pending.expiresInSeconds} s`;
  },
};

const REDIRECT: Layer = {
  name: "redirect",
  mend: ({ addresses, patient: { bank } }) =>
    `curl ${addresses.auth_url}/.well-known/oauth-authorization-server/${bank}   # also its planned outages`,
  async check(at) {
    const response = await ask(at, known(at.pending).url, { redirect: "manual" });
    const page = await response.text();
    const location = response.headers.get("location");
    if (location === null) {
      const id = response.headers.get("x-fapi-interaction-id");
      throw new Wrong(`The link leads to an error page, number ${id}: ${headingOf(page)}`);
    }
    const { origin, searchParams } = new URL(location);
    if (!searchParams.has("oAuthUrl")) {
      throw new Wrong(`The customer comes back at once: ${searchParams.get("error_description")}`);
    }
    return `to the bank at ${origin}`;
  },
};

function headingOf(page: string): string {
  return (/<h1[^>]*>(.*?)<\/h1>/s.exec(page)?.[1] ?? "").replaceAll(/<[^>]*>/g, "");
}

/** The commands that show a bank's side, and mend it in a sandbox. */
function mendBank({ addresses, patient: { bank } }: Examination): string {
  return `curl -X DELETE ${addresses.banks_url}/${bank}/faults   # no mistake of the sandbox's bank is armed any more\n` +
    `${TASK} doctor --name <the bank's folder>   # for a bank of your own`;
}

/** The answer of the customer without a browser. */
type Authorized =
  | { readonly redirect_url: string }
  | { readonly redirect_url?: never; readonly error_description: string };

const BACK_CHANNEL: Layer = {
  name: "back channel",
  mend: mendBank,
  async check(at) {
    const { addresses: { banks_url }, patient: { bank } } = at;
    const client_id = known(at.participant).clientId;
    const { requestUri: request_uri } = known(at.pending);
    const response = await fetch(`${banks_url}/authorizations`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ bank, client_id, request_uri }),
    });
    const answer = await response.json() as Authorized;
    if (answer.redirect_url === undefined) throw new Wrong(await withTraces(at, answer.error_description));
    const explain = (words: string, query: string): Promise<string> => withTraces(at, words, query);
    await returnedWithCode(at, new URL(answer.redirect_url), explain);
    return "the customer approved and came back with a code";
  },
};

const ORDER_PUSH: Layer = {
  name: "order push",
  mend: mendBank,
  async check(at) {
    return await payAndWait(at, { open: ["Pending"] }, (words, query) => withTraces(at, words, query));
  },
};

/** Adds what the bank reads of its mistakes, if its folder is here too. */
async function withTraces(at: Examination, words: string, query = "rejected=true"): Promise<string> {
  const folder = await folderOfBank(at);
  if (folder === undefined) return `${words} The bank's GET /traces/v1?${query} says more.`;
  const { proxy: _, ...patient } = at.patient;
  const { link } = await openItsBank({ ...at, patient }, folder);
  await new Promise((done) => setTimeout(done, 1500)); // a trace is stored a second later
  const url = `${at.addresses.base_url}/traces/v1?${query}`;
  const answer = await link.call({ method: "GET", url, headers: {} });
  const { Data } = await answer.json() as Partial<Traces>;
  const told = (Data?.Trace ?? []).flatMap(({ Rejection }) => Rejection?.Message ?? []);
  return told[0] === undefined ? words : `${words} What the bank sent: ${told[0]}`;
}

async function folderOfBank({ patient: { dir, bank } }: Examination): Promise<string | undefined> {
  for await (const { name, isDirectory } of Deno.readDir(`${dir}/participants`)) {
    const folder = `${dir}/participants/${name}`;
    const found = isDirectory ? await readDescription(folder) : undefined;
    if (found?.org_id === bank && found.role === "ASPSP") return folder;
  }
  return undefined;
}

const STEPS: readonly Layer[] = [SIGNATURE, PAR, REDIRECT];

/** A payment of one cent is made in a sandbox, and at a bank whose folder is given. */
export function tppLayers({ addresses, patient: { ownBank } }: Examination): readonly Layer[] {
  if (ownBank !== undefined) return [...STEPS, ...ownBankLayers(ownBank)];
  return addresses.banks_url === undefined ? STEPS : [...STEPS, BACK_CHANNEL, ORDER_PUSH];
}
