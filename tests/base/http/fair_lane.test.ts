/** A lane of the admission control: bounded work, bounded waits, turns between callers, urgent requests first. */
import { assertEquals } from "@std/assert";
import { leaveInTurn, openLane, turn } from "./lanes.ts";

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
  const waiting = place?.releaseWhile(() => answer.promise);
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
  const waiting = place?.releaseWhile(() => answer.promise);
  place?.leave();
  answer.resolve();
  await waiting;
  assertEquals(lane.state().inWork, 0);
});

Deno.test("a request that ends while it waits for its place again gives that place back", async () => {
  const { ask, lane } = openLane(1);
  const place = await ask("a");
  const answer = Promise.withResolvers<void>();
  const waiting = place?.releaseWhile(() => answer.promise);
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
