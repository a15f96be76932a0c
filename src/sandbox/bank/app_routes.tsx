/**
 * The bank's app on another device, played by pages that any other browser opens. The customer has signed in where the
 * handover was opened. The result is delivered on the back channel, and that browser goes on (contract ARS5).
 */
import { Hono } from "hono";
import { readerOf } from "../pages/reader.ts";
import { AppDonePage } from "./app_pages.tsx";
import type { Bank } from "./bank.ts";
import { LANGUAGE_COOKIE } from "./page_phrase.ts";
import { renderPage } from "./page_frame.tsx";
import { continueVisit, takeEntry } from "./sca_visit.ts";
import { appPath } from "./visit_cookie.ts";
import { type ConnectionEnv, formLimit, pageOf, problemPage, readEntry, visitOver } from "./visit_routes.tsx";

/** Routes below `/{CODE}`. */
export function appRoutes(bank: Bank): Hono<ConnectionEnv> {
  const routes = new Hono<ConnectionEnv>();
  const { profile: { code }, profile, sessions } = bank;
  routes.get("/app/:app", async (c) => {
    const session = sessions.findInApp(code, c.req.param("app"));
    if (session === undefined) return visitOver(c, bank);
    const reader = readerOf(c, LANGUAGE_COOKIE, session.handover.uiLocales);
    const outcome = await continueVisit(bank, session);
    const page = outcome.go === "platform" ? undefined : await pageOf(bank, session, reader);
    return renderPage(c, page ?? <AppDonePage reader={reader} profile={profile} />);
  });
  routes.post("/app/:app", formLimit(bank), async (c) => {
    const app = c.req.param("app");
    const entry = await readEntry(c);
    const session = sessions.findInApp(code, app); // not before the wait: another entry may have changed it
    if (session === undefined) return visitOver(c, bank);
    if (entry === undefined || entry["csrf"] !== session.csrf) return problemPage(c, bank, "form", 403);
    await takeEntry(bank, session, entry);
    return c.redirect(appPath(code, app), 303);
  });
  return routes;
}
