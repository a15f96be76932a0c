/** How many requests of each lane are in work at once, from the one number that an operator sets. */
import { assertEquals } from "@std/assert";
import { laneBounds } from "../../../../src/platform/guards/http/lane_bounds.ts";

/** The places of each lane, and how many of them a request without urgency may have. */
function placesOf(requestsInWork: number): Readonly<Record<string, readonly [number, number]>> {
  const bounds = Object.entries(laneBounds({ requestsInWork, requestWaitSeconds: 3 }));
  assertEquals([...new Set(bounds.map(([, { waitMs }]) => waitMs))], [3000]);
  return Object.fromEntries(
    bounds.map(([name, { places, ordinaryPlaces }]) => [name, [places, ordinaryPlaces]]),
  );
}

Deno.test("a quarter of the participants' and half of the customers' places are for what ends a payment; every other lane has its share", () => {
  const fixed = { operator: [2, 2], people: [2, 2], probes: [2, 2] } as const;
  assertEquals(placesOf(64), {
    participants: [64, 48],
    banks: [32, 32],
    customers: [32, 16],
    public: [16, 16],
    ...fixed,
  });
  assertEquals(placesOf(7), {
    participants: [7, 6],
    banks: [4, 4],
    customers: [4, 2],
    public: [2, 2],
    ...fixed,
  });
});

Deno.test("every lane has a place, however small the number is", () => {
  const fixed = { operator: [2, 2], people: [2, 2], probes: [2, 2] } as const;
  assertEquals(placesOf(1), {
    participants: [1, 1],
    banks: [1, 1],
    customers: [1, 1],
    public: [1, 1],
    ...fixed,
  });
});
