/** A lane of the admission control: bounded work, bounded waits, turns between callers, urgent requests first. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { FairLane, type Place } from "../../../src/base/http/fair_lane.ts";

const PATIENT = 60_000;

/** A lane whose grants are written down in their order. */
function openLane(places: number, { ordinaryPlaces = places, waitMs = PATIENT } = {}): {
  readonly lane: FairLane;
  readonly granted: string[];
  ask(caller: string, urgent?: boolean): Promise<Place | undefined>;
} {
  const lane = new FairLane({ places, ordinaryPlaces, waitMs });
  const granted: string[] = [];
  let number = 0;
  return {
    lane,
    granted,
    async ask(caller, urgent = false) {
      const name = `${caller}${++number}`;
      const place = await lane.enter(caller, urgent);
      if (place !== undefined) granted.push(name);
      return place;
    },
  };
}

async function turn(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
}

/** Leaves one after the other, each when it has its place. */
async function leaveInTurn(places: readonly Promise<Place | undefined>[]): Promise<void> {
  await Promise.all(places.map((place) => place.then((granted) => granted?.leave())));
}

Deno.test("a caller that sends many requests lets every other caller in after one of its own", async () => {
  const { ask, granted, lane } = openLane(1);
  const requests = ["a", "a", "a", "a", "b", "c", "b"].map((caller) => ask(caller));
  await leaveInTurn(requests);
  assertEquals(granted, ["a1", "a2", "b5", "c6", "a3", "b7", "a4"]);
  assertEquals([lane.state().inWork, lane.state().waiting], [0, 0]);
});

Deno.test("urgent requests go before the ordinary ones of their caller, not before another caller's turn", async () => {
  const { ask, granted } = openLane(1);
  const requests = [ask("x"), ask("a"), ask("b"), ask("a", true), ask("a", true)];
  await leaveInTurn(requests);
  assertEquals(granted, ["x1", "a4", "b3", "a5", "a2"]);
});

Deno.test("places that ordinary requests may not take stay free for an urgent one", async () => {
  const { ask, granted, lane } = openLane(2, { ordinaryPlaces: 1 });
  const [first, second] = [ask("a"), ask("a")];
  await turn();
  assertEquals([granted, lane.state().waiting], [["a1"], 1]);
  const urgent = await ask("b", true);
  assertEquals(granted, ["a1", "b3"]);
  urgent?.leave();
  await turn();
  assertEquals(granted, ["a1", "b3"]);
  await leaveInTurn([first, second]);
  assertEquals(granted, ["a1", "b3", "a2"]);
});

Deno.test("a request that waits for another party frees its place, and goes on before those that wait", async () => {
  const { ask, granted, lane } = openLane(1);
  const place = await ask("a");
  const answer = Promise.withResolvers<string>();
  const waiting = place?.aside(() => answer.promise);
  const next = await ask("b");
  assertEquals([granted, lane.state().inWork], [["a1", "b2"], 1]);
  const third = ask("c");
  answer.resolve("answered");
  await turn();
  next?.leave();
  assertEquals(await waiting, "answered");
  assertEquals(granted, ["a1", "b2"]);
  place?.leave();
  (await third)?.leave();
  assertEquals(lane.state().inWork, 0);
});

Deno.test("a request that ends while it waits for another party takes no place afterwards", async () => {
  const { ask, lane } = openLane(1);
  const place = await ask("a");
  const answer = Promise.withResolvers<void>();
  const waiting = place?.aside(() => answer.promise);
  place?.leave();
  answer.resolve();
  await waiting;
  assertEquals(lane.state().inWork, 0);
});

Deno.test("a request that ends while it waits for its place again gives that place back", async () => {
  const { ask, lane } = openLane(1);
  const place = await ask("a");
  const answer = Promise.withResolvers<void>();
  const waiting = place?.aside(() => answer.promise);
  const busy = await ask("b");
  answer.resolve();
  await turn();
  place?.leave();
  busy?.leave();
  await waiting;
  assertEquals(lane.state().inWork, 0);
});

Deno.test("a request that is not urgent after all waits as an ordinary one", async () => {
  const { ask, granted, lane } = openLane(2, { ordinaryPlaces: 1 });
  const ordinary = await ask("a");
  const place = await ask("a", true);
  const demoted = place?.demote();
  await turn();
  assertEquals([lane.state().inWork, lane.state().waiting, granted], [1, 1, ["a1", "a2"]]);
  ordinary?.leave();
  assertEquals(await demoted, true);
  place?.leave();
  const alone = await ask("a", true);
  assertEquals(await alone?.demote(), true); // with places free, at once
  alone?.leave();
  assertEquals(lane.state().inWork, 0);
});

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
  const waiting = [place?.aside(() => first.promise)];
  const other = await ask("b"); // has the place while the first waits
  first.resolve();
  await turn();
  waiting.push(place?.aside(() => Promise.resolve()));
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
          if (then === "aside") await place?.aside(turn);
          if (then === "asides") {
            await Promise.all([place?.aside(turn), turn().then(() => place?.aside(async () => {}))]);
          }
          const waiting = then === "leave while aside" ? place?.aside(turn) : undefined;
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
