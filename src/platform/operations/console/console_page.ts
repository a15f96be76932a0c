/** Declares the pages of the operators' console. Each one has its roles in `operator_roles.ts`, like an endpoint of the operations API. */
import type { Context } from "hono";
import type { RequestEnv } from "../../../base/http/context.ts";
import { signedIn, type VisitVariables } from "../../../console/guard.ts";
import { hidden, kindOf, type PageMethod } from "../../../console/paths.ts";
import type { ConsoleProgram } from "../../../console/program.ts";
import type { Visit } from "../../../console/visit.ts";
import { endpoint, type PlatformEndpoint } from "../../guards/http/endpoint.ts";
import { OPERATION_ROLES } from "../../guards/security/operator_roles.ts";

type PageContext = Context<{ Variables: RequestEnv["Variables"] & VisitVariables }>;
type Handle = (visit: Visit, c: PageContext) => Response | Promise<Response>;

/** The first page of a participant's people. */
export const OWN_PATH = "/console/own";

/**
 * Declares a page.
 *
 * @throws {Error} if it has no roles
 */
export function consolePage(
  program: ConsoleProgram,
  method: PageMethod,
  path: string,
  handle: Handle,
): PlatformEndpoint {
  const { http, isChange } = kindOf(method, path);
  const name = `${http.toUpperCase()} ${path}`;
  const roles = OPERATION_ROLES[name];
  if (roles === undefined) throw new Error(`${name}: declare its roles in operator_roles.ts`);
  const answer = (c: PageContext): Response | Promise<Response> => handle(c.get("visit"), c);
  const traffic = path === OWN_PATH ? "person" : "operator";
  const check = signedIn(program, name, `session(${roles.join(", ")})`, isChange);
  return endpoint("browser", traffic, hidden(http, path), [check], answer as never);
}
