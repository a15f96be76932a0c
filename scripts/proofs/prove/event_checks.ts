/** The judgement of the TPP's events: each change of status reached it, in order, and no other. No I/O. */
import type { TppEvent } from "../../../src/client/tpp/events.ts";
import type { CaseSeen } from "./case_files.ts";
import type { CheckResult } from "./checks.ts";

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
