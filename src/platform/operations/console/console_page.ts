/** Declares the pages of the operators' console. Each one has its roles in `operator_roles.ts`, like an endpoint of the operations API. */
import type { Context } from "hono";
import type { RequestEnv } from "../../../base/http/context.ts";
import { signedIn, type VisitVariables } from "../../../console/guard.ts";
import { hidden, isConsolePath, kindOf, type PageMethod } from "../../../console/paths.ts";
import type { ConsoleProgram } from "../../../console/program.ts";
import type { Visit } from "../../../console/visit.ts";
import { endpoint, type PlatformEndpoint } from "../../guards/http/endpoint.ts";
import { OPERATION_ROLES } from "../../guards/security/operator_roles.ts";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { createMiddleware } from "hono/factory";
import { apiHeaders, browserHeaders } from "../../../base/http/host_middleware.ts";

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

/** Answers with what the operations API returns as a file. @param name of the file: with `.csv` it is a table, else JSON */
export async function answerFile(visit: Visit, c: Context, path: string, name: string): Promise<Response> {
  const answer = await visit.readText(path);
  if (!answer.ok) {
    if (answer.retryAfter) c.header("retry-after", answer.retryAfter);
    return c.text(answer.description, answer.status as ContentfulStatusCode);
  }
  return c.body(answer.value, 200, {
    "content-type": name.endsWith(".csv") ? "text/csv; charset=utf-8" : "application/json",
    "content-disposition": `attachment; filename="${name}"`,
  });
}

/** The headers of the operations host: pages of the console have those of the browser host. */
export const operationsHeaders = createMiddleware<RequestEnv>(async function setOperationsHeaders(c, next) {
  return await (isConsolePath(c.req.path) ? browserHeaders(c as never, next) : apiHeaders(c, next));
});
