/**
 * Answers requests that match no endpoint: 405 with `Allow` (RFC 9110 §15.5.6) if the path has other methods, else 404.
 */
import { Hono } from "hono";
import { ApiError } from "../base/kernel/api_error.ts";
import { type Endpoint, honoPath } from "./endpoint.ts";
import type { DirectoryEnv } from "./request_context.ts";

/** Routes that reject, to be mounted after these endpoints. */
export function otherMethods(endpoints: readonly Endpoint[]): Hono<DirectoryEnv> {
  const app = new Hono<DirectoryEnv>();
  for (const [path, methods] of methodsByPath(endpoints)) {
    const allow = [...methods].join(", ");
    app.all(path, () => {
      throw new ApiError("request.method_not_allowed", { allow });
    });
  }
  return app.all("*", () => {
    throw new ApiError("request.not_found");
  });
}

function methodsByPath(endpoints: readonly Endpoint[]): Map<string, Set<string>> {
  const paths = new Map<string, Set<string>>();
  for (const { route } of endpoints) {
    const path = honoPath(route);
    const methods = paths.get(path) ?? new Set();
    paths.set(path, methods.add(route.method.toUpperCase()));
    if (route.method === "get") methods.add("HEAD"); // Hono answers HEAD with the GET route
  }
  return paths;
}
