/** The check of every page behind the sign-in: a session, a role, and for a form the token of its session. */
import type { Context, Next } from "hono";
import { createMiddleware } from "hono/factory";
import { type Form, readForm } from "../base/http/body.ts";
import type { Check } from "../base/http/endpoint.ts";
import type { Clock } from "../base/kernel/clock.ts";
import { sha256 } from "../base/kernel/identifiers.ts";
import { openRecentlyUsed, type RecentlyUsed } from "../base/kernel/recently_used.ts";
import { drawNotice } from "./notice_page.tsx";
import { HOME_PATH, PROVIDER_PATH, safeNext, SIGN_IN_PATH } from "./paths.ts";
import type { ConsoleProgram } from "./program.ts";
import { CONFIRMED_MS, PROVEN_MS } from "./session.ts";
import { drawLate } from "./sign_in_page.tsx";
import { addressOf, languageOf, openVisit, type Visit } from "./visit.ts";

export interface VisitVariables {
  visit: Visit;
}

/** Longer than what the provider is asked for, so that its answer is recent enough. */
const OPENED_MS = CONFIRMED_MS + 120_000;

/** Forms of one page whose answers are kept: enough for all that people send at the same time. */
const MAX_ANSWERS = 16;
/** For so long the answer to a form that is sent again is the same. Later its reader wants the change again. */
const REPEATED_MS = 10_000;

/** A form that was sent. Its answer is that of the same form until then (milliseconds). */
interface Sent {
  readonly answer: Promise<Response>;
  until: number;
}

const NO_FORM: Form = new Map();

/**
 * Check: opens the visit of a signed-in person.
 *
 * @param page such as `GET /console/keys`
 * @param name of the check
 * @param isChange whether it makes a change, or has the form of one
 */
export function signedIn(program: ConsoleProgram, page: string, name: string, isChange: boolean): Check {
  const { sessions, log, numberOf, clock } = program;
  const answers = openRecentlyUsed<Sent>(MAX_ANSWERS);
  const guard = createMiddleware<{ Variables: VisitVariables }>(async (c, next) => {
    const session = await sessions.find(c);
    const isPost = c.req.method === "POST";
    const isTyped = isPost && isChange && isFromHere(c);
    if (session === undefined) {
      if (isTyped) return c.html(drawLate(program, c, { form: await readForm(c), at: SIGN_IN_PATH }), 403);
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
    const form = isPost ? await readForm(c) : NO_FORM;
    const isOwn = !isPost || await session.isOwnForm(form);
    if (!isOwn && !isTyped) {
      log.formRejected(numberOf(c), person.name);
      return drawNotice(program, c, { status: 403, name: "form", language: languageOf(c), session });
    }
    if (isChange && !session.isProven(isPost ? PROVEN_MS : OPENED_MS)) {
      const address = isPost ? home : safeNext(addressOf(c));
      const at = `${PROVIDER_PATH}?${new URLSearchParams({ next: address, confirm: "1" })}`;
      return isPost ? c.html(drawLate(program, c, { form, at }), 403) : c.redirect(at, 303);
    }
    c.set("visit", openVisit(c, program, { session, form, isOwn }));
    if (!isPost || !isOwn) return await next();
    return await answerOnce({ answers, clock }, `${c.req.path} ${JSON.stringify([...form])}`, c, next);
  });
  return Object.defineProperty(guard, "name", { value: name }) as Check;
}

/** Whether a page of this origin has sent the request. Browsers do not let a page set this header (Fetch Metadata). */
function isFromHere(c: Context): boolean {
  return c.req.header("sec-fetch-site") === "same-origin";
}

/**
 * A form that a slow answer made its reader send twice makes one change, and has one answer. One that failed can be sent
 * again, and so can one whose page a browser has kept, when others have undone its change.
 */
async function answerOnce(
  { answers, clock }: { readonly answers: RecentlyUsed<Sent>; readonly clock: Clock },
  sent: string,
  c: Context,
  next: Next,
): Promise<Response | void> {
  const key = await sha256(sent);
  const first = answers.get(key);
  if (first !== undefined && clock() < first.until) return (await first.answer).clone();
  const answer = Promise.withResolvers<Response>();
  const own: Sent = { answer: answer.promise, until: Infinity };
  answers.set(key, own);
  try {
    await next();
  } finally {
    if (c.res.status >= 400) answers.delete(key);
    else own.until = clock() + REPEATED_MS;
    answer.resolve(c.res.clone());
  }
}
