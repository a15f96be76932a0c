/** The OpenAPI 3.1 document of a listener, generated from its endpoints. */
import { OpenApiGeneratorV31, OpenAPIRegistry } from "@asteasolutions/zod-to-openapi";
import { z } from "zod";
import { type Endpoint, operation } from "./endpoint.ts";
import { cacheable } from "./cacheable.ts";

/** The endpoint of the document itself. */
const route = operation(false, {
  id: "getOpenApiDocument",
  method: "get",
  path: "/openapi.json",
  summary: "This document",
  description: "Generated from the endpoints of this listener.",
  answer: "OpenAPI 3.1",
  content: { "application/json": z.looseObject({ openapi: z.literal("3.1.0") }) },
  cacheable: true,
});

/** The endpoints, with one more that serves the document. The document is generated at its first request. */
export function described(issuer: string, endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const routes = endpoints.filter((one) => one.undocumented !== true).map((one) => one.route);
  let document: string | undefined;
  const handle: Endpoint["handle"] = (c) => {
    document ??= JSON.stringify(openApiDocument(issuer, [...routes, route]));
    return cacheable(c, document, "application/json");
  };
  return [...endpoints, { route, handle }];
}

function openApiDocument(issuer: string, routes: readonly Endpoint["route"][]): object {
  const registry = new OpenAPIRegistry();
  const administered = routes.some(({ security = [] }) => security.length > 0);
  if (administered) {
    registry.registerComponent("securitySchemes", "administrator", {
      type: "http",
      scheme: "bearer",
      description: "An administrator's token (deno task directory-admin add).",
    });
  }
  for (const one of routes) registry.registerPath(one);
  const tags = new Set(routes.flatMap((one) => one.tags ?? []));
  return new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: "3.1.0",
    info: {
      title: "Participants directory",
      version: "1",
      description:
        `Onboards and certifies the participants of ${issuer} and publishes their keys and statuses.`,
      contact: { name: "Operator of the directory", url: issuer },
      license: { name: "MIT", identifier: "MIT" },
    },
    // The operator chooses the address of the administrators' listener, so paths are relative to the document.
    servers: [{ url: "/", description: "The host of this document" }],
    tags: TAGS.filter(({ name }) => tags.has(name)),
  });
}

const TAGS = [
  { name: "Public", description: "Endpoints without authentication, read only." },
  { name: "Administrators", description: "Endpoints for administrators, with a bearer token." },
] as const;
