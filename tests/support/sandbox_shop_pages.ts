/** Every page of the demo shop in every state, drawn by the shop's own code; its platform is a double. */
import type { SentConsent } from "testing/flows.ts";
import { PAYMENT_STATUSES } from "../../src/platform/core/payments/payment.ts";
import { eventToken, ofConsent } from "./event_tokens.ts";
import { json, paymentAnswer, paymentId, shopUrl } from "./sandbox_tpp_platform.ts";
import type { Ask } from "./sandbox_bank_pages.ts";
import {
  callback,
  cookieOf,
  get,
  goToBank,
  issuer,
  openShop,
  order,
  paymentsPath,
  type ShopEnvironment,
} from "./shop_environment.ts";

/** Words of the platform for a payment that was made; the last is none that the shop knows. */
export const STATUSES = [...PAYMENT_STATUSES, "SomethingElse"] as const;

const LUNCH = { item: "lunch", bank: "BANKA", account: "" };
const code = "secret-code-secret-code-secret";

/** The shop's pages by name. */
export async function shopPages(): Promise<ReadonlyMap<string, Ask>> {
  // Keys take a while to make: each of these environments makes its own.
  const [env, failed, isPaying, isUnknown, isBroken, isApproved] = await Promise.all(
    [openShop(), rejectedConsent(), paying(), unknown(), broken(), approved()],
  );
  const plain = (request: () => Request): Ask => (language) => ask(env, request(), language);
  const paid = await pay(env);
  // Another's: each look at a status is one more message.
  const told = await openShop();
  const { path, cookie } = await pay(told);
  const messages = (below: string): Ask => (language) =>
    ask(told, get(`${path}/messages${below}`, cookie), language);
  return new Map<string, Ask>([
    ["shop-goods", plain(() => get("/"))],
    ["shop-fault", plain(() => order({ ...LUNCH, account: "GB00 NOT AN IBAN" }))],
    ["shop-at-bank", await atBank(env)],
    ["shop-approved", isApproved.order],
    ["shop-own-orders", isApproved.menu],
    ["shop-paying", isPaying],
    ["shop-denied", await returned(env, { error: "access_denied" })],
    ["shop-refused", await returned(env, { error: "server_error" })],
    ["shop-failed", failed.order],
    ["shop-unknown", isUnknown],
    ...STATUSES.map((status) => [`shop-${status}`, inStatus(env, paid, status)] as const),
    ["shop-messages", messages("")],
    ["shop-message-redirect", messages("/5")],
    ["shop-message", messages("/8")],
    ["shop-messages-failed", failed.messages],
    ["shop-stray", plain(() => callback({ state: "x", code: "y" }))],
    ["shop-not-found", plain(() => get("/nowhere"))],
    ["shop-origin", plain(() => order(LUNCH, "https://evil.example"))],
    ["shop-choice", plain(() => order({}))],
    ["shop-too-long", plain(() => order({ ...LUNCH, account: "1".repeat(5000) }))],
    ["shop-broken", isBroken],
  ]);
}

interface Place {
  readonly path: string;
  readonly cookie: string;
}

async function pay(env: ShopEnvironment, query: Readonly<Record<string, string>> = { code }): Promise<Place> {
  const { cookie, state } = await goToBank(env);
  const back = await env.fetch(callback({ ...query, state, iss: issuer }, cookie));
  return { path: back.headers.get("location") ?? "", cookie };
}

async function returned(env: ShopEnvironment, query: Readonly<Record<string, string>>): Promise<Ask> {
  const { path, cookie } = await pay(env, query);
  return (language) => ask(env, get(path, cookie), language);
}

function inStatus(env: ShopEnvironment, { path, cookie }: Place, status: string): Ask {
  return (language) => {
    env.answers.set(`${paymentsPath}/${paymentId}`, [() => paymentAnswer(200, status)]);
    return ask(env, get(path, cookie), language);
  };
}

/** The page that the customer can go back to while at the bank. */
async function atBank(env: ShopEnvironment): Promise<Ask> {
  const { cookie } = await goToBank(env);
  const path = orderPath(env);
  return (language) => ask(env, get(path, cookie), language);
}

/** An event has told the shop of the approval, and the customer has not returned. */
async function approved(): Promise<{ readonly order: Ask; readonly menu: Ask }> {
  const env = await openShop();
  const { cookie } = await goToBank(env);
  const path = orderPath(env);
  const events = ofConsent("consent-authorised", "Authorised");
  const headers = { "content-type": "application/secevent+jwt" };
  const body = await eventToken(env, { claims: { events } });
  await env.fetch(new Request(`${shopUrl}/events`, { method: "POST", headers, body }));
  return {
    order: (language) => ask(env, get(path, cookie), language),
    menu: (language) => ask(env, get("/", cookie), language),
  };
}

/** The payment was sent and the platform has not answered yet. */
async function paying(): Promise<Ask> {
  const env = await openShop();
  const { cookie, state } = await goToBank(env);
  const path = orderPath(env);
  const sent = Promise.withResolvers<void>();
  env.answers.set(paymentsPath, [() => {
    sent.resolve();
    return new Promise(() => {});
  }]);
  env.fetch(callback({ code, state, iss: issuer }, cookie));
  await sent.promise;
  return (language) => ask(env, get(path, cookie), language);
}

async function rejectedConsent(): Promise<{ readonly order: Ask; readonly messages: Ask }> {
  const env = await openShop();
  const Errors = [{ ErrorCode: "UK.OBIE.Field.Invalid", Path: "Data.Initiation", Message: "Not valid" }];
  env.answers.set("/BANKA/domestic-payment-consents/v1", [() => json(400, { Errors })]);
  const response = await env.fetch(order(LUNCH));
  const [path, cookie] = [response.headers.get("location") ?? "", cookieOf(response)];
  return {
    order: (language) => ask(env, get(path, cookie), language),
    messages: (language) => ask(env, get(`${path}/messages`, cookie), language),
  };
}

async function unknown(): Promise<Ask> {
  const env = await openShop();
  env.answers.set(paymentsPath, [1, 2, 3].map(() => () => json(503, {})));
  const { path, cookie } = await pay(env);
  return (language) => ask(env, get(path, cookie), language);
}

/** A shop whose operator's log is full. */
async function broken(): Promise<Ask> {
  const env = await openShop((line) => {
    if (line.startsWith("order ")) throw new Error("no space left on device");
  });
  return (language) => {
    env.answers.set("/BANKA/par.oauth2/v1", [() => json(400, {})]);
    return ask(env, order(LUNCH), language);
  };
}

/** A browser at the bank has not seen the number of its order, but the consent contains it. */
function orderPath({ seen }: ShopEnvironment): string {
  const consent = seen.findLast(({ path }) => path.endsWith("/domestic-payment-consents/v1"))?.body ?? "{}";
  const { Data } = JSON.parse(consent) as SentConsent;
  const number = String(Data.Initiation["InstructionIdentification"]);
  return `/orders/${number.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")}`;
}

async function ask(env: ShopEnvironment, request: Request, language: string): Promise<Response> {
  request.headers.set("accept-language", language);
  return await env.fetch(request);
}
