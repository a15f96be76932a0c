/** Declares the pages of the directory's console. */
import type { Context } from "hono";
import type { Endpoint } from "../../base/http/endpoint.ts";
import { signedIn, type VisitVariables } from "../../console/guard.ts";
import { hidden, kindOf, type PageMethod } from "../../console/paths.ts";
import type { ConsoleProgram } from "../../console/program.ts";
import type { Visit } from "../../console/visit.ts";
import type { DirectoryEnv } from "../http/request_context.ts";

export type PageContext = Context<DirectoryEnv & { Variables: VisitVariables }>;

/** Declares a page behind the sign-in. */
export function consolePage(
  program: ConsoleProgram,
  method: PageMethod,
  path: string,
  handle: (visit: Visit, c: PageContext) => Response | Promise<Response>,
): Endpoint {
  const { http, isChange } = kindOf(method, path);
  const check = signedIn(program, `${http.toUpperCase()} ${path}`, "session", isChange);
  return publicPage(http, path, (c) => handle(c.get("visit"), c), check);
}

/** Declares a page for everyone who reaches the listener. */
export function publicPage(
  method: "get" | "post",
  path: string,
  handle: (c: PageContext) => Response | Promise<Response>,
  ...checks: Endpoint["checks"]
): Endpoint {
  return { route: hidden(method, path), checks, handle };
}
