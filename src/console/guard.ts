/** The check of every page behind the sign-in: a session, a role, and for a form the token of its session. */
import { createMiddleware } from "hono/factory";
import { type Form, readForm } from "../base/http/body.ts";
import type { Check } from "../base/http/endpoint.ts";
import { drawNotice } from "./notice_page.tsx";
import { HOME_PATH, isOwnForm, PROVIDER_PATH, safeNext, SIGN_IN_PATH } from "./paths.ts";
import type { ConsoleProgram } from "./program.ts";
import { CONFIRMED_MS, PROVEN_MS } from "./session.ts";
import { renderContinue } from "./sign_in_page.tsx";
import { addressOf, languageOf, openVisit, type Visit } from "./visit.ts";

export interface VisitVariables {
  visit: Visit;
}

/** Longer than what the provider is asked for, so that its answer is recent enough. */
const OPENED_MS = CONFIRMED_MS + 120_000;

const NO_FORM: Form = new Map();

/**
 * Check: opens the visit of a signed-in person.
 *
 * @param page such as `GET /console/keys`
 * @param name of the check
 * @param isChange whether it makes a change, or has the form of one
 */
export function signedIn(program: ConsoleProgram, page: string, name: string, isChange: boolean): Check {
  const { sessions, log, numberOf } = program;
  const guard = createMiddleware<{ Variables: VisitVariables }>(async (c, next) => {
    const session = await sessions.find(c);
    if (session === undefined) {
      const query = new URLSearchParams({ next: safeNext(addressOf(c)) });
      return c.redirect(`${SIGN_IN_PATH}?${query}`, 303);
    }
    const { person } = session;
    const home = program.home(person);
    if (home !== HOME_PATH && c.req.path === HOME_PATH) return c.redirect(home, 303);
    if (!program.may(person, page)) {
      await log.forbidden(numberOf(c), person.name, `${c.req.method} ${c.req.path}`);
      return drawNotice(program, c, { status: 403, name: "forbidden", language: languageOf(c), session });
    }
    const form = c.req.method === "POST" ? await readForm(c) : NO_FORM;
    if (c.req.method === "POST" && !await isOwnForm(form, session.formToken)) {
      log.formRejected(numberOf(c), person.name);
      return drawNotice(program, c, { status: 403, name: "form", language: languageOf(c), session });
    }
    const isGet = c.req.method === "GET";
    if (isChange && !session.isProven(isGet ? OPENED_MS : PROVEN_MS)) {
      const next = `${PROVIDER_PATH}?${new URLSearchParams({ next: safeNext(addressOf(c)), confirm: "1" })}`;
      if (isGet) return c.redirect(next, 303);
      return c.html(renderContinue(program, { language: languageOf(c), next, title: "signIn.confirm" }), 403);
    }
    c.set("visit", openVisit(c, program, { session, form }));
    await next();
  });
  return Object.defineProperty(guard, "name", { value: name }) as Check;
}
