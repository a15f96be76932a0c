import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { leaveInTurn, openLane, turn } from "./lanes.ts";

Deno.test("a request is rejected when no place becomes free in time, and when its caller's queue is full", async () => {
  const { ask, lane } = openLane(1, { waitMs: 20 });
  const place = await ask("a");
  assertEquals(await ask("a"), undefined);
  const { rejectedLate, rejectedFull } = lane.state();
  assertEquals([rejectedLate, rejectedFull], [1, 0]);
  const flood = Array.from({ length: 300 }, () => ask("a"));
  assertEquals([lane.state().waiting, lane.state().rejectedFull], [256, 44]);
  const other = ask("b");
  place?.leave();
  (await other)?.leave();
  await leaveInTurn(flood);
  assertEquals([lane.state().inWork, lane.state().waiting], [0, 0]);
});

Deno.test("when many wait, a caller with one waiting request gets no second one in, and a new caller still its first", async () => {
  const { ask, lane } = openLane(1);
  const place = await ask("holder");
  const waiting = Array.from({ length: 1024 }, (_, n) => ask(`caller ${n % 8} `));
  assertEquals(lane.state().waiting, 1024);
  assertEquals(await ask("caller 1 "), undefined);
  const first = ask("new");
  assertEquals(lane.state().waiting, 1025);
  assertEquals(await ask("new"), undefined);
  place?.leave();
  await leaveInTurn([...waiting, first]);
  assertEquals(lane.state().waiting, 0);
});

Deno.test("a request that waits again while its place is not back yet takes one place, and leaves none behind", async () => {
  const { ask, lane } = openLane(1);
  const place = await ask("a");
  const first = Promise.withResolvers<void>();
  const waiting = [place?.releaseWhile(() => first.promise)];
  const other = await ask("b"); // has the place while the first waits
  first.resolve();
  await turn();
  waiting.push(place?.releaseWhile(() => Promise.resolve()));
  await turn();
  other?.leave();
  await Promise.all(waiting);
  assertEquals(lane.state().inWork, 1);
  place?.leave();
  await turn();
  assertEquals(lane.state().inWork, 0);
});

Deno.test("whatever callers do, work stays within its places and every place comes back", async () => {
  const act = fc.record({
    caller: fc.constantFrom("a", "b", "c"),
    urgent: fc.boolean(),
    then: fc.constantFrom("leave", "aside", "asides", "demote", "leave while aside"),
    turns: fc.nat(3),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(act, { maxLength: 30 }),
      fc.integer({ min: 1, max: 3 }),
      async (acts, places) => {
        const { ask, lane } = openLane(places, { ordinaryPlaces: Math.ceil(places / 2) });
        const within = (): void =>
          assert(lane.state().inWork <= places, `${lane.state().inWork} of ${places}`);
        await Promise.all(acts.map(async ({ caller, urgent, then, turns }) => {
          for (let n = 0; n < turns; n++) await turn();
          const place = await ask(caller, urgent);
          within();
          if (then === "aside") await place?.releaseWhile(turn);
          if (then === "asides") {
            await Promise.all([
              place?.releaseWhile(turn),
              turn().then(() => place?.releaseWhile(async () => {})),
            ]);
          }
          const waiting = then === "leave while aside" ? place?.releaseWhile(turn) : undefined;
          if (then === "demote") await place?.demote();
          within();
          place?.leave();
          await waiting;
          within();
        }));
        assertEquals([lane.state().inWork, lane.state().waiting, lane.state().rejectedLate], [0, 0, 0]);
        const [all] = [await Promise.all(Array.from({ length: places }, () => ask("d", true)))]; // none is lost
        all.forEach((place) => place?.leave());
      },
    ),
    { numRuns: 60 },
  );
});
