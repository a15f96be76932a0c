/** The judgement of pushes: what each event's redeliveries have in common, and their order. No I/O. */
import { decodeJwt } from "jose";
import type { CheckResult } from "./checks.ts";
import type { Delivery } from "./push_receiver.ts";

/** Everything that was seen of pushes. */
export interface PushEvidence {
  readonly deliveries: readonly Delivery[];
  /** Tokens that do not verify, and why, as a sentence each. */
  readonly unverified: readonly string[];
  /** The `jti` of events that still waited at the end. */
  readonly left: readonly string[];
}

/** A push, and what its token says. */
interface Pushed extends Delivery {
  readonly jti: string;
  readonly resource: string;
  readonly claims: string;
  /** The change that it tells of: `sub` and `events` of the claims. */
  readonly change: string;
}

/** The checks of pushes. */
export function judgePushes({ deliveries, unverified, left }: PushEvidence): readonly CheckResult[] {
  const pushed = deliveries.map(pushedOf).sort((one, other) => one.begun - other.begun);
  const byResource = Map.groupBy(pushed, ({ resource }) => resource);
  const judged = deliveries.length;
  return [
    { name: "every pushed token verifies", judged, violations: unverified },
    { name: "a pushed event is the same each time", judged, violations: changedEvents(pushed) },
    {
      name: "the events of a resource are pushed one by one",
      judged,
      violations: [...byResource.values()].flatMap((each) => [...overlaps(each), ...outOfOrder(each)]),
    },
    {
      name: "no event is left to be pushed",
      judged,
      violations: left.map((jti) => `the event ${jti} still waits to be pushed`),
    },
  ];
}

function pushedOf(delivery: Delivery): Pushed {
  const claims = decodeJwt(delivery.token);
  const { jti = "", sub = "", events } = claims;
  const change = JSON.stringify([sub, events]);
  return { ...delivery, jti, resource: noticeIn(jti) ?? sub, claims: JSON.stringify(claims), change };
}

/** Returns the id of a notice's bank or TPP, because all notices about banks have one `sub`. */
function noticeIn(jti: string): string | undefined {
  return /(?<=^\d+-)[bt]-.+/.exec(jti)?.[0];
}

function changedEvents(pushed: readonly Pushed[]): readonly string[] {
  const otherClaims = [...Map.groupBy(pushed, ({ jti }) => jti)].flatMap(([jti, each]) =>
    new Set(each.map(({ claims }) => claims)).size > 1
      ? [`the event ${jti} was pushed with other claims`]
      : []
  );
  const otherNames = [...Map.groupBy(pushed, ({ change }) => change).values()].flatMap((each) => {
    const names = new Set(each.map(({ jti }) => jti));
    return names.size > 1 ? [`one event was pushed as ${[...names].join(" and ")}`] : [];
  });
  return [...otherClaims, ...otherNames];
}

function overlaps(pushed: readonly Pushed[]): readonly string[] {
  return pushed.flatMap(({ jti, begun }, index) =>
    pushed.slice(0, index).some(({ ended }) => ended > begun)
      ? [`the event ${jti} was pushed while another push of its resource was under way`]
      : []
  );
}

/** Before the next event of a resource is pushed, the one before was acknowledged. After that it is not pushed again. */
function outOfOrder(pushed: readonly Pushed[]): readonly string[] {
  const acknowledged = new Set<string>();
  const over = new Set<string>();
  return pushed.flatMap(({ jti, answer }, index) => {
    const before = pushed[index - 1]?.jti ?? jti;
    if (before !== jti) over.add(before);
    const faults = [
      ...before === jti || acknowledged.has(before)
        ? []
        : [`the event ${jti} was pushed, and ${before} of the same resource was not acknowledged`],
      ...over.has(jti) ? [`the event ${jti} was pushed again after a later one of its resource`] : [],
    ];
    if (answer === 202) acknowledged.add(jti);
    return faults;
  });
}
