/**
 * Declares the console's pages. Each one has its roles in `operator_roles.ts`, like an endpoint of the operations API,
 * and a form has the token of its session.
 */
import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import { timingSafeEqual } from "hono/utils/buffer";
import { type Form, readForm } from "../../base/http/body.ts";
import type { RequestEnv } from "../../base/http/context.ts";
import type { Check } from "../../base/http/endpoint.ts";
import type { Log } from "../log_events.ts";
import { endpoint, type PlatformEndpoint } from "../http/endpoint.ts";
import type { Site } from "../../pages/site.ts";
import { admits } from "../security/operation.ts";
import { type AnyRole, OPERATION_ROLES } from "../security/operator_roles.ts";
import { drawNotice } from "./notice_page.tsx";
import type { Sessions } from "./session.ts";
import { addressOf, type CallApi, languageOf, openVisit, type Visit } from "./visit.ts";

export interface ConsoleDeps {
  readonly sessions: Sessions;
  readonly site: Site;
  readonly log: Log;
  readonly call: CallApi;
}

interface VisitVariables {
  visit: Visit;
}

type PageContext = Context<{ Variables: RequestEnv["Variables"] & VisitVariables }>;
type Handle = (visit: Visit, c: PageContext) => Response | Promise<Response>;

/** The first page of a participant's people. */
export const OWN_PATH = "/console/own";
export const SIGN_IN_PATH = "/console/sign-in";
const NO_FORM: Form = new Map();

/**
 * Declares a page.
 *
 * @throws {Error} if it has no roles
 */
export function consolePage(
  deps: ConsoleDeps,
  method: "get" | "post",
  path: string,
  handle: Handle,
): PlatformEndpoint {
  const name = `${method.toUpperCase()} ${path}`;
  const roles = OPERATION_ROLES[name];
  if (roles === undefined) throw new Error(`${name}: declare its roles in operator_roles.ts`);
  const answer = (c: PageContext): Response | Promise<Response> => handle(c.get("visit"), c);
  const traffic = path === OWN_PATH ? "person" : "operator";
  return endpoint("browser", traffic, hidden(method, path), [signedIn(deps, roles)], answer as never);
}

/** A page is not part of the operations API's document. */
export function hidden<P extends string>(method: "get" | "post", path: P): {
  method: "get" | "post";
  path: P;
  hide: true;
  responses: { 200: { description: string } };
} {
  return { method, path, hide: true, responses: { 200: { description: "A page" } } };
}

/** Returns the address to continue at after the sign-in: a page of the console, and no other. */
export function safeNext(text: string | undefined): string {
  const isPage = text !== undefined && text.length <= 500 && !text.includes("..") &&
    /^\/console(?:[/?][\w\-./?=&%@:+~]*)?$/.test(text);
  return isPage && !text.startsWith(SIGN_IN_PATH) ? text : "/console";
}

function signedIn({ sessions, site, log, call }: ConsoleDeps, roles: readonly AnyRole[]): Check {
  const guard = createMiddleware<{ Variables: RequestEnv["Variables"] & VisitVariables }>(async (c, next) => {
    const session = await sessions.find(c);
    if (session === undefined) {
      const query = new URLSearchParams({ next: safeNext(addressOf(c)) });
      return c.redirect(`${SIGN_IN_PATH}?${query}`, 303);
    }
    const [interactionId, operator] = [c.get("interactionId"), session.person.name];
    const isOutside = session.person.organisation !== undefined;
    if (isOutside && c.req.path === "/console") return c.redirect(OWN_PATH, 303);
    if (!admits(roles, session.person)) {
      log.warn("operator.forbidden", { interactionId, operator });
      return drawNotice(c, { status: 403, name: "forbidden", site, language: languageOf(c), session });
    }
    const form = c.req.method === "POST" ? await readForm(c) : NO_FORM;
    if (c.req.method === "POST" && !await isOwnForm(form, session.formToken)) {
      log.warn("operator.form_rejected", { interactionId, operator });
      return drawNotice(c, { status: 403, name: "form", site, language: languageOf(c), session });
    }
    c.set("visit", openVisit(c, { session, form, call }));
    await next();
  });
  return Object.defineProperty(guard, "name", { value: `session(${roles.join(", ")})` }) as Check;
}

/** Whether the form is one of this session: another site's has not its token. */
export async function isOwnForm(form: Form, token: string): Promise<boolean> {
  return await timingSafeEqual(form.get("form_token") ?? "", token);
}
