/** The state that each process keeps for itself, and its consequences for several on one store [M1]. */
import { assert, assertEquals } from "@std/assert";
import type { LogLine } from "testing/answers.ts";
import type { Platform } from "../../../src/platform/process/compose.ts";
import { call, clientToken, createConsent, good, requestToken } from "testing/flows.ts";
import { onboard } from "testing/participants.ts";
import { type Environment } from "testing/environment.ts";
import { setOrganisation } from "support/directory_network.ts";
import {
  accepts,
  copiesOf,
  down,
  openPushEnvironment,
  outboxKeys,
  paid,
  type PushEnvironment,
} from "support/orders.ts";
import { anotherProcess, at } from "support/processes.ts";
import { BOUND_MS } from "support/standing.ts";
import { test } from "support/environment_test.ts";

/** Further orders, equal to this one, that no push has failed for. */
async function newOrders(env: PushEnvironment, id: string, count: number): Promise<void> {
  const copies = await copiesOf(env, id, count);
  const entries = await env.store.getMany<{ readonly failures: number }>(
    copies.map((copy) => ["outbox", copy]),
  );
  const writes = entries.flatMap((entry) =>
    entry === null ? [] : { kind: "set" as const, key: entry.key, value: { ...entry.value, failures: 0 } }
  );
  await env.store.commit({ checks: [], writes });
}

Deno.test("a bank that is down gets two probes at most from a process that knows it, and every order from any process once it is up [D4, M1]", async () => {
  await using env = await openPushEnvironment(down);
  const { DomesticPaymentId: id } = await paid(env);
  const one = env.platform;
  const other = await anotherProcess(env);
  const pass = async (milliseconds: number, ...workers: readonly Platform[]): Promise<number> => {
    env.now += milliseconds;
    env.pushes.length = 0;
    await Promise.all(workers.map((platform) => platform.deliverDueOrders()));
    return env.pushes.length;
  };
  await newOrders(env, id, 12);
  assert(await pass(1250, one) >= 4); // the first push of the request was the first of five failures
  const probes = await pass(40_000, one);
  assert(probes >= 1 && probes <= 2, `${probes} pushes`); // a new order and one that has failed before
  env.answer = accepts;
  for (let passes = 0; passes < 20 && (await outboxKeys(env)).length > 0; passes++) {
    await pass(40_000, one, other);
  }
  assertEquals(await outboxKeys(env), []);
  await other.stop();
});

test("a TPP that has registered at one process is known to another a second after that one read the directory's list [G5, M1]", async ({ env }) => {
  const other = await anotherProcess(env);
  const reached = at(env, other);
  assertEquals((await requestToken(reached, env.tpp)).status, 200);
  const redirectUris = ["https://third.example/cb"];
  const third = await onboard(env, { name: "Third Shop Ltd", role: "PISP", keys: [10, 11], redirectUris });
  env.now += 1000;
  assertEquals((await requestToken(reached, third)).status, 200);
  await other.stop();
});

test("a TPP that the directory suspends is rejected by both processes within 15 s [G5, M1]", async ({ env }) => {
  const other = await anotherProcess(env);
  const statuses = (): Promise<number[]> =>
    Promise.all([env.platform, other].map(async (platform) => {
      return (await requestToken(at(env, platform), env.tpp)).status;
    }));
  assertEquals(await statuses(), [200, 200]);
  await setOrganisation(env, env.tpp, "Suspended");
  env.now += BOUND_MS;
  assertEquals(await statuses(), [401, 401]);
  await other.stop();
});

test("a TPP that an operator blocks at one of three processes is rejected by every one within 2 s [OP4, M1]", async ({ env, t }) => {
  const platforms = [env.platform, await anotherProcess(env), await anotherProcess(env)];
  const [first, second, third] = platforms.map((platform) => at(env, platform)) as [
    Environment,
    Environment,
    Environment,
  ];
  const bound = await clientToken(env, env.tpp);
  const { ConsentId } = (await createConsent(env, bound)).Data;
  const outcomes = (of = env.tpp): Promise<number[]> =>
    Promise.all([first, second, third].map(async (process) => (await requestToken(process, of)).status));
  const calls = (): Promise<number[]> =>
    Promise.all([first, second, third].map(async (process) => {
      const path = `/BANKA/domestic-payment-consents/v1/${ConsentId}`;
      const answer = await call(process, env.tpp, bound, path);
      await answer.body?.cancel();
      return answer.status;
    }));
  const change = async (process: Environment, what: "block" | "unblock"): Promise<void> => {
    const Data = { Reason: "Fraud is suspected, case 4711." };
    const headers = { "content-type": "application/json" };
    const path = `/operations/software/${env.tpp.clientId}/${what}`;
    const init = { method: "POST", headers, body: JSON.stringify({ Data }) };
    await good(process.asOperator(path, init), 200);
    env.now += 2000;
  };
  await t.step("all three accept", async () => {
    assertEquals([await outcomes(), await calls()], [[200, 200, 200], [200, 200, 200]]);
  });
  await t.step("blocked at the first", async () => {
    await change(first, "block");
    assertEquals([await outcomes(), await calls()], [[401, 401, 401], [401, 401, 401]]);
    assertEquals(await outcomes(env.otherTpp), [200, 200, 200]);
  });
  await t.step("unblocked at the third", async () => {
    await change(third, "unblock");
    assertEquals([await outcomes(), await calls()], [[200, 200, 200], [200, 200, 200]]);
  });
  for (const other of platforms.slice(1)) await other.stop();
});

test("a process whose clock is more than 2 s behind another's logs it once, and again after it was right [M1]", async ({ env }) => {
  const ahead = await anotherProcess(env, () => 5000);
  const alarms = async (step: number): Promise<unknown[]> => {
    env.logged.length = 0;
    env.clockStep = step;
    for (let second = 0; second < 30; second++) {
      env.now += 1000;
      await ahead.markAge();
      await env.platform.markAge();
    }
    return env.logged.map((line) => JSON.parse(line) as LogLine).filter(({ event }) =>
      event === "clock.behind_process"
    )
      .map(({ level, seconds }) => (assertEquals(level, "error"), seconds));
  };
  assertEquals(await alarms(3000), []);
  assertEquals(await alarms(2000), [3]);
  assertEquals(await alarms(2000), []);
  assertEquals(await alarms(4000), []);
  assertEquals(await alarms(-5000), [10]);
  await ahead.stop();
});

test("a process whose own clock is put back does not take its own mark for another process's [M1]", async ({ env }) => {
  env.logged.length = 0;
  for (const step of [0, -9000]) {
    env.clockStep = step;
    env.now += 60_000;
    await env.platform.markAge(); // stores a mark
    env.clockStep = step - 9000;
    await env.platform.markAge(); // reads it
  }
  assertEquals(env.logged.filter((line) => line.includes("clock.behind_process")), []);
});
