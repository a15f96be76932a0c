/** The OpenAPI 3.1 document of both hosts, generated from the routes that answer. */
import { OpenApiGeneratorV31 } from "@asteasolutions/zod-to-openapi";
import type { Config } from "./config.ts";
import type { PlatformApp } from "./http/endpoint.ts";

/** The document; each operation names the host that its app answers on. */
export function openApiDocument(
  { baseUrl, authUrl }: Pick<Config, "baseUrl" | "authUrl">,
  [api, browser]: readonly [api: PlatformApp, browser: PlatformApp],
): object {
  const definitions = [...definitionsAt(baseUrl, api), ...definitionsAt(authUrl, browser)];
  return new OpenApiGeneratorV31(definitions).generateDocument({
    openapi: "3.1.0",
    info: {
      title: "Payment initiation platform",
      version: "1",
      description:
        "Domestic payment initiation with explicit consent: FAPI 2.0, DPoP-bound tokens, mTLS, signed payloads.",
    },
    servers: [
      { url: baseUrl, description: "API host (client certificate required)" },
      { url: authUrl, description: "Browser authorization host" },
    ],
  });
}

function definitionsAt(url: string, app: PlatformApp): PlatformApp["openAPIRegistry"]["definitions"] {
  return app.openAPIRegistry.definitions.map((definition) =>
    definition.type === "route"
      ? { ...definition, route: { ...definition.route, servers: [{ url }] } }
      : definition
  );
}
