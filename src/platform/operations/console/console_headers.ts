/** The headers of the operations host: pages of the console have those of the browser host. */
import { createMiddleware } from "hono/factory";
import type { RequestEnv } from "../../../base/http/context.ts";
import { apiHeaders, browserHeaders } from "../../../base/http/host_middleware.ts";
import { isConsolePath } from "../../../console/paths.ts";

export const operationsHeaders = createMiddleware<RequestEnv>(async function setOperationsHeaders(c, next) {
  return await (isConsolePath(c.req.path) ? browserHeaders(c as never, next) : apiHeaders(c, next));
});
