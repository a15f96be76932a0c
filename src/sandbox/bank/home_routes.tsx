/** Routes outside a visit: the list of banks, a bank's own page, and the error page. */
import { type Context, Hono } from "hono";
import { readerOf } from "../pages/reader.ts";
import type { Bank } from "./bank.ts";
import type { BankProfile } from "./bank_profile.ts";
import { BankHomePage, BankListPage, ProblemPage } from "./information_pages.tsx";
import { LANGUAGE_COOKIE } from "./page_phrase.ts";
import { renderPage } from "./page_frame.tsx";

const problems = { 404: "not_found", 503: "unavailable" } as const;

/** Routes below `/{CODE}`. */
export function homeRoutes({ profile, customers, ledger }: Bank): Hono {
  const routes = new Hono();
  routes.get("/", async (c) => {
    const balances = await ledger.balances();
    const reader = readerOf(c, LANGUAGE_COOKIE);
    return await renderPage(
      c,
      <BankHomePage reader={reader} profile={profile} customers={customers} balances={balances} />,
    );
  });
  return routes;
}

/** The list of banks. */
export function bankListPage(c: Context, profiles: readonly BankProfile[]): Response | Promise<Response> {
  return renderPage(c, <BankListPage reader={readerOf(c, LANGUAGE_COOKIE)} profiles={profiles} />);
}

/** The error page for an unknown address or a visit that cannot continue. */
export function problemPage(c: Context, status: keyof typeof problems): Response | Promise<Response> {
  const reader = readerOf(c, LANGUAGE_COOKIE);
  return renderPage(c, <ProblemPage reader={reader} problem={problems[status]} />, status);
}
