/**
 * The demo shop: a small TPP with server-rendered pages that work without scripts. Composes its routes. Addresses come
 * from configuration, never from a request (Decision A6).
 */
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { JSX } from "hono/jsx/jsx-runtime";
import { type Reader, readerOf } from "../pages/reader.ts";
import { isIban } from "../../client/tpp/payment_request.ts";
import { orderScript, shopIcon, shopStylesheet } from "./assets.ts";
import { finishCheckout, refreshPayment } from "./callback.ts";
import { banks, goods } from "./catalogue.ts";
import { type CheckoutCommand, type ShopDeps, startCheckout } from "./checkout.ts";
import { type EventReceiver, openEventReceiver } from "./events.ts";
import { type CheckoutFault, GoodsPage } from "./goods_page.tsx";
import { type FormTargets, type ShopEnv, shopHeaders } from "./headers.ts";
import { renderDocument } from "../../pages/html_document.tsx";
import { MessagePage, messagesAsData, MessagesPage } from "./message_page.tsx";
import { type Notice, NoticePage } from "./layout.tsx";
import { OrderPage } from "./order_page.tsx";
import { LANGUAGE_COOKIE } from "./phrase.ts";
import { openOrderBook, type Order } from "./orders.ts";
import { outcomeOf } from "./outcome.ts";
import { checkoutToken, newSession, readSession, sessionCookie } from "./session.ts";
import { listBanks } from "../../client/tpp/banks.ts";
import { describeFailure } from "../../client/tpp/failure.ts";
import type { Tpp } from "../../client/tpp/tpp.ts";

/** `tpp.redirectUri` must be `{shopUrl}/callback`. */
export interface ShopSettings extends FormTargets {
  readonly tpp: Tpp;
  readonly shopUrl: string;
  /** Logs one line for the operator. Default: no log. */
  readonly log?: (line: string) => void;
  /** Waits before a payment is submitted again. Default: a real delay. */
  readonly pause?: (milliseconds: number) => Promise<void>;
  /** Whether the shop subscribes to the platform's events at the first checkout with a bank. By default it does not. */
  readonly receivesEvents?: boolean;
}

interface Shop extends ShopDeps {
  readonly shopUrl: string;
  readonly events: EventReceiver;
  readonly receivesEvents: boolean;
  /** Orders that are being prepared, by the form and its session. */
  readonly underWay: Map<string, Promise<Order>>;
}

const maxFormBytes = 4096;
const maxEventBytes = 16_384;

/** The shop as a fetch handler. Keeps its orders in memory. */
export function composeShop(
  settings: ShopSettings,
): { readonly fetch: (request: Request) => Promise<Response> } {
  const { tpp, shopUrl } = settings;
  if (tpp.redirectUri !== `${shopUrl}/callback`) {
    throw new Error("The shop answers returns at {shopUrl}/callback only");
  }
  const deps: ShopDeps = {
    tpp,
    orders: openOrderBook(),
    log: settings.log ?? ((): void => {}),
    pause: settings.pause ??
      ((milliseconds): Promise<void> => new Promise((done) => setTimeout(done, milliseconds))),
  };
  const events = openEventReceiver(deps, `${shopUrl}/events`);
  const { receivesEvents = false } = settings;
  const shop: Shop = { ...deps, shopUrl, events, receivesEvents, underWay: new Map() };
  const app = routes(shop, settings);
  return { fetch: async (request): Promise<Response> => await app.fetch(request) };
}

function routes(shop: Shop, targets: FormTargets): Hono<ShopEnv> {
  const app = new Hono<ShopEnv>();
  app.use(shopHeaders(shop.shopUrl, targets));
  app.get("/", (c) => showGoods(shop, c));
  app.post("/checkout", bodyLimit({ maxSize: maxFormBytes, onError: tooLong }), (c) => checkout(shop, c));
  app.post(
    "/events",
    bodyLimit({ maxSize: maxEventBytes, onError: tooLong }),
    (c) => shop.events.receive(c.req.raw),
  );
  app.get("/callback", (c) => customerReturn(shop, c));
  app.get("/orders/:id", (c) => showOrder(shop, c));
  app.get("/orders/:id/messages", (c) => showMessages(shop, c));
  app.get("/orders/:id/messages/:number{[1-9][0-9]{0,2}}", (c) => showMessage(shop, c));
  app.get("/orders/:id/messages.json", (c) => messagesJson(shop, c));
  app.get("/assets/shop.css", (c) => asset(c, shopStylesheet, "text/css; charset=utf-8"));
  app.get("/assets/shop.svg", (c) => asset(c, shopIcon, "image/svg+xml"));
  app.get("/assets/order.js", (c) => asset(c, orderScript, "text/javascript; charset=utf-8"));
  app.notFound((c) => notFound(c));
  app.onError((error, c) => {
    shop.log(`shop failed: ${describeFailure(error)}`);
    return notice(c, 500, "failed");
  });
  return app;
}

/** Every form contains the anti-forgery token of this browser's session. */
async function showGoods(shop: Shop, c: Context): Promise<Response> {
  const known = session(shop, c);
  const own = known ?? newSession();
  if (known === undefined) c.header("set-cookie", sessionCookie(own, shop.shopUrl), { append: true });
  const csrf = await checkoutToken(own);
  // Without the states the customer chooses as ever.
  const offered = await listBanks(shop.tpp).catch(() => []);
  const states = new Map(offered.map(({ bank, state }) => [bank, state]));
  return await page(
    c,
    200,
    GoodsPage({ reader: reader(c), goods, banks, states, csrf, orders: shop.orders.of(own) }),
  );
}

/** Processes the checkout form and redirects the customer to the bank. */
async function checkout(shop: Shop, c: Context): Promise<Response> {
  const origin = c.req.header("origin");
  // Every browser sends Origin with a form post. Forms of other sites are rejected.
  if (origin !== undefined && origin !== new URL(shop.shopUrl).origin) {
    return notice(c, 403, "origin");
  }
  const form = new URLSearchParams(await c.req.text());
  const own = session(shop, c);
  const csrf = own === undefined ? undefined : await checkoutToken(own);
  if (own === undefined) return notice(c, 403, "cookies");
  if (form.get("csrf") !== csrf) return notice(c, 403, "origin");
  const [item, bank, account] = ["item", "bank", "account"].map((name) => form.get(name) ?? "");
  const good = goods.find((candidate) => candidate.id === item);
  const bankCode = banks.find((candidate) => candidate.code === bank)?.code;
  if (good === undefined || bankCode === undefined) {
    return notice(c, 400, "choice");
  }
  const debtorIban = (account ?? "").replaceAll(" ", "").toUpperCase();
  if (debtorIban !== "" && !isIban(debtorIban)) {
    return faulty(c, { item: good.id, bank: bankCode, account: account ?? "" }, await checkoutToken(own));
  }
  const { language } = reader(c);
  const choice = {
    session: own,
    good,
    bank: bankCode,
    language,
    ...(debtorIban === "" ? {} : { debtorIban }),
  };
  if (shop.receivesEvents) void shop.events.subscribe(bankCode);
  const order = await prepareOnce(shop, choice);
  c.header("set-cookie", sessionCookie(own, shop.shopUrl));
  return c.redirect(order.state.phase === "at_bank" ? order.state.pending.url : orderPath(order), 303);
}

/** A double click is one order. */
async function prepareOnce(shop: Shop, choice: CheckoutCommand): Promise<Order> {
  const { session, good, bank, debtorIban = "" } = choice;
  const name = [session, good.id, bank, debtorIban].join(" ");
  const order = shop.underWay.get(name) ?? startCheckout(shop, choice);
  shop.underWay.set(name, order);
  return await order.finally(() => shop.underWay.delete(name));
}

/** The customer's return from the bank, with a code or an error. */
async function customerReturn(shop: Shop, c: Context): Promise<Response> {
  if (c.req.method !== "GET") return notFound(c); // Hono sends HEAD here too
  const callback = new URL(shop.tpp.redirectUri);
  callback.search = new URL(c.req.url).search;
  const order = shop.orders.findByState(callback.searchParams.get("state") ?? "", session(shop, c));
  if (order === undefined) return strayReturn(c);
  try {
    return c.redirect(orderPath(await finishCheckout(shop, order, callback)), 303);
  } catch (error) {
    shop.log(`order ${order.id}: return rejected: ${describeFailure(error)}`);
    return strayReturn(c);
  }
}

async function showOrder(shop: Shop, c: Context<ShopEnv>): Promise<Response> {
  const order = orderOf(shop, c);
  if (order === undefined) return notFound(c);
  const seen = await refreshPayment(shop, order);
  c.set("ownScript", !outcomeOf(seen.state).isFinal);
  return page(c, 200, OrderPage({ reader: reader(c), order: seen }));
}

function showMessages(shop: Shop, c: Context): Response | Promise<Response> {
  const order = orderOf(shop, c);
  if (order === undefined) return notFound(c);
  return page(c, 200, MessagesPage({ order }));
}

function showMessage(shop: Shop, c: Context): Response | Promise<Response> {
  const order = orderOf(shop, c);
  const { authUrl } = shop.tpp;
  const content = order && MessagePage({ order, number: Number(c.req.param("number")), authUrl });
  return content === undefined ? notFound(c) : page(c, 200, content);
}

function messagesJson(shop: Shop, c: Context): Response | Promise<Response> {
  const order = orderOf(shop, c);
  if (order === undefined) return notFound(c);
  return asset(c, JSON.stringify(messagesAsData(order), null, 2), "application/json; charset=utf-8");
}

/** The order in the URL, if this browser created it. */
function orderOf(shop: Shop, c: Context): Order | undefined {
  return shop.orders.find(c.req.param("id") ?? "", session(shop, c));
}

function session(shop: Shop, c: Context): string | undefined {
  return readSession(c.req.header("cookie"), shop.shopUrl);
}

function orderPath(order: Order): string {
  return `/orders/${order.id}`;
}

function faulty(c: Context, fault: CheckoutFault, csrf: string): Promise<Response> {
  return page(c, 422, GoodsPage({ reader: { ...reader(c), path: "/" }, goods, banks, csrf, fault }));
}

function strayReturn(c: Context): Promise<Response> {
  return notice(c, 400, "stray");
}

function notFound(c: Context): Promise<Response> {
  return notice(c, 404, "not_found");
}

function tooLong(c: Context): Promise<Response> {
  return notice(c, 413, "too_long");
}

function reader(c: Context): Reader {
  return readerOf(c, LANGUAGE_COOKIE);
}

function asset(c: Context, text: string, type: string): Response {
  return c.body(text, 200, { "content-type": type });
}

type Status = 200 | 400 | 403 | 404 | 413 | 422 | 500;

function notice(c: Context, status: Status, what: Notice): Promise<Response> {
  // A POST URL cannot be opened in another language.
  const here = c.req.method === "GET" ? reader(c) : { ...reader(c), path: "/" };
  return page(c, status, NoticePage({ reader: here, notice: what }));
}

async function page(c: Context, status: Status, content: JSX.Element): Promise<Response> {
  return await c.html(renderDocument(content), status);
}
