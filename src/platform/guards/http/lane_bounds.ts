/** Derives the number of requests in work per lane from the one number that an operator sets: `PLATFORM_REQUESTS_IN_WORK`. */
import type { LaneBounds } from "../../../base/http/fair_lane.ts";
import type { Config } from "../../config/config.ts";
import type { LaneName } from "./admission.ts";

export function laneBounds(
  { requestsInWork, requestWaitSeconds }: Pick<Config, "requestsInWork" | "requestWaitSeconds">,
): Readonly<Record<LaneName, LaneBounds>> {
  const part = (share: number): number => Math.max(1, Math.ceil(requestsInWork * share));
  const lane = (places: number, ordinaryPlaces: number): LaneBounds => ({
    places,
    ordinaryPlaces,
    waitMs: requestWaitSeconds * 1000,
  });
  return {
    participants: lane(part(1), part(0.75)),
    banks: lane(part(0.5), part(0.5)),
    customers: lane(part(0.5), part(0.25)),
    public: lane(part(0.25), part(0.25)),
    operator: lane(2, 2),
    people: lane(2, 2),
    probes: lane(2, 2),
  };
}
