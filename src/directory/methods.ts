/**
 * Which methods each path of the directory knows: every other one is a 405 that names them (RFC 9110 15.5.6).
 * Other paths are a 404.
 */
import { Hono } from "hono";
import { Refusal } from "../kernel/refusal.ts";
import type { DirectoryEnv } from "./request_context.ts";

const READ = "GET, HEAD";
const ALLOWED: Readonly<Record<string, string>> = {
  "/": READ,
  "/health": READ,
  "/jwks": READ,
  "/ca.pem": READ,
  "/status": READ,
  "/participants": `${READ}, POST`,
  "/participants/:org_id": READ,
  "/participants/:org_id/jwks": READ,
  "/participants/:org_id/jwks/revoked": READ,
  "/participants/:org_id/history": READ,
  "/participants/:org_id/statement": `${READ}, POST`,
  "/participants/:org_id/certificates": "POST",
  "/participants/:org_id/keys/:kid/revoke": "POST",
  "/participants/:org_id/software/status": "PUT",
  "/participants/:org_id/status": "PUT",
};

/** Routes that refuse: mounted after all others, they get only what nobody wanted. */
export function otherMethods(): Hono<DirectoryEnv> {
  const app = new Hono<DirectoryEnv>();
  for (const [path, allow] of Object.entries(ALLOWED)) {
    app.all(path, () => {
      throw new Refusal("request.method_not_allowed", { allow });
    });
  }
  return app.all("*", () => {
    throw new Refusal("request.not_found");
  });
}
