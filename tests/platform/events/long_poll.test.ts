/** A poll that waits for an event (contract EVT8). It waits in real time, so these tests do too. */
import { assert, assertEquals } from "@std/assert";
import { openLongPolls } from "../../../src/platform/events/long_polls.ts";
import type { BankCode, ClientId } from "../../../src/base/kernel/identifiers.ts";
import { firstOf } from "testing/answers.ts";
import type { Reports } from "testing/operation_answers.ts";
import { authorise, authorised, toBank } from "testing/authorization_flow.ts";
import { BASE_URL, openEnvironment } from "testing/environment.ts";
import { dpopProof } from "testing/jwts.ts";
import { clientToken, good } from "testing/flows.ts";
import { openServedEnvironment } from "testing/served_environment.ts";
import { anotherProcess, at } from "support/processes.ts";
import { until } from "support/raw_client.ts";
import { test } from "support/environment_test.ts";
import { EVENTS, poll, polled } from "./poll.ts";

const WAITS = {};
const LONGEST_MS = 15_000;

async function timed<T>(work: Promise<T>): Promise<{ result: T; ms: number }> {
  const began = performance.now();
  return { result: await work, ms: performance.now() - began };
}

/** Far less than the longest wait, on a computer that does other work too. */
const SOON_MS = 6000;

/** Gives a poll that was sent the time to begin its wait. A poll that has not begun it by then is answered as well. */
async function soon(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 300));
}

test("a waiting poll is answered as soon as its event is committed, by this process or another [EVT8, M1]", async ({ env, t }) => {
  const other = await anotherProcess(env);
  for (const [name, here] of [["this", env], ["another", at(env, other)]] as const) {
    await t.step(name, async () => {
      const flow = await toBank(env);
      const waits = timed(polled(here, WAITS));
      await soon();
      const committed = performance.now();
      await authorise(env, flow);
      const { result: { events } } = await waits;
      assert(performance.now() - committed < SOON_MS, "the poll waited on");
      assertEquals(events.map(({ what, resource }) => [what, resource]), [
        ["consent-authorised Authorized", flow.consentId],
      ]);
      await polled(env, { ack: events.map(({ jti }) => jti), returnImmediately: true });
    });
  }
  await other.stop();
});

test("a poll with waiting events, with maxEvents 0 or with returnImmediately does not wait [EVT8]", async ({ env }) => {
  for (const body of [{ returnImmediately: true }, { maxEvents: 0 }]) {
    assert((await timed(polled(env, body))).ms < SOON_MS);
  }
  await authorised(env);
  const { result, ms } = await timed(polled(env, WAITS));
  assert(result.events.length === 1 && ms < SOON_MS);
});

Deno.test("a poll waits 15 s at most, with no place in work, and then returns no event [EVT8]", async () => {
  await using env = await openEnvironment({
    environment: { PLATFORM_REQUESTS_IN_WORK: "1", PLATFORM_REQUEST_WAIT_SECONDS: "2" },
  });
  const waits = timed(polled(env, WAITS));
  await soon();
  await clientToken(env, env.otherTpp); // else 503 after 2 s: the one place is taken
  const { result, ms } = await waits;
  assertEquals(result, { events: [], moreAvailable: false });
  assert(ms >= LONGEST_MS - 100 && ms < LONGEST_MS + 10_000, `${ms} ms`);
});

test("the wait of a poll is not part of its time in the bank's figures and the metrics [EVT8, REP1]", async ({ env }) => {
  const waits = polled(env, WAITS);
  await new Promise((resolve) => setTimeout(resolve, 5000)); // longer than the figures' last bound, 3 s
  await authorised(env);
  assertEquals((await waits).events.length, 1);
  await env.platform.writeFigures();
  const query = "banks?from=2040-01-15&until=2040-01-15&id=BANKA";
  const { Data } = await good<Reports>(env.asOperator(`/operations/reports/${query}`, {}, "viewer"), 200);
  const { Requests: { MedianAtMost: median, Percentile95AtMost: most } } = firstOf(firstOf(Data.Report).Day);
  assert(median !== null && most !== null, "no bound holds for the bank's slowest requests");
  const metrics = await (await env.asOperator("/operations/metrics", {}, "viewer")).text();
  const series = 'platform_request_duration_seconds_sum{route="/{bank}/events/v1"}';
  const line = metrics.split("\n").find((one) => one.startsWith(series));
  const seconds = Number(line?.slice(series.length));
  assert(seconds > 0 && seconds < 4, `${line}`);
});

test("of one client's polls two wait; a third is answered at once, and other clients wait [EVT8]", async ({ env }) => {
  const bound = await clientToken(env, env.tpp);
  const other = await clientToken(env, env.otherTpp);
  let open = 0;
  const start = (options: Parameters<typeof poll>[2]): Promise<void> => {
    open++;
    return good(poll(env, WAITS, options), 200).then(() => void open--);
  };
  const own = [start({ bound }), start({ bound }), start({ bound })];
  const others = start({ by: env.otherTpp, bound: other });
  await until(() => open === 3);
  await authorise(env, await toBank(env));
  await Promise.all(own);
  assertEquals(open, 1);
  await others;
});

test("the proof of a poll that waits cannot be used again meanwhile [EVT8, DP11]", async ({ env }) => {
  const bound = await clientToken(env, env.tpp);
  const url = `${BASE_URL}${EVENTS}`;
  const proof = await dpopProof(env, bound.key, { method: "POST", url, accessToken: bound.token });
  const waits = poll(env, WAITS, { bound, proof });
  await soon();
  const { result, ms } = await timed(poll(env, WAITS, { bound, proof }));
  assert(result.status === 401 && ms < SOON_MS, `${result.status} after ${ms} ms`);
  await authorise(env, await toBank(env));
  assertEquals((await waits).status, 200);
});

Deno.test("a waiting poll looks at once when its process commits an event of its client [EVT8]", async () => {
  const wakes: (() => void)[] = [];
  const onStaged = (_: unknown, wake: () => void): () => void => (wakes.push(wake), () => {});
  const awaitEvents = openLongPolls({ events: { onStaged }, isServing: () => wakes.length < 5 });
  let reads = 0;
  const read = (): Promise<[]> => (reads++, Promise.resolve([]));
  const owner = { clientId: "SC-1" as ClientId, bank: "BANKA" as BankCode };
  const began = performance.now();
  const waits = awaitEvents(owner, read, () => Promise.resolve());
  for (let wake = 0; wake < 5; wake++) {
    await until(() => wakes.length > wake);
    wakes[wake]?.();
  }
  await waits;
  assertEquals(reads, 6);
  assert(performance.now() - began < 4000, "five rounds of a second were cut short");
});

Deno.test("of many polls 50 wait in a process, each looks at most once a second, and all end when it stops [EVT8]", async () => {
  let serving = true;
  const awaitEvents = openLongPolls({ events: { onStaged: () => () => {} }, isServing: () => serving });
  let reads = 0;
  let open = 60;
  const read = (): Promise<[]> => (reads++, Promise.resolve([]));
  const all = Array.from({ length: open }, async (_, n) => {
    await awaitEvents(
      { clientId: `SC-${n}` as ClientId, bank: "BANKA" as BankCode },
      read,
      () => Promise.resolve(),
    );
    open--;
  });
  await until(() => open === 50);
  const began = performance.now();
  assertEquals(reads, 60);
  await until(() => reads === 110);
  assert(performance.now() - began > 500, "each has looked again, after a second");
  assertEquals(open, 50);
  serving = false;
  assert((await timed(Promise.all(all))).ms < SOON_MS);
});

Deno.test("of one client's polls 10 wait in a process, at however many banks, and other clients wait [EVT8]", async () => {
  let serving = true;
  const awaitEvents = openLongPolls({ events: { onStaged: () => () => {} }, isServing: () => serving });
  const waiting = new Map<string, number>();
  const start = async (clientId: string, bank: number): Promise<void> => {
    const owner = { clientId: clientId as ClientId, bank: `BANK${bank}` as BankCode };
    const add = (by: number): void => void waiting.set(clientId, (waiting.get(clientId) ?? 0) + by);
    add(1);
    await awaitEvents(owner, () => Promise.resolve([]), () => Promise.resolve());
    add(-1);
  };
  const polls = (clientId: string): Promise<void>[] =>
    Array.from({ length: 24 }, (_, n) => start(clientId, n >> 1));
  const all = [...polls("SC-1"), ...polls("SC-2")];
  await soon();
  assertEquals([...waiting], [["SC-1", 10], ["SC-2", 10]]);
  serving = false;
  await Promise.all(all);
  serving = true;
  const again = polls("SC-1");
  await soon();
  assertEquals(waiting.get("SC-1"), 10, "ended waits have given their places back");
  serving = false;
  await Promise.all(again);
});

Deno.test("a process with a waiting poll stops in time, and answers the poll [EVT8]", async () => {
  await using environment = await openServedEnvironment({});
  const bound = await clientToken(environment, environment.tpp);
  const waits = timed(poll(environment, WAITS, { bound }));
  await soon();
  environment.process.kill("SIGTERM");
  const { result, ms } = await waits;
  assertEquals([result.status, await result.json()], [200, { moreAvailable: false, sets: {} }]);
  assert(ms < SOON_MS, `${ms} ms`);
  assertEquals(await environment.process.ended, { code: 0, stderr: "" });
});
