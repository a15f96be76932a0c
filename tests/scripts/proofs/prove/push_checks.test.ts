/** The prover finds pushes that are changed, parallel, out of order, or left. */
import { assertEquals, assertMatch } from "@std/assert";
import { UnsecuredJWT } from "jose";
import { judgePushes } from "../../../../scripts/proofs/prove/event_checks.ts";
import type { Delivery } from "../../../../scripts/proofs/prove/push_receiver.ts";
import { steps } from "support/steps.ts";

/** A push from the place `begun` to `ended` of all pushes. */
function push(
  jti: string,
  [begun, ended]: readonly [number, number],
  answer: number | undefined,
  { resource = "payment-1", status = jti, at = 0 } = {},
): Delivery {
  const token = new UnsecuredJWT({ jti, sub: resource, toe: at, events: { status } }).encode();
  return { token, begun, ended, answer, isStored: true };
}

const SOUND = [
  push("1", [1, 2], undefined),
  push("1", [4, 5], 202),
  push("1", [7, 8], 202), // the platform was killed before it had recorded the answer
  push("2", [9, 12], 500),
  push("other", [3, 20], 202, { resource: "payment-2" }),
  push("2", [13, 14], 202),
  push("7-b-bank-1", [15, 18], 202, { resource: "all banks" }),
  push("8-b-bank-2", [16, 17], 202, { resource: "all banks" }),
];

Deno.test("the prover takes repeated pushes as such [EVT12, EVT13]", () => {
  const results = judgePushes({ deliveries: SOUND, unverified: [], left: [] });
  assertEquals(results.flatMap(({ violations }) => violations), []);
  assertEquals(results.map(({ judged }) => judged), [8, 8, 8, 8]);
});

const FAULTS: Readonly<Record<string, readonly [Partial<Parameters<typeof judgePushes>[0]>, RegExp]>> = {
  "other claims under one jti": [
    { deliveries: [...SOUND, push("2", [21, 22], 202, { at: 1 })] },
    /^the event 2 was pushed with other claims$/,
  ],
  "another jti for one event": [
    { deliveries: [...SOUND, push("3", [21, 22], 202, { status: "2" })] },
    /^one event was pushed as 2 and 3$/,
  ],
  "two pushes of one event at a time": [
    { deliveries: [push("1", [1, 3], 202), push("1", [2, 4], 202)] },
    /^the event 1 was pushed while another push of its resource was under way$/,
  ],
  "two events of a resource at a time": [
    { deliveries: [push("1", [1, 3], 202), push("2", [2, 4], 202)] },
    /^the event 2 was pushed while another push of its resource was under way$/,
  ],
  "two notices of a bank at a time": [
    { deliveries: [push("1-b-bank", [1, 3], 202), push("2-b-bank", [2, 4], 202)] },
    /^the event 2-b-bank was pushed while another push of its resource was under way$/,
  ],
  "an event before the one before it was acknowledged": [
    { deliveries: [push("1", [1, 2], 503), push("2", [3, 4], 202)] },
    /^the event 2 was pushed, and 1 of the same resource was not acknowledged$/,
  ],
  "an event again after a later one": [
    { deliveries: [...SOUND, push("1", [21, 22], 202)] },
    /^the event 1 was pushed again after a later one of its resource$/,
  ],
  "an event that still waits": [{ left: ["3"] }, /^the event 3 still waits to be pushed$/],
  "a token that does not verify": [{ unverified: ["a pushed token does not verify"] }, /does not verify$/],
};

Deno.test("the prover finds pushes that break the contract [EVT12, EVT13]", async (t) => {
  await steps(t, FAULTS, ([part, violation]) => {
    const results = judgePushes({ deliveries: SOUND, unverified: [], left: [], ...part });
    assertMatch(results.flatMap(({ violations }) => violations)[0] ?? "", violation);
    return Promise.resolve();
  });
});
