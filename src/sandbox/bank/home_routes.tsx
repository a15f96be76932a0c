/** Routes and answers outside a visit: the list of banks, a bank's page, and what to show when there is nothing. */
import { type Context, Hono } from "hono";
import type { Bank } from "./bank.ts";
import type { BankProfile } from "./bank_profile.ts";
import { BankHomePage, BankListPage, ProblemPage } from "./information_pages.tsx";
import { renderPage } from "./render_page.ts";

const problems = {
  404: ["Page not found", "There is nothing at this address."],
  503: ["Try again in a moment", "The bank cannot go on right now. Reload the page, or go back to the shop."],
} as const;

/** Routes below `/{CODE}`. */
export function homeRoutes({ profile, customers, ledger }: Bank): Hono {
  const routes = new Hono();
  routes.get("/", async (c) => {
    const balances = await ledger.balances();
    return await renderPage(c, <BankHomePage profile={profile} customers={customers} balances={balances} />);
  });
  return routes;
}

/** The list of banks. */
export function bankListPage(c: Context, profiles: readonly BankProfile[]): Response | Promise<Response> {
  return renderPage(c, <BankListPage profiles={profiles} />);
}

/** The page for an address or a moment that has no better one. */
export function problemPage(c: Context, status: keyof typeof problems): Response | Promise<Response> {
  const [title, message] = problems[status];
  return renderPage(c, <ProblemPage owner="Sandbox banks" title={title} message={message} />, status);
}
