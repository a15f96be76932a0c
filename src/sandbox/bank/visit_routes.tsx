/** Browser routes of a visit: the platform's redirect comes in, a page per step, every form is answered with 303. */
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { JSX } from "hono/jsx/jsx-runtime";
import type { Bank } from "./bank.ts";
import { CodePage } from "./code_page.tsx";
import { ConsentPage } from "./consent_page.tsx";
import { ProblemPage } from "./information_pages.tsx";
import { LoginPage } from "./login_page.tsx";
import { HandoverRefused } from "./open_handover.ts";
import { renderPage } from "./render_page.ts";
import { type FormEntry, startVisit, takeEntry, type VisitOutcome } from "./sca_visit.ts";
import type { ScaSession } from "./sessions.ts";
import { giveVisitCookie, readVisitCookie, visitPath } from "./visit_cookie.ts";

/** What the server tells about a connection. */
export interface ConnectionEnv {
  readonly Bindings: { readonly customerIp?: string };
}

const maxFormBytes = 8192;

/** Routes below `/{CODE}`. */
export function visitRoutes(bank: Bank, banksUrl: string): Hono<ConnectionEnv> {
  const routes = new Hono<ConnectionEnv>();
  routes.get("/sca", (c) => arrive(c, bank, banksUrl));

  routes.get("/sca/:flow", async (c) => {
    const session = bank.sessions.find(readVisitCookie(c, banksUrl), bank.profile.code, c.req.param("flow"));
    const page = session === undefined ? undefined : await pageOf(bank, session);
    return await (page === undefined ? visitOver(c, bank) : renderPage(c, page));
  });

  routes.post("/sca/:flow", bodyLimit({ maxSize: maxFormBytes }), async (c) => {
    const entry = await readEntry(c);
    const session = bank.sessions.find(readVisitCookie(c, banksUrl), bank.profile.code, c.req.param("flow"));
    if (session === undefined) return visitOver(c, bank);
    if (entry === undefined || entry["csrf"] !== session.csrf) {
      bank.log("sca.entry_refused", { bank: bank.profile.code });
      return renderPage(
        c,
        problem(bank, "Please start again", "This form does not belong to your visit."),
        403,
      );
    }
    return redirectTo(c, await takeEntry(bank, session, entry));
  });
  return routes;
}

async function arrive(c: Context<ConnectionEnv>, bank: Bank, banksUrl: string): Promise<Response> {
  // A HEAD must not use up the JWT.
  if (c.req.method !== "GET") return c.body(null, 405, { allow: "GET" });
  const [oAuthUrl, ...more] = c.req.queries("oAuthUrl") ?? [];
  if (oAuthUrl === undefined || more.length > 0) return refuseArrival(c, bank, "oAuthUrl is not there once");
  try {
    const outcome = await startVisit(bank, { oAuthUrl, customerIp: c.env?.customerIp ?? "127.0.0.1" });
    if (outcome.go === "page") giveVisitCookie(c, banksUrl, outcome.session);
    return redirectTo(c, outcome);
  } catch (error) {
    if (error instanceof HandoverRefused) return refuseArrival(c, bank, error.message);
    throw error;
  }
}

async function pageOf(bank: Bank, session: ScaSession): Promise<JSX.Element | undefined> {
  const { profile, ledger } = bank;
  switch (session.step.at) {
    case "login":
      return <LoginPage profile={profile} session={session} />;
    case "code":
      return <CodePage profile={profile} session={session} />;
    case "consent": {
      const { accounts } = session.step.customer;
      const balances = await ledger.balances();
      return <ConsentPage profile={profile} session={session} accounts={accounts} balances={balances} />;
    }
    case "returned":
      return undefined;
  }
}

function redirectTo(c: Context, outcome: VisitOutcome): Response {
  if (outcome.go === "platform") return c.redirect(outcome.url, 303);
  return c.redirect(visitPath(outcome.session.bankCode, outcome.session.flow), 303);
}

/** The fields of the form, undefined when it is no form or names a field twice. */
async function readEntry(c: Context): Promise<FormEntry | undefined> {
  const mediaType = c.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (mediaType !== "application/x-www-form-urlencoded") return undefined;
  const fields = [...new URLSearchParams(await c.req.text())];
  const entry = new Map(fields);
  return entry.size === fields.length ? Object.fromEntries(entry) : undefined;
}

// One text for every cause: what exactly was wrong with a JWT is nothing for whoever made it (checklist BR17).
function refuseArrival(c: Context, bank: Bank, reason: string): Response | Promise<Response> {
  bank.log("sca.arrival_refused", { bank: bank.profile.code, reason });
  const message = "This link is not valid, or it has been used before. Go back to the shop and start again.";
  return renderPage(c, problem(bank, "This link cannot be used", message), 400);
}

function visitOver(c: Context, bank: Bank): Response | Promise<Response> {
  const message = "This visit has ended. Go back to the shop to see what became of your payment.";
  return renderPage(c, problem(bank, "Your visit is over", message), 410);
}

function problem(bank: Bank, title: string, message: string): JSX.Element {
  return <ProblemPage owner={bank.profile.displayName} title={title} message={message} />;
}
