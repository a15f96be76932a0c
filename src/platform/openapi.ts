/** The OpenAPI 3.1 document of both hosts, generated from the mounted routes. */
import { OpenApiGeneratorV31, OpenAPIRegistry } from "@asteasolutions/zod-to-openapi";
import type { Config } from "./config.ts";
import type { PlatformApp } from "./http/endpoint.ts";
import { registerAnswers } from "./http/openapi_answers.ts";
import { SCHEMES } from "./http/openapi_parameters.ts";

type Definitions = OpenAPIRegistry["definitions"];

const TAGS = [
  { name: "Registration", description: "Dynamic client registration (RFC 7591) with a software statement." },
  { name: "Authorization", description: "Tokens and pushed authorization requests of one bank (FAPI 2.0)." },
  { name: "Consents", description: "Domestic payment consents, for TPPs." },
  { name: "Payments", description: "Domestic payments, for TPPs." },
  { name: "Back channel", description: "For banks: consents, payer accounts and payment orders." },
  { name: "Browser", description: "Addresses that the customer's browser opens." },
  { name: "Discovery", description: "What anyone may read of the authorization servers." },
  { name: "Operation", description: "Health, and this document." },
];

/** Returns the document. Each operation names its host. */
export function openApiDocument(
  { baseUrl, authUrl }: Pick<Config, "baseUrl" | "authUrl">,
  [api, browser]: readonly [api: PlatformApp, browser: PlatformApp],
): object {
  const definitions = [
    ...componentDefinitions(),
    ...definitionsAt(baseUrl, api),
    ...definitionsAt(authUrl, browser),
  ];
  return new OpenApiGeneratorV31(definitions).generateDocument({
    openapi: "3.1.0",
    info: {
      title: "Payment initiation platform",
      version: "1",
      description:
        "Domestic payment initiation with explicit consent: FAPI 2.0, DPoP-bound tokens, mTLS, signed payloads.",
      contact: { name: "Developer portal", url: `${authUrl}/docs` },
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [
      { url: baseUrl, description: "API host (client certificate required)" },
      { url: authUrl, description: "Browser authorization host" },
    ],
    tags: TAGS,
  });
}

function componentDefinitions(): Definitions {
  const registry = new OpenAPIRegistry();
  registry.registerComponent("securitySchemes", SCHEMES.certificate, {
    type: "mutualTLS",
    description: "The participant's transport certificate; its key is a `use: tls` key of the directory.",
  });
  for (const scope of ["payments", "bank"] as const) {
    registry.registerComponent("securitySchemes", SCHEMES[scope], {
      type: "http",
      scheme: "DPoP",
      description:
        `\`Authorization: DPoP <access token>\` of scope \`${scope}\`, with a proof by the token's key in ` +
        "the header `DPoP` (RFC 9449).",
    });
  }
  registerAnswers(registry);
  return registry.definitions;
}

function definitionsAt(url: string, app: PlatformApp): Definitions {
  return app.openAPIRegistry.definitions.map((definition) =>
    definition.type === "route"
      ? { ...definition, route: { ...definition.route, servers: [{ url }] } }
      : definition
  );
}
