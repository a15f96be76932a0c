/** The routes of the playground. Its screens stand in frames of its own page only, and their forms send nothing. */
import type { Context, Hono } from "hono";
import { renderDocument } from "../../pages/html_document.tsx";
import { renderConsentPage } from "../../pages/consent_page.tsx";
import { FONT_TYPE, fontFiles } from "../../pages/fonts.ts";
import { STYLESHEET, STYLESHEET_PATH } from "../../pages/stylesheet.ts";
import { STYLESHEET as BANK_STYLESHEET } from "../bank/bank_app.ts";
import { type PartAddresses, PLAYGROUND_PATH, SCRIPT_PATH } from "./frame.tsx";
import { type Edited, platformView, readEdited } from "./playground.ts";
import { BankScreen, PlaygroundPage, queryOf } from "./playground_page.tsx";
import script from "./playground.js" with { type: "text" };

const OWN = "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; base-uri 'none'; ";
const PAGE_POLICY =
  `${OWN}form-action 'self'; frame-ancestors 'none'; script-src 'self'; connect-src 'self'; ` +
  "frame-src 'self'";
const SCREEN_POLICY = `${OWN}form-action 'none'; frame-ancestors 'self'`;
const CSS = "text/css; charset=utf-8";

const SCREEN_FONTS = fontFiles(STYLESHEET_PATH);

/** The style sheets that the screens name, and their fonts. */
export const SCREEN_ASSETS: ReadonlySet<string> = new Set([
  STYLESHEET_PATH,
  "/assets/bank.css",
  ...SCREEN_FONTS.map(([path]) => path),
]);

/** Call it before the routes' own headers are added: these replace them. */
export function addPlaygroundHeaders(app: Hono): void {
  app.use(`${PLAYGROUND_PATH}/*`, async (c, next) => {
    await next();
    const isScreen = c.req.path !== PLAYGROUND_PATH;
    c.header("content-security-policy", isScreen ? SCREEN_POLICY : PAGE_POLICY);
    if (isScreen) c.header("x-frame-options", "SAMEORIGIN");
  });
}

export function addPlayground(app: Hono, { addresses, now }: {
  readonly addresses: PartAddresses;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
}): void {
  app.get(PLAYGROUND_PATH, (c) => c.html(renderDocument(PlaygroundPage({ addresses, edited: editedOf(c) }))));
  app.get(`${PLAYGROUND_PATH}/platform`, (c) => {
    const edited = editedOf(c);
    const hrefOf = (language: Edited["language"]): string =>
      `${PLAYGROUND_PATH}/platform?${queryOf(edited, language)}`;
    return c.html(renderConsentPage(platformView(edited, hrefOf, now()), edited.language));
  });
  app.get(`${PLAYGROUND_PATH}/bank`, (c) => c.html(renderDocument(BankScreen({ edited: editedOf(c) }))));
  app.get(SCRIPT_PATH, (c) => c.body(script, 200, { "content-type": "text/javascript; charset=utf-8" }));
  app.get(STYLESHEET_PATH, (c) => c.body(STYLESHEET, 200, { "content-type": CSS }));
  for (const [path, bytes] of SCREEN_FONTS) {
    app.get(path, (c) => c.body(bytes, 200, { "content-type": FONT_TYPE }));
  }
  app.get("/assets/bank.css", (c) => c.body(BANK_STYLESHEET, 200, { "content-type": CSS }));
}

function editedOf(c: Context): Edited {
  return readEdited(new URL(c.req.url).searchParams);
}
