/** Answers what no route wanted: 405 with `Allow` (RFC 9110 §15.5.6) if the path has other methods, else 404. */
import { Hono } from "hono";
import { Refusal } from "../kernel/refusal.ts";
import type { DirectoryEnv } from "./request_context.ts";

/** Routes that refuse, mounted after these. */
export function otherMethods(routes: readonly Hono<DirectoryEnv>[]): Hono<DirectoryEnv> {
  const app = new Hono<DirectoryEnv>();
  for (const [path, methods] of methodsByPath(routes)) {
    const allow = [...methods].join(", ");
    app.all(path, () => {
      throw new Refusal("request.method_not_allowed", { allow });
    });
  }
  return app.all("*", () => {
    throw new Refusal("request.not_found");
  });
}

function methodsByPath(routes: readonly Hono<DirectoryEnv>[]): Map<string, Set<string>> {
  const paths = new Map<string, Set<string>>();
  const all = routes.flatMap((some) => some.routes).filter(({ method }) => method !== "ALL"); // no middleware
  for (const { path, method } of all) {
    const methods = paths.get(path) ?? new Set();
    paths.set(path, methods.add(method));
    if (method === "GET") methods.add("HEAD"); // Hono answers HEAD by the GET route
  }
  return paths;
}
