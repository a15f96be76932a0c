/**
 * The sandbox's pages for developers, on the shop's port. They send requests as a TPP, so they answer forms of their own
 * pages only: the address, the origin and the session's token are checked. They exist in a sandbox alone.
 */
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { JSX } from "hono/jsx/jsx-runtime";
import { renderDocument } from "../../pages/html_document.tsx";
import { FONT_TYPE, fontFiles } from "../../pages/fonts.ts";
import { ICON, STYLESHEET } from "../../pages/stylesheet.ts";
import { banks } from "../shop/catalogue.ts";
import { type FormTargets, shopHeaders } from "../shop/headers.ts";
import { checkoutToken, newSession, readSession, sessionCookie } from "../shop/session.ts";
import { DeveloperPage, ICON_PATH, STYLE_PATH } from "./frame.tsx";
import { type Operation, operationOf, type ShopAddresses, TRY_PATH, tryPath } from "./operations.ts";
import { addPlayground, addPlaygroundHeaders, SCREEN_ASSETS } from "./playground_routes.tsx";
import { openSigners, type Signers, type Signing, type TppSource } from "./signers.ts";
import style from "./developer.css" with { type: "text" };
import { TryIndex } from "./try_index.tsx";
import { TryPage } from "./try_page.tsx";
import { type Fields, openWalks, type TokenKind, type Walk, type Walks } from "./walk.ts";

export interface DeveloperSettings extends FormTargets {
  /** They sign and send. */
  readonly tpps: TppSource;
  readonly shopUrl: string;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
}

/** The pages, and the returns of customers whose authorization began on them. */
export interface DeveloperPages {
  handles(request: Request): boolean;
  fetch(request: Request): Promise<Response>;
}

interface Deps extends DeveloperSettings {
  readonly walks: Walks;
  readonly signers: Signers;
}

const MAX_FORM_BYTES = 65_536;

export function composeDeveloperPages(settings: DeveloperSettings): DeveloperPages {
  const deps: Deps = { ...settings, walks: openWalks(), signers: openSigners(settings.tpps) };
  const app = routes(deps);
  return {
    handles: (request) => {
      const { pathname } = new URL(request.url);
      return /^\/developer(\/|$)/.test(pathname) || SCREEN_ASSETS.has(pathname) ||
        (pathname === "/callback" && awaiting(deps, request) !== undefined);
    },
    fetch: async (request) => await app.fetch(request),
  };
}

function routes(deps: Deps): Hono {
  const app = new Hono();
  addPlaygroundHeaders(app);
  app.use(async (c, next) => {
    await next();
    c.header("content-security-policy", `${c.res.headers.get("content-security-policy")}; font-src 'self'`);
  });
  app.use(shopHeaders(deps.shopUrl, deps));
  app.use(async (c, next) => {
    // A name that another site made point to this computer is another origin (DNS rebinding).
    if (new URL(c.req.url).host !== new URL(deps.shopUrl).host) return notice(deps, c, 403, OTHER_HOST);
    return await next();
  });
  app.get("/developer", (c) => c.redirect(TRY_PATH, 303));
  app.get(
    STYLE_PATH,
    (c) => c.body(`${STYLESHEET}\n${style}`, 200, { "content-type": "text/css; charset=utf-8" }),
  );
  for (const [path, bytes] of fontFiles(STYLE_PATH)) {
    app.get(path, (c) => c.body(bytes, 200, { "content-type": FONT_TYPE }));
  }
  app.get(ICON_PATH, (c) => c.body(ICON, 200, { "content-type": "image/svg+xml" }));
  app.get(TRY_PATH, (c) => showIndex(deps, c));
  app.get(`${TRY_PATH}/:bank/:operation`, (c) => show(deps, c));
  const onError = (c: Context) => notice(deps, c, 413, "The form has more than 64 KiB.");
  app.post("*", bodyLimit({ maxSize: MAX_FORM_BYTES, onError }));
  app.post(TRY_PATH, (c) => choose(deps, c));
  app.post(`${TRY_PATH}/:bank/:operation`, (c) => send(deps, c));
  addPlayground(app, { addresses: deps, now: deps.now });
  app.get("/callback", (c) => takeReturn(deps, c));
  app.notFound((c) => notice(deps, c, 404, "There is no such page. Expected an operation of the list."));
  return app;
}

const OTHER_HOST = "This page answers at its own address only. Open it from the sandbox's API reference.";
const FOREIGN =
  "The form did not come from this page. Allow cookies, open the page again and send the form there.";

async function showIndex({ walks, signers, ...deps }: Deps, c: Context): Promise<Response> {
  const session = sessionOf(deps, c);
  const { name } = await signers.of(session);
  const view = {
    addresses: deps,
    walks: banks.map(({ code }) => [code, walks.of(session, name, code)] as const),
    signer: name,
    signers: await signers.names(),
    csrf: await checkoutToken(session),
  };
  return await page(c, 200, TryIndex(view));
}

/** Chooses the TPP that signs for this session, or makes one and chooses it. */
async function choose(deps: Deps, c: Context): Promise<Response> {
  const { signers } = deps;
  const own = await ownForm(deps, c);
  if (own === undefined) return await notice(deps, c, 403, FOREIGN);
  const name = own.form.get("name")?.trim() ?? "";
  try {
    if (own.form.has("make")) await signers.make(name);
    if (await signers.choose(own.session, name)) return c.redirect(TRY_PATH, 303);
  } catch (error) {
    return await notice(deps, c, 400, error instanceof Error ? error.message : "The TPP cannot be used.");
  }
  return await notice(deps, c, 400, "There is no such TPP. Expected one of the list.");
}

async function show(deps: Deps, c: Context): Promise<Response> {
  const { bank, operation } = readChoice(c);
  if (bank === undefined || operation === undefined) return await c.notFound();
  const session = sessionOf(deps, c);
  const signing = await deps.signers.of(session);
  const walk = deps.walks.of(session, signing.name, bank);
  const attempt = c.req.query("new") === undefined ? walk.attempts.get(operation.id) : undefined;
  const shop = addressesOf(deps, signing);
  const fields = attempt?.fields ?? { ...prefillFields(shop, operation, walk), ...readFields(c, operation) };
  const csrf = await checkoutToken(session);
  const view = { addresses: deps, bank, operation, fields, walk, attempt, csrf, signer: signing.name, shop };
  return await page(c, 200, TryPage({ ...view, now: deps.now() }));
}

/** Sends the request, and shows the answer at an address that can be reloaded without sending it again. */
async function send(deps: Deps, c: Context): Promise<Response> {
  const { bank, operation } = readChoice(c);
  if (bank === undefined || operation === undefined) return await c.notFound();
  const own = await ownForm(deps, c);
  if (own === undefined) return await notice(deps, c, 403, FOREIGN);
  const { name, sender } = await deps.signers.of(own.session);
  const walk = deps.walks.of(own.session, name, bank);
  walk.attempts.set(operation.id, await sender.send(walk, bank, operation, fieldsOf(own.form)));
  return c.redirect(`${tryPath(bank, operation.id)}#answer`, 303);
}

/** The form, if it comes from a page of this session. */
async function ownForm(
  { shopUrl }: DeveloperSettings,
  c: Context,
): Promise<{ readonly session: string; readonly form: URLSearchParams } | undefined> {
  const session = readSession(c.req.header("cookie"), shopUrl);
  const form = new URLSearchParams(await c.req.text());
  const isOwn = c.req.header("origin") === new URL(shopUrl).origin && session !== undefined &&
    form.get("csrf") === await checkoutToken(session);
  return isOwn ? { session, form } : undefined;
}

/** The customer's return: the token page goes on with the code, or says what was wrong with it. */
async function takeReturn(deps: Deps, c: Context): Promise<Response> {
  const waiting = awaiting(deps, c.req.raw);
  if (waiting === undefined) return await c.notFound();
  const callback = new URL(`${deps.shopUrl}/callback`);
  callback.search = new URL(c.req.url).search;
  try {
    const { sender } = await deps.signers.named(waiting.signer);
    await sender.takeReturn(waiting.walk, waiting.bank, callback);
  } catch (error) {
    const { error: code, error_description: description } = Object.fromEntries(callback.searchParams);
    const told = code === undefined ? String(error) : `${code}: ${description ?? ""}`;
    return notice(deps, c, 400, `The customer came back without a code. ${told}`);
  }
  return c.redirect(`${tryPath(waiting.bank, "issueAccessToken")}?new`, 303);
}

/** Where customers and events of the TPP go. */
function addressesOf({ shopUrl }: DeveloperSettings, { tpp: { redirectUri } }: Signing): ShopAddresses {
  const eventsUri = new URL("/events", redirectUri).href;
  return { redirectUri, eventsUri, returnsHere: redirectUri === `${shopUrl}/callback` };
}

function awaiting({ walks, shopUrl }: Deps, request: Request): ReturnType<Walks["awaiting"]> {
  const state = new URL(request.url).searchParams.get("state") ?? "";
  return walks.awaiting(readSession(request.headers.get("cookie") ?? undefined, shopUrl), state);
}

function readChoice(
  c: Context,
): { readonly bank?: string | undefined; readonly operation: Operation | undefined } {
  const bank = banks.find(({ code }) => code === c.req.param("bank"))?.code;
  return { bank, operation: operationOf(c.req.param("operation") ?? "") };
}

function prefillFields(shop: ShopAddresses, operation: Operation, walk: Walk): Fields {
  const { body = "", id = "" } = operation.prefill?.(walk, shop) ?? {};
  const key = operation.hasKey === true ? crypto.randomUUID() : "";
  return { body, id, query: "", key, token: operation.token ?? "client_credentials" };
}

/** Forms have CRLF at the ends of lines; what is sent has the lines as they are shown. */
function fieldsOf(form: URLSearchParams): Fields {
  const text = (name: string): string => (form.get(name) ?? "").replaceAll("\r\n", "\n");
  const token: TokenKind = text("token") === "authorization_code"
    ? "authorization_code"
    : "client_credentials";
  return { body: text("body"), id: text("id").trim(), query: text("query"), key: text("key").trim(), token };
}

/** The body that a link of the playground brings. It is shown, and sent only by the form. */
function readFields(c: Context, { body }: Operation): Partial<Fields> {
  const text = c.req.query("body") ?? "";
  return body === "signed" && text !== "" ? { body: text } : {};
}

function sessionOf({ shopUrl }: DeveloperSettings, c: Context): string {
  const known = readSession(c.req.header("cookie"), shopUrl);
  if (known !== undefined) return known;
  const own = newSession();
  c.header("set-cookie", sessionCookie(own, shopUrl));
  return own;
}

function notice(
  deps: Deps,
  c: Context,
  status: 400 | 403 | 404 | 413,
  text: string,
): Response | Promise<Response> {
  return page(c, status, DeveloperPage({ title: "Not sent", lead: text, addresses: deps }));
}

function page(
  c: Context,
  status: 200 | 400 | 403 | 404 | 413,
  content: JSX.Element,
): Response | Promise<Response> {
  return c.html(renderDocument(content), status);
}
