/** The endpoints for operators about the processes of the platform and their keys. */
import type { PlatformEndpoint } from "../http/endpoint.ts";
import { type KeyRouteDeps, keyRoutes } from "./key_routes.ts";
import { type ProcessRouteDeps, processRoutes } from "./process_routes.ts";

export type StateRouteDeps = KeyRouteDeps & ProcessRouteDeps;

export function stateRoutes(deps: StateRouteDeps): readonly PlatformEndpoint[] {
  return [...keyRoutes(deps), ...processRoutes(deps)];
}
