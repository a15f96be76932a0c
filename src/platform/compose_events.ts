/** Builds the endpoints of events and of subscriptions to them. */
import type { ApiDeps } from "./app.ts";
import type { Shared, TimedParts } from "./compose_parts.ts";
import { openLongPolls } from "./events/long_polls.ts";
import type { PollEventsDeps } from "./events/poll_events.ts";
import type { Log } from "./log_events.ts";
import type { ResourceGuards } from "./security/resource_guards.ts";

export function composeEvents(
  { config: { baseUrl, authUrl }, store, clock, keys: { signer }, isServing = () => true }: TimedParts,
  { events, subscriptions, payments }: Shared,
  guards: ResourceGuards,
  log: Log,
): ApiDeps["events"] {
  const awaitEvents = openLongPolls({ events, isServing });
  const rejectionReason: PollEventsDeps["rejectionReason"] = async (id) =>
    (await payments.find(store, id))?.value.statusReason;
  return {
    store,
    clock,
    log,
    baseUrl,
    authUrl,
    signer,
    events,
    subscriptions,
    guards,
    awaitEvents,
    rejectionReason,
  };
}
