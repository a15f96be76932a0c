/** The OpenAPI 3.1 document of a listener, generated from its endpoints. */
import type { OpenAPIRegistry, RouteConfig } from "@asteasolutions/zod-to-openapi";
import { z } from "zod";
import type { Endpoint } from "../../base/http/endpoint.ts";
import { documentedRoutes, openApiDocument } from "../../base/http/openapi.ts";
import { cacheable } from "./public_routes.ts";
import { publicEndpoint } from "./endpoint.ts";

/** The endpoints, with one more that serves the document. The document is generated at its first request. */
export function described(issuer: string, endpoints: readonly Endpoint[]): readonly Endpoint[] {
  let document: string | undefined;
  const own: Endpoint = publicEndpoint(
    {
      id: "getOpenApiDocument",
      path: "/openapi.json",
      summary: "This document",
      description: "Generated from the endpoints of this listener.",
      answer: "OpenAPI 3.1",
      content: { "application/json": z.looseObject({ openapi: z.literal("3.1.0") }) },
      cacheable: true,
    },
    [],
    (c) => {
      document ??= JSON.stringify(directoryDocument(issuer, documentedRoutes([...endpoints, own])));
      return cacheable(c, document, "application/json");
    },
  );
  return [...endpoints, own];
}

function directoryDocument(issuer: string, routes: readonly RouteConfig[]): object {
  const administered = routes.some(({ security = [] }) => security.length > 0);
  const tags = new Set(routes.flatMap((one) => one.tags ?? []));
  return openApiDocument({
    title: "Participants directory",
    description:
      `Onboards and certifies the participants of ${issuer} and publishes their keys and statuses.`,
    contact: { name: "Operator of the directory", url: issuer },
    // The operator chooses the address of the administrators' listener, so paths are relative to the document.
    servers: [{ url: "/", description: "The host of this document" }],
    tags: TAGS.filter(({ name }) => tags.has(name)),
    components: administered ? administratorScheme : () => {},
  }, routes);
}

function administratorScheme(registry: OpenAPIRegistry): void {
  registry.registerComponent("securitySchemes", "administrator", {
    type: "http",
    scheme: "bearer",
    description: "An administrator's token (deno task directory-admin add).",
  });
}

const TAGS = [
  { name: "Public", description: "Endpoints without authentication, read only." },
  { name: "Administrators", description: "Endpoints for administrators, with a bearer token." },
] as const;
