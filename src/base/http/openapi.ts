/** The OpenAPI 3.1 document of endpoints, generated from their declarations. */
import { OpenApiGeneratorV31, OpenAPIRegistry, type RouteConfig } from "@asteasolutions/zod-to-openapi";
import type { Endpoint } from "./endpoint.ts";

/** The parts of a document besides its endpoints. */
export interface DocumentFrame {
  readonly title: string;
  readonly description: string;
  readonly contact: { readonly name: string; readonly url: string };
  readonly servers: { readonly url: string; readonly description: string }[];
  readonly tags: { readonly name: string; readonly description: string }[];
  /** What is sent to clients; the path of each is its name. */
  readonly webhooks?: readonly RouteConfig[];
  /** Registers the components that no endpoint registers. */
  readonly components: (registry: OpenAPIRegistry) => void;
}

/** Returns the routes that the document has. */
export function documentedRoutes(endpoints: readonly Endpoint[]): RouteConfig[] {
  return endpoints.map(({ route }) => route).filter(({ hide }) => hide !== true);
}

/** Returns the document. Generating it takes a while, so the caller keeps it. */
export function openApiDocument(
  { title, description, contact, servers, tags, webhooks = [], components }: DocumentFrame,
  routes: readonly RouteConfig[],
): object {
  const registry = new OpenAPIRegistry();
  components(registry);
  for (const route of routes) registry.registerPath(route);
  for (const webhook of webhooks) registry.registerWebhook(webhook);
  return new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: "3.1.0",
    info: { title, version: "1", description, contact, license: { name: "MIT", identifier: "MIT" } },
    servers,
    tags,
  });
}
