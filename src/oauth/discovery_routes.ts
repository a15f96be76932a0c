/** What anyone may read of the authorization server: each bank's metadata and the platform's keys (checklist section 11). */
import { createRoute, z } from "@hono/zod-openapi";
import { endpoint, type PlatformApp } from "../http/endpoint.ts";
import { bankParameter } from "../http/openapi_parameters.ts";
import type { KeyRing } from "../jose/key_ring.ts";
import { asBankCode } from "../kernel/identifiers.ts";
import { Refusal } from "../kernel/refusal.ts";
import type { FindBank } from "../security/caller.ts";
import { serverMetadata } from "./server_metadata.ts";

/** What the routes need. */
export interface DiscoveryRouteDeps {
  readonly baseUrl: string;
  readonly authUrl: string;
  readonly findBank: FindBank;
  readonly keys: KeyRing;
}

const CACHE = "public, max-age=300"; // checklist MD8
const json = { "application/json": { schema: z.object({}) } };
const tags = ["Discovery"];

const metadataRoute = createRoute({
  method: "get",
  path: "/.well-known/oauth-authorization-server/{bank}",
  tags,
  summary: "Metadata of a bank's authorization server (RFC 8414)",
  request: { params: bankParameter },
  responses: { 200: { description: "The metadata", content: json }, 404: { description: "No such bank" } },
});
const keysRoute = createRoute({
  method: "get",
  path: "/jwks",
  tags,
  summary: "The platform's public keys",
  responses: { 200: { description: "A JWK set", content: json } },
});

/** Mounts the discovery endpoints. */
export function discoveryRoutes(app: PlatformApp, deps: DiscoveryRouteDeps): void {
  app.get(endpoint(app, "oauth", metadataRoute), async (c) => {
    const code = asBankCode(c.req.param("bank"));
    const bank = code === undefined ? null : await deps.findBank(code);
    if (bank === null) throw new Refusal("bank.unknown");
    c.header("cache-control", CACHE);
    return c.json(serverMetadata(deps, bank.code));
  });

  app.get(endpoint(app, "oauth", keysRoute), (c) => {
    c.header("cache-control", CACHE);
    return c.json(deps.keys.publicJwks);
  });
}
