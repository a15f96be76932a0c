/** The platform's pages on a loopback port, under the browser host's content security policy, without the platform. */
import { renderConsentPage } from "../../src/pages/consent_page.tsx";
import { openDocs } from "../../src/portal/docs_page.tsx";
import { SCRIPT_PATH } from "../../src/portal/paths.ts";
import SCRIPT from "../../src/portal/portal.js" with { type: "text" };
import { errorCatalogue } from "../../src/platform/process/public_pages.ts";
import { renderErrorPage } from "../../src/pages/error_page.tsx";
import { chooseLanguage } from "../../src/pages/language.ts";
import { FONT_TYPE, fontFiles } from "../../src/pages/fonts.ts";
import { ICON, ICON_PATH, STYLESHEET, STYLESHEET_PATH } from "../../src/pages/stylesheet.ts";
import {
  consentView,
  DIRECTORY_FACTS,
  ERROR_PAGES,
  errorView,
  longestConsentView,
  referenceDocument,
} from "./ui_samples.ts";

const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; form-action 'self'; " +
  "base-uri 'none'; frame-ancestors 'none'";

/** A running site. */
export interface UiSite {
  readonly origin: string;
  /** Every form that was posted, oldest first, as its fields. */
  readonly posted: readonly Readonly<Record<string, string>>[];
  readonly stop: () => Promise<void>;
}

/** `/consent`, `/consent-none`, `/consent-longest`, `/error-<kind>` and the documentation below `/docs`, each with `?lang=`. */
export function openUiSite(): UiSite {
  const posted: Record<string, string>[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    const url = new URL(request.url);
    if (request.method === "POST") {
      posted.push(Object.fromEntries(new URLSearchParams(await request.text())));
      return page(renderErrorPage(errorView("finished"), "en"));
    }
    if (url.pathname === STYLESHEET_PATH) return asset(STYLESHEET, "text/css; charset=utf-8");
    const font = fontFiles(STYLESHEET_PATH).find(([path]) => path === url.pathname);
    if (font !== undefined) return new Response(font[1], { headers: { "content-type": FONT_TYPE } });
    if (url.pathname === ICON_PATH) return asset(ICON, "image/svg+xml");
    if (url.pathname === SCRIPT_PATH) return asset(SCRIPT, "text/javascript; charset=utf-8");
    if (url.pathname.startsWith("/docs")) return page(await drawDocs(url), "; script-src 'self'");
    return page(draw(url));
  });
  return { origin: `http://127.0.0.1:${server.addr.port}`, posted, stop: () => server.shutdown() };
}

function draw(url: URL): string {
  const language = chooseLanguage(undefined, url.searchParams.get("lang") ?? undefined);
  if (url.pathname === "/consent") return renderConsentPage(consentView(), language);
  if (url.pathname === "/consent-none") {
    const accounts = consentView().accounts.filter(({ canPay }) => !canPay);
    return renderConsentPage(consentView({ accounts }), language);
  }
  if (url.pathname === "/consent-longest") return renderConsentPage(longestConsentView(), language);
  const kind = ERROR_PAGES.find((name) => url.pathname === `/error-${name}`) ?? "not_found";
  const nextUrl = ["unavailable", "accepted", "finished"].includes(kind) ? "/on" : undefined;
  return renderErrorPage(errorView(kind, { nextUrl }), language);
}

/** The portal of {@link openUiSite}. */
export const DOCS = openDocs(referenceDocument(), {
  authUrl: "https://auth.example.com",
  errors: errorCatalogue(),
  directory: DIRECTORY_FACTS,
});

async function drawDocs(url: URL): Promise<string> {
  const query = url.searchParams.get("q");
  return query === null ? DOCS.page(url.pathname) ?? "" : await DOCS.find(query);
}

function page(html: string, policy = ""): Response {
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": CONTENT_SECURITY_POLICY + policy,
    "referrer-policy": "no-referrer",
  };
  return new Response(html, { headers });
}

function asset(text: string, type: string): Response {
  return new Response(text, { headers: { "content-type": type } });
}
