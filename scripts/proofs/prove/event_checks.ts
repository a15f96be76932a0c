/**
 * The judgement of events: each change of status reached its TPP in order, and what the redeliveries of a pushed event
 * have in common. No I/O.
 */
import { decodeJwt } from "jose";
import type { CheckResult } from "./checks.ts";
import type { Delivery } from "./push_receiver.ts";
import type { TppEvent } from "../../../src/client/tpp/events.ts";
import type { CaseSeen } from "./case_files.ts";

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

/** Entries of a history that have no event: a consent begins so, and a report of accounts does not change it. */
const BEGINNING = "AwaitingAuthorisation";

/** Of a bank that goes wrong, and of keys and statements that end. */
const NOTICES = /^(?:bank|outage|software-statement|key|certificate)-/;

export function judgeEvents(cases: readonly CaseSeen[], events: readonly TppEvent[]): CheckResult {
  const received = Map.groupBy(events.filter(({ type }) => !NOTICES.test(type)), ({ resource }) => resource);
  const expected = new Map(cases.flatMap(changesOf));
  const missing = [...expected].flatMap(([resource, statuses]) => {
    const got = (received.get(resource) ?? []).map(({ status }) => status);
    return got.join() === statuses.join() ? [] : [
      `the TPP got events ${got.join(", ") || "none"} of ${resource}, which became ${statuses.join(", ")}`,
    ];
  });
  const invented = [...received.keys()].filter((resource) => !expected.has(resource))
    .map((resource) => `the TPP got events of ${resource}, which changed nothing`);
  return {
    name: "every change of status reached its TPP, in order",
    judged: [...expected.values()].flat().length,
    violations: [...missing, ...invented],
  };
}

/** The statuses that the consent and the payment of a case got, by their ids. */
function changesOf(
  { consentId, paymentId, steps }: CaseSeen,
): [resource: string, statuses: readonly string[]][] {
  const of = (kind: string): readonly string[] =>
    steps.flatMap(({ event }) => new RegExp(`^${kind}\\.([A-Z]\\w+)$`).exec(event)?.[1] ?? [])
      .filter((status) => status !== BEGINNING);
  const changes: [string, readonly string[]][] = [[consentId, of("consent")]];
  if (paymentId !== undefined) changes.push([paymentId, of("payment")]);
  return changes.filter(([, statuses]) => statuses.length > 0);
}
