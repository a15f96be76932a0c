/** The prover finds events that are missing, out of order, or of no change. */
import { assertEquals, assertMatch } from "@std/assert";
import type { TppEvent } from "../../../../src/client/tpp/events.ts";
import type { CaseSeen } from "../../../../scripts/proofs/prove/case_files.ts";
import { judgeEvents } from "../../../../scripts/proofs/prove/event_checks.ts";
import { steps } from "support/steps.ts";

const CASE: CaseSeen = {
  consentId: "consent-1",
  paymentId: "payment-1",
  faults: [],
  steps: [
    "consent.AwaitingAuthorisation",
    "consent.pushed",
    "consent.AwaitingAuthorisation",
    "consent.Authorized",
    "consent.Consumed",
    "payment.Pending",
    "payment_order.delivered",
    "payment.AcceptedSettlementInProcess",
  ].map((event) => ({ event, kinds: [] })),
};

const event = (resource: string, status: string): TppEvent => ({
  jti: `${resource} ${status}`,
  type: "",
  resource,
  consentId: "consent-1",
  status,
  at: 0,
});
const ALL = [
  event("consent-1", "Authorized"),
  event("payment-1", "Pending"), // the order between two resources is not promised
  event("consent-1", "Consumed"),
  event("payment-1", "AcceptedSettlementInProcess"),
];

Deno.test("the prover takes the events of a complete case as such [EVT1]", () => {
  const { judged, violations } = judgeEvents([CASE], ALL);
  assertEquals([judged, violations], [4, []]);
  const open: CaseSeen = { ...CASE, consentId: "consent-2", steps: CASE.steps.slice(0, 3) };
  assertEquals(judgeEvents([CASE, open], ALL).violations, []);
  const notice = { ...event("notice-1", "degraded"), type: "bank-state-changed" };
  assertEquals(judgeEvents([CASE, open], [...ALL, notice]).violations, []);
});

const FAULTS: Readonly<Record<string, readonly [events: readonly TppEvent[], violation: RegExp]>> = {
  "no event at all": [[], /got events none of consent-1/],
  "the last event missing": [
    ALL.slice(0, -1),
    /got events Pending of payment-1, which became Pending, Accepted/,
  ],
  "two events of a resource in the wrong order": [
    ALL.toReversed(),
    /got events Consumed, Authorized of consent-1/,
  ],
  "an event of a change that was none": [[...ALL, event("payment-1", "Rejected")], /Rejected of payment-1/],
  "an event of another resource": [
    [...ALL, event("payment-2", "Pending")],
    /payment-2, which changed nothing/,
  ],
};

Deno.test("the prover finds lost, invented and unordered events [EVT1]", async (t) => {
  await steps(t, FAULTS, ([events, violation]) => {
    const { violations } = judgeEvents([CASE], events);
    assertMatch(violations[0] ?? "", violation);
    return Promise.resolve();
  });
});
