/**
 * Admission control: how many requests are in work at once, by lane. It is the outermost thing that can reject a request, before any
 * body is read, any signature is checked and anything is stored. A lane's places are its own: a flood in one lane
 * gets that lane's part of the processor, whatever its size.
 */
import { ApiError } from "../../base/kernel/api_error.ts";
import type { Clock } from "../../base/kernel/clock.ts";
import type { Log } from "../../base/observability/log.ts";
import { currentPlace } from "../../base/http/aside.ts";
import { FairLane, type LaneBounds, type LaneState, type Place } from "../../base/http/fair_lane.ts";

/** What each kind of traffic is admitted by. Urgent requests of a lane go before the others of their caller. */
export const TRAFFIC = {
  /** Finishes what a customer has approved: payments and the redemption of authorization codes. */
  approved: { lane: "participants", urgent: true },
  /** Everything else that participants ask for. */
  participant: { lane: "participants", urgent: false },
  /** The banks' back channel. */
  bank: { lane: "banks", urgent: true },
  /** A customer who comes back from the bank, or decides. */
  returning: { lane: "customers", urgent: true },
  /** A customer who begins. */
  customer: { lane: "customers", urgent: false },
  /** Callers of whom nothing is known: documentation, discovery, addresses that do not exist. */
  public: { lane: "public", urgent: false },
  /** Probes and the operator. */
  operator: { lane: "operator", urgent: true },
} as const;
/** One of {@link TRAFFIC}. Each route declares its own. */
export type Traffic = keyof typeof TRAFFIC;
/** A lane. */
export type LaneName = typeof TRAFFIC[Traffic]["lane"];
/** Every lane in numbers. */
export type AdmissionState = Readonly<Record<LaneName, LaneState>>;

/** Admits requests. */
export interface Admission {
  /** Runs the request when there is a place for it. @throws {ApiError} `platform.overloaded` with `Retry-After` */
  run<T>(traffic: Traffic, caller: string, request: (place: Place) => Promise<T>): Promise<T>;
  state(): AdmissionState;
}

/**
 * A rejected request is answered after a while, which grows with the number of those that are held back: clients that
 * ask again at once get at most 500 rejections a second between them, whatever the number of their connections.
 */
const HOLD_BACK_MS = { least: 200, each: 2, most: 5000 };
/** Rejections of a lane are logged at most once in this time. */
const LOG_EVERY_MS = 10_000;
const RETRY_AFTER_SECONDS = { urgent: 1, ordinary: 5 };

/** From here on the request is an ordinary one of its lane. @throws {ApiError} `platform.overloaded` */
export async function goOnAsOrdinary(): Promise<void> {
  if (await currentPlace()?.demote() === false) throw overloaded(false);
}

/** Opens the lanes. */
export function openAdmission(
  { bounds, steady, log }: {
    readonly bounds: Readonly<Record<LaneName, LaneBounds>>;
    readonly steady: Clock;
    readonly log: Log;
  },
): Admission {
  const lanes: Record<LaneName, FairLane> = {
    participants: new FairLane(bounds.participants),
    banks: new FairLane(bounds.banks),
    customers: new FairLane(bounds.customers),
    public: new FairLane(bounds.public),
    operator: new FairLane(bounds.operator),
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
        throw overloaded(urgent);
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

/** Logs rejections of a lane together: every line would cost as much as its rejection. */
function rejectionLog(steady: Clock, log: Log): (lane: LaneName, state: LaneState) => void {
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

function overloaded(urgent: boolean): ApiError {
  const retryAfterSeconds = RETRY_AFTER_SECONDS[urgent ? "urgent" : "ordinary"];
  return new ApiError("platform.overloaded", { retryAfterSeconds });
}
