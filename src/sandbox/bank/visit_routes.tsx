/** Browser routes of a visit: the platform's redirect, one page per step, and forms that are answered with 303. */
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { JSX } from "hono/jsx/jsx-runtime";
import { type Reader, readerOf } from "../pages/reader.ts";
import type { Bank } from "./bank.ts";
import { CodePage } from "./code_page.tsx";
import { ConsentPage } from "./consent_page.tsx";
import { type Problem, ProblemPage } from "./information_pages.tsx";
import { LoginPage } from "./login_page.tsx";
import { HandoverRejected } from "../../client/bank/open_handover.ts";
import { LANGUAGE_COOKIE } from "./page_phrase.ts";
import { renderPage } from "./page_frame.tsx";
import { continueVisit, type FormEntry, startVisit, takeEntry } from "./sca_visit.ts";
import type { ScaSession, VisitOutcome } from "./sessions.ts";
import { AppWaitPage } from "./app_pages.tsx";
import { appPath, giveVisitCookie, readVisitCookie, visitPath } from "./visit_cookie.ts";

/** The connection information that the server adds. */
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
    if (session === undefined) return visitOver(c, bank);
    const outcome = await continueVisit(bank, session);
    if (outcome.go === "platform") return redirectTo(c, outcome);
    if (session.app !== undefined) return waitForApp(c, bank, session, session.app);
    const page = await pageOf(bank, session, readerOf(c, LANGUAGE_COOKIE, session.handover.uiLocales));
    return await (page === undefined ? visitOver(c, bank) : renderPage(c, page));
  });

  const limit = formLimit(bank);
  routes.post("/sca/:flow", limit, async (c) => {
    const entry = await readEntry(c);
    const session = bank.sessions.find(readVisitCookie(c, banksUrl), bank.profile.code, c.req.param("flow"));
    if (session === undefined) return visitOver(c, bank);
    if (entry === undefined || entry["csrf"] !== session.csrf) {
      bank.log("sca.entry_refused", { bank: bank.profile.code });
      return problemPage(c, bank, "form", 403);
    }
    if (session.app !== undefined) return redirectTo(c, await continueVisit(bank, session));
    return redirectTo(c, await takeEntry(bank, session, entry));
  });
  return routes;
}

async function arrive(c: Context<ConnectionEnv>, bank: Bank, banksUrl: string): Promise<Response> {
  // A HEAD must not use up the JWT.
  if (c.req.method !== "GET") return c.body(null, 405, { allow: "GET" });
  const [oAuthUrl, ...more] = c.req.queries("oAuthUrl") ?? [];
  if (oAuthUrl === undefined || more.length > 0) return rejectArrival(c, bank, "oAuthUrl is not there once");
  try {
    const outcome = await startVisit(bank, { oAuthUrl, customerIp: c.env?.customerIp ?? "127.0.0.1" });
    if (outcome.go === "page") giveVisitCookie(c, banksUrl, outcome.session);
    return redirectTo(c, outcome);
  } catch (error) {
    if (error instanceof HandoverRejected) return rejectArrival(c, bank, error.message);
    throw error;
  }
}

/** This browser looks every 2 s whether the customer has confirmed in the app. */
function waitForApp(c: Context, bank: Bank, session: ScaSession, app: string): Response | Promise<Response> {
  const reader = readerOf(c, LANGUAGE_COOKIE, session.handover.uiLocales);
  const address = new URL(appPath(session.bankCode, app), c.req.url).href;
  c.header("refresh", "2");
  return renderPage(c, <AppWaitPage reader={reader} profile={bank.profile} address={address} />);
}

export async function pageOf(
  bank: Bank,
  session: ScaSession,
  reader: Reader,
): Promise<JSX.Element | undefined> {
  const { profile, ledger } = bank;
  switch (session.step.at) {
    case "login":
      return <LoginPage reader={reader} profile={profile} session={session} />;
    case "code":
      return <CodePage reader={reader} profile={profile} session={session} />;
    case "consent": {
      const { accounts } = session.step.customer;
      const balances = await ledger.balances();
      const page = { reader, profile, session, accounts, balances };
      return <ConsentPage {...page} />;
    }
    case "returned":
      return undefined;
  }
}

function redirectTo(c: Context, outcome: VisitOutcome): Response {
  if (outcome.go === "platform") return c.redirect(outcome.url, 303);
  return c.redirect(visitPath(outcome.session.bankCode, outcome.session.flow), 303);
}

export function formLimit(bank: Bank): ReturnType<typeof bodyLimit> {
  return bodyLimit({
    maxSize: maxFormBytes,
    onError: (c) => {
      bank.log("sca.entry_refused", { bank: bank.profile.code });
      return problemPage(c, bank, "form", 413);
    },
  });
}

/** The fields of the form, or undefined if the body is not a form or repeats a field. */
export async function readEntry(c: Context): Promise<FormEntry | undefined> {
  const mediaType = c.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (mediaType !== "application/x-www-form-urlencoded") return undefined;
  const fields = [...new URLSearchParams(await c.req.text())];
  const entry = new Map(fields);
  return entry.size === fields.length ? Object.fromEntries(entry) : undefined;
}

// One text for every cause: the sender of an invalid JWT must not learn what was wrong with it (contract BR17).
function rejectArrival(c: Context, bank: Bank, reason: string): Response | Promise<Response> {
  bank.log("sca.arrival_refused", { bank: bank.profile.code, reason });
  return problemPage(c, bank, "link", 400);
}

export function visitOver(c: Context, bank: Bank): Response | Promise<Response> {
  return problemPage(c, bank, "over", 410);
}

export function problemPage(
  c: Context,
  bank: Bank,
  problem: Problem,
  status: 400 | 403 | 410 | 413,
): Response | Promise<Response> {
  const reader = readerOf(c, LANGUAGE_COOKIE);
  return renderPage(
    c,
    <ProblemPage reader={reader} owner={bank.profile.displayName} problem={problem} />,
    status,
  );
}
