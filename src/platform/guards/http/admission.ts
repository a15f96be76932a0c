/**
 * Admission control: bounds the requests in work per lane. It is the first code that can reject a request: before any
 * body is read, signature checked or data stored. Each lane has its own places, so a flood in one lane gets only that
 * lane's share of the processor.
 */
import { ApiError } from "../../../base/kernel/api_error.ts";
import type { SteadyClock } from "../../../base/kernel/clock.ts";
import type { Log } from "../../observed/log_events.ts";
import { currentPlace } from "../../../base/http/context.ts";
import { FairLane, type LaneBounds, type LaneState, type Place } from "../../../base/http/fair_lane.ts";

/** The lane of each kind of traffic. In a lane, a caller's urgent requests come before its others. */
export const TRAFFIC = {
  /** Completes what a customer has approved: payments and the redemption of authorization codes. */
  approved: { lane: "participants", urgent: true },
  /** All other requests of participants. */
  participant: { lane: "participants", urgent: false },
  /** The banks' back channel. */
  bank: { lane: "banks", urgent: true },
  /** A customer who returns from the bank, or decides. */
  returning: { lane: "customers", urgent: true },
  /** A customer who starts. */
  customer: { lane: "customers", urgent: false },
  /** Unknown callers: documentation, discovery, addresses that do not exist. */
  public: { lane: "public", urgent: false },
  /** The operator. */
  operator: { lane: "operator", urgent: true },
  /** Participants' people, whom operators never wait for. */
  person: { lane: "people", urgent: false },
  /** Probes that ask no other part. They never wait for the operator's requests, which may wait for the store. */
  probe: { lane: "probes", urgent: true },
} as const;
/** A kind of {@link TRAFFIC}. Each route declares its own. */
export type Traffic = keyof typeof TRAFFIC;
export type LaneName = typeof TRAFFIC[Traffic]["lane"];
export type AdmissionState = Readonly<Record<LaneName, LaneState>>;

export interface Admission {
  /**
   * Runs the request when there is a place for it.
   *
   * @throws {ApiError} `platform.overloaded` with `Retry-After`
   */
  run<T>(traffic: Traffic, caller: string, request: (place: Place) => Promise<T>): Promise<T>;
  state(): AdmissionState;
}

/**
 * Delay before a rejection is sent, milliseconds. It grows with the number of delayed rejections, so that clients
 * that retry at once get at most 500 rejections a second in total, whatever the number of their connections.
 */
const HOLD_BACK_MS = { least: 200, each: 2, most: 5000 };
/** Minimum time between two log lines about rejections of one lane. */
const LOG_EVERY_MS = 10_000;
const RETRY_AFTER_SECONDS = { urgent: 1, ordinary: 5 };

/**
 * Makes the current request an ordinary one of its lane.
 *
 * @throws {ApiError} `platform.overloaded`
 */
export async function goOnAsOrdinary(): Promise<void> {
  if (await currentPlace()?.demote() === false) throw overloadedError(false);
}

export function openAdmission(
  { bounds, steady, log }: {
    readonly bounds: Readonly<Record<LaneName, LaneBounds>>;
    readonly steady: SteadyClock;
    readonly log: Log;
  },
): Admission {
  const lanes: Record<LaneName, FairLane> = {
    participants: new FairLane(bounds.participants),
    banks: new FairLane(bounds.banks),
    customers: new FairLane(bounds.customers),
    public: new FairLane(bounds.public),
    operator: new FairLane(bounds.operator),
    people: new FairLane(bounds.people),
    probes: new FairLane(bounds.probes),
  };
  const note = rejectionLog(steady, log);
  const holdBack = openHoldBack();
  return {
    async run(traffic, caller, request) {
      const { lane, urgent } = TRAFFIC[traffic];
      const entered = lanes[lane].enter(caller, urgent);
      const place = entered instanceof Promise ? await entered : entered;
      if (place === undefined) {
        note(lane, lanes[lane].state());
        await holdBack();
        throw overloadedError(urgent);
      }
      try {
        return await request(place);
      } finally {
        place.leave();
      }
    },
    state: () => statesOf(lanes),
  };
}

function statesOf(lanes: Readonly<Record<LaneName, FairLane>>): AdmissionState {
  return {
    participants: lanes.participants.state(),
    banks: lanes.banks.state(),
    customers: lanes.customers.state(),
    public: lanes.public.state(),
    operator: lanes.operator.state(),
    people: lanes.people.state(),
    probes: lanes.probes.state(),
  };
}

function openHoldBack(): () => Promise<void> {
  const { least, each, most } = HOLD_BACK_MS;
  let held = 0;
  return async () => {
    held += 1;
    await new Promise((resolve) => setTimeout(resolve, Math.min(most, Math.max(least, held * each))));
    held -= 1;
  };
}

/** Logs rejections of a lane together, because one line per rejection would cost as much as the rejection. */
function rejectionLog(steady: SteadyClock, log: Log): (lane: LaneName, state: LaneState) => void {
  const nextAt: Partial<Record<LaneName, number>> = {};
  return (lane, state) => {
    const now = steady();
    const { [lane]: next = now } = nextAt;
    if (now < next) return;
    nextAt[lane] = now + LOG_EVERY_MS;
    const { inWork, waiting, rejectedFull, rejectedLate } = state;
    log.warn("requests.rejected", { lane, inWork, waiting, rejectedFull, rejectedLate });
  };
}

function overloadedError(urgent: boolean): ApiError {
  const retryAfterSeconds = RETRY_AFTER_SECONDS[urgent ? "urgent" : "ordinary"];
  return new ApiError("platform.overloaded", { retryAfterSeconds });
}
