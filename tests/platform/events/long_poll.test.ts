/** A poll that waits for an event (contract EVT8). It waits in real time, so these tests do too. */
import { assert, assertEquals } from "@std/assert";
import { openLongPolls } from "../../../src/platform/events/long_polls.ts";
import type { BankCode, ClientId } from "../../../src/base/kernel/identifiers.ts";
import { authorise, authorised, toBank } from "testing/authorization_flow.ts";
import { BASE_URL, openEnvironment } from "testing/environment.ts";
import { dpopProof } from "testing/jwts.ts";
import { clientToken, good } from "testing/flows.ts";
import { openServedEnvironment } from "testing/served_environment.ts";
import { anotherProcess, at } from "support/processes.ts";
import { EVENTS, poll, polled } from "./poll.ts";

const WAITS = {};
const LONGEST_MS = 15_000;

async function timed<T>(work: Promise<T>): Promise<{ result: T; ms: number }> {
  const began = performance.now();
  return { result: await work, ms: performance.now() - began };
}

/** Resolves when so many polls have released their place in the admission control. */
async function soon(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 300));
}

Deno.test("a waiting poll is answered as soon as its event is committed, by this process or another [EVT8, M1]", async (t) => {
  await using env = await openEnvironment();
  const other = await anotherProcess(env);
  for (const [name, here, longest] of [["this", env, 500], ["another", at(env, other), 1600]] as const) {
    await t.step(name, async () => {
      const flow = await toBank(env);
      const waits = timed(polled(here, WAITS));
      await soon();
      const committed = performance.now();
      await authorise(env, flow);
      const { result: { events } } = await waits;
      assert(performance.now() - committed < longest + 500, "the poll waited on");
      assertEquals(events.map(({ what, resource }) => [what, resource]), [
        ["consent-authorised Authorized", flow.consentId],
      ]);
      await polled(env, { ack: events.map(({ jti }) => jti), returnImmediately: true });
    });
  }
  await other.stop();
});

Deno.test("a poll with waiting events, with maxEvents 0 or with returnImmediately does not wait [EVT8]", async () => {
  await using env = await openEnvironment();
  for (const body of [{ returnImmediately: true }, { maxEvents: 0 }]) {
    assert((await timed(polled(env, body))).ms < 1000);
  }
  await authorised(env);
  const { result, ms } = await timed(polled(env, WAITS));
  assert(result.events.length === 1 && ms < 1000);
});

Deno.test("a poll waits 15 s at most, with no place in work, and then returns no event [EVT8]", async () => {
  await using env = await openEnvironment({
    environment: { REQUESTS_IN_WORK: "1", REQUEST_WAIT_SECONDS: "2" },
  });
  const waits = timed(polled(env, WAITS));
  await soon();
  const { ms: token } = await timed(clientToken(env, env.otherTpp));
  assert(token < 1500, "the one place is free");
  const { result, ms } = await waits;
  assertEquals(result, { events: [], moreAvailable: false });
  assert(ms >= LONGEST_MS - 100 && ms < LONGEST_MS + 4000, `${ms} ms`);
});

Deno.test("of one client's polls two wait; a third is answered at once, and other clients wait [EVT8]", async () => {
  await using env = await openEnvironment();
  const bound = await clientToken(env, env.tpp);
  const other = await clientToken(env, env.otherTpp);
  let open = 0;
  const start = (options: Parameters<typeof poll>[2]): Promise<void> => {
    open++;
    return good(poll(env, WAITS, options), 200).then(() => void open--);
  };
  const own = [start({ bound }), start({ bound }), start({ bound })];
  const others = start({ by: env.otherTpp, bound: other });
  await soon();
  assertEquals(open, 3);
  await authorise(env, await toBank(env));
  await Promise.all(own);
  assertEquals(open, 1);
  await others;
});

Deno.test("the proof of a poll that waits cannot be used again meanwhile [EVT8, DP11]", async () => {
  await using env = await openEnvironment();
  const bound = await clientToken(env, env.tpp);
  const url = `${BASE_URL}${EVENTS}`;
  const proof = await dpopProof(env, bound.key, { method: "POST", url, accessToken: bound.token });
  const waits = poll(env, WAITS, { bound, proof });
  await soon();
  const { result, ms } = await timed(poll(env, WAITS, { bound, proof }));
  assert(result.status === 401 && ms < 1500, `${result.status} after ${ms} ms`);
  await authorise(env, await toBank(env));
  assertEquals((await waits).status, 200);
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
  await soon();
  assertEquals([open, reads], [50, 60]);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  assertEquals([open, reads], [50, 110]);
  serving = false;
  assert((await timed(Promise.all(all))).ms < 1500);
});

Deno.test("a process with a waiting poll stops in time, and answers the poll [EVT8]", async () => {
  await using environment = await openServedEnvironment({});
  const bound = await clientToken(environment, environment.tpp);
  const waits = timed(poll(environment, WAITS, { bound }));
  await soon();
  environment.process.kill("SIGTERM");
  const { result, ms } = await waits;
  assertEquals([result.status, await result.json()], [200, { moreAvailable: false, sets: {} }]);
  assert(ms < 4000, `${ms} ms`);
  assertEquals(await environment.process.ended, { code: 0, stderr: "" });
});
