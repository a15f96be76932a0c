/** Rejections of an event, and how they differ from an outage (contract EVT12). */
import { assertEquals } from "@std/assert";
import type { LogLine } from "testing/answers.ts";
import { authorised } from "testing/authorization_flow.ts";
import { steps } from "support/steps.ts";
import { waiting } from "./poll.ts";
import {
  acknowledges,
  away,
  openReceiver,
  pushedLater,
  type ReceiverAnswer,
  type ReceiverEnvironment,
  rejects,
} from "./receiver.ts";

const busy: ReceiverAnswer = () => new Response(null, { status: 429, headers: { "retry-after": "5" } });

/** Gives the answer to the next pushes of the one event, each when it is due. Returns how many there were. */
async function pushes(env: ReceiverEnvironment, answer: ReceiverAnswer, times: number): Promise<number> {
  env.answer = answer;
  const before = env.received.length;
  for (let tried = 0; tried < times; tried++) await pushedLater(env, 700_000);
  return env.received.length - before;
}

const NOT_YET_DEAD: Readonly<Record<string, readonly (readonly [ReceiverAnswer, times: number])[]>> = {
  "after an outage, a receiver that is busy": [[away, 12], [busy, 1]],
  "after an outage, a receiver that rejects 10 times": [[away, 12], [rejects(), 10]],
  "a receiver that is busy all the time": [[busy, 15]],
  "a receiver that rejects 10 times, with outages and pauses between": [
    [rejects(), 5],
    [busy, 3],
    [away, 3],
    [rejects(), 5],
  ],
};

Deno.test("an event is not dead before it was rejected 11 times: outages and 429 with Retry-After do not count [EVT12]", async (t) => {
  await steps(t, NOT_YET_DEAD, async (answers) => {
    await using env = await openReceiver();
    await authorised(env);
    for (const [answer, times] of answers) assertEquals(await pushes(env, answer, times), times);
    assertEquals(await pushes(env, acknowledges, 1), 1);
    assertEquals(await waiting(env), []);
  });
});

Deno.test("an event is dead after 11 rejections, whatever came between; 429 without Retry-After is one [EVT12]", async () => {
  await using env = await openReceiver();
  await authorised(env);
  await pushes(env, away, 3);
  await pushes(env, rejects(), 10);
  await pushes(env, busy, 2);
  assertEquals(await pushes(env, () => new Response(null, { status: 429 }), 3), 1);
  const [dead] = env.logged.map((line) => JSON.parse(line) as LogLine).filter(({ event }) =>
    event === "event.dead"
  );
  assertEquals([dead?.failures, dead?.why], [16, "status 429"]);
});
