/** The check of every page behind the sign-in: a session, a role, and for a form the token of its session. */
import { createMiddleware } from "hono/factory";
import { type Form, readForm } from "../base/http/body.ts";
import type { Check } from "../base/http/endpoint.ts";
import { drawNotice } from "./notice_page.tsx";
import { HOME_PATH, isOwnForm, safeNext, SIGN_IN_PATH } from "./paths.ts";
import type { ConsoleProgram } from "./program.ts";
import { addressOf, languageOf, openVisit, type Visit } from "./visit.ts";

export interface VisitVariables {
  visit: Visit;
}

const NO_FORM: Form = new Map();

/**
 * Check: opens the visit of a signed-in person.
 *
 * @param page such as `GET /console/keys`
 * @param name of the check
 */
export function signedIn(program: ConsoleProgram, page: string, name: string): Check {
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
    c.set("visit", openVisit(c, program, { session, form }));
    await next();
  });
  return Object.defineProperty(guard, "name", { value: name }) as Check;
}
