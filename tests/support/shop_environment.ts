/** The demo shop in front of a platform double, without a network, and what its customers ask of it. */
import { composeShop } from "../../src/sandbox/shop/app.ts";
import { checkoutToken } from "../../src/sandbox/shop/session.ts";
import { authUrl, openTppEnvironment, shopUrl, type TppEnvironment } from "./sandbox_tpp_platform.ts";

/** A shop, what it sent, and how long it waited before it sent a payment again, milliseconds. */
export interface ShopEnvironment extends TppEnvironment {
  readonly fetch: (request: Request) => Promise<Response>;
  readonly waits: number[];
}

/** A customer who has checked out and stands at the bank. */
export interface AtBank {
  readonly cookie: string;
  readonly state: string;
}

/** The issuer of BANKA. */
export const issuer = `${authUrl}/BANKA`;
/** Where payments are made at BANKA. */
export const paymentsPath = "/BANKA/domestic-payments/v1";

/** A new shop whose waits are skipped. */
export async function openShop(
  log: (line: string) => void = () => {},
  receivesEvents = false,
): Promise<ShopEnvironment> {
  const env = await openTppEnvironment();
  const waits: number[] = [];
  const pause = (milliseconds: number): Promise<void> => {
    waits.push(milliseconds);
    return Promise.resolve();
  };
  const banksUrl = "https://banks.example";
  const shop = composeShop({ tpp: env.tpp, shopUrl, authUrl, banksUrl, pause, log, receivesEvents });
  return { ...env, fetch: shop.fetch, waits };
}

/** Orders lunch at BANKA. */
export async function goToBank(env: ShopEnvironment): Promise<AtBank> {
  const response = await env.fetch(order({ item: "lunch", bank: "BANKA", account: "" }));
  const par = env.seen.findLast(({ path }) => path === "/BANKA/par.oauth2/v1");
  return { cookie: cookieOf(response), state: new URLSearchParams(par?.body).get("state") ?? "" };
}

/** A page of the shop. */
export function get(path: string, cookie?: string): Request {
  return new Request(`${shopUrl}${path}`, cookie === undefined ? {} : { headers: { cookie } });
}

/** A browser that has seen the shop's front page: its session and the anti-forgery token of the forms there. */
const SESSION = "browser-that-has-seen-the-front-page-012345";
const CSRF = await checkoutToken(SESSION);

/** A checkout form; `fields` may replace the anti-forgery token. */
export function order(
  fields: Readonly<Record<string, string>>,
  origin = shopUrl,
  cookie = `__Host-shop_session=${SESSION}`,
): Request {
  return new Request(`${shopUrl}/checkout`, {
    method: "POST",
    body: new URLSearchParams({ csrf: CSRF, ...fields }),
    headers: { origin, cookie },
  });
}

/** A customer's return. */
export function callback(query: Readonly<Record<string, string>>, cookie?: string): Request {
  return get(`/callback?${new URLSearchParams(query)}`, cookie);
}

/** The session that an answer gave. */
export function cookieOf(response: Response): string {
  return response.headers.get("set-cookie")?.split(";")[0] ?? "";
}
