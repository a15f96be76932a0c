/** The endpoints for operators about the processes of the platform, their keys, and one participant. */
import type { PlatformEndpoint } from "../guards/http/endpoint.ts";
import type { AlarmDeps } from "./alarms.ts";
import { bankStateRoutes } from "./bank_state_routes.ts";
import { type EndingRouteDeps, endingRoutes } from "./ending_routes.ts";
import { type KeyRouteDeps, keyRoutes } from "./key_routes.ts";
import { type ParticipantDetailDeps, participantDetailRoutes } from "./participant_detail_routes.ts";
import { type ProcessRouteDeps, processRoutes } from "./process_routes.ts";

export type StateRouteDeps =
  & KeyRouteDeps
  & ProcessRouteDeps
  & ParticipantDetailDeps
  & EndingRouteDeps
  & AlarmDeps;

export function stateRoutes(deps: StateRouteDeps): readonly PlatformEndpoint[] {
  return [
    ...keyRoutes(deps),
    ...processRoutes(deps),
    ...participantDetailRoutes(deps),
    ...endingRoutes(deps),
    ...bankStateRoutes(deps),
  ];
}
