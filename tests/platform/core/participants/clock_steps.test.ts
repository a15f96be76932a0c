/** The clock of the platform's computer is put back or ahead: ages, waits and single use hold all the same. */
import { assertEquals } from "@std/assert";
import { forUrls, revokeKey, serving, STATUS_URL } from "support/directory_network.ts";
import { call, clientToken, tokenStatus } from "testing/flows.ts";
import { asPaymentId } from "../../../../src/base/kernel/identifiers.ts";
import { commitIfUnchanged } from "../../../../src/base/store/transaction.ts";
import { isQueued, leaseOrder, putOff } from "../../../../src/platform/core/payments/payment_order.ts";
import { openOrderOutboxStore } from "../../../../src/platform/core/payments/order_outbox_store.ts";
import { dpopProof } from "testing/jwts.ts";
import { accepts, copiesOf, down, openPushEnvironment, orderIdOf, paid, statusOf } from "support/orders.ts";
import { type Environment, type EnvironmentOptions, openEnvironment } from "testing/environment.ts";
import { stepsOf } from "support/steps.ts";
import { openTestStore } from "testing/test_store.ts";
import type { Key, Store } from "../../../../src/base/store/store.ts";

/** An in-memory store. */
interface ExpiringStore extends Store {
  /** Deletes every entry that has expired at `now` (ms). */
  deleteExpired(now: number): Promise<void>;
}

async function openExpiringStore(): Promise<ExpiringStore> {
  const store = await openTestStore();
  const expiries = new Map<string, { readonly key: Key; readonly at: number }>();
  return {
    ...store,
    async commit(staged) {
      const isDone = await store.commit(staged);
      for (const write of isDone ? staged.writes : []) {
        const expiresAt = write.kind === "set" ? write.expiresAt : undefined;
        if (expiresAt === undefined) expiries.delete(write.key.join("\n"));
        else expiries.set(write.key.join("\n"), { key: write.key, at: expiresAt });
      }
      return isDone;
    },
    async deleteExpired(now) {
      for (const { key } of [...expiries.values()].filter(({ at }) => at <= now)) {
        await store.commit({ checks: [], writes: [{ kind: "delete", key }] });
        expiries.delete(key.join("\n"));
      }
    },
  };
}

const HOUR_MS = 3_600_000;

/** An ecosystem whose certificates have been valid for longer than the steps. */
async function openOldEnvironment(options?: EnvironmentOptions): Promise<Environment> {
  const env = await openEnvironment(options);
  env.now += 2 * HOUR_MS;
  return env;
}

/** The environment for a party whose clock is wrong in the same way as the platform's. */
function alike(env: Environment): Environment {
  return { ...env, now: env.now + env.clockStep };
}

Deno.test("a revoked key works for 300 s at most, also if the clock is put back by an hour [A9]", async (t) => {
  for (const afterMs of [300_000, HOUR_MS - 1, HOUR_MS + 100_000]) {
    await t.step(`${afterMs / 1000} s later`, async () => {
      await using env = await openOldEnvironment();
      assertEquals(await tokenStatus(alike(env)), 200);
      const unchanging = await (await env.directory.fetch(new Request(STATUS_URL))).text();
      env.network = forUrls(env, ({ href }) => href === STATUS_URL, serving(unchanging));
      await revokeKey(env, env.tpp, env.tpp.signing);
      env.clockStep = -HOUR_MS;
      env.now += afterMs;
      assertEquals(await tokenStatus(alike(env)), 401);
    });
  }
});

Deno.test("copies of the directory are trusted for 900 s, wherever the clock is put [A9]", async (t) => {
  await stepsOf(t, [-HOUR_MS, -500_000], (clockStep) => `by ${clockStep / 1000} s`, async (clockStep) => {
    await using env = await openOldEnvironment();
    assertEquals(await tokenStatus(alike(env)), 200);
    env.network = () => Promise.reject(new TypeError("connection refused"));
    env.clockStep = clockStep;
    const token = await clientToken(alike(env), env.tpp); // what was issued in the future is no longer good
    env.now += 899_000;
    const path = "/BANKA/domestic-payment-consents/v1/unknown";
    assertEquals((await call(alike(env), env.tpp, token, path)).status, 400);
    assertEquals(await tokenStatus(alike(env)), 200);
    env.now += 2000;
    assertEquals(await tokenStatus(alike(env)), 503);
  });
});

Deno.test("an order that waits is pushed when it is due, though the clock is put back [D4]", async (t) => {
  for (const restarts of [false, true]) {
    await t.step(restarts ? "and the platform started again" : "and the platform goes on", async () => {
      await using env = await openPushEnvironment(down);
      const { DomesticPaymentId: id } = await paid(env);
      env.answer = accepts;
      env.clockStep = restarts ? -HOUR_MS : -600_000; // less than the longest wait: no reason to push at once
      if (restarts) await env.restart();
      env.now += 1250;
      assertEquals(await env.platform.deliverDueOrders(), 1);
      env.clockStep = 0;
      assertEquals(await statusOf(env, id), "AcceptedSettlementInProcess");
    });
  }
});

Deno.test("an order never waits for longer than its longest wait, if the platform starts again after a step back [D4]", async () => {
  await using env = await openPushEnvironment(down);
  await paid(env);
  env.answer = accepts;
  env.clockStep = -600_000;
  await env.restart();
  env.now += 600_000;
  assertEquals(await env.platform.deliverDueOrders(), 0);
  env.now += 1250;
  assertEquals(await env.platform.deliverDueOrders(), 1);
});

Deno.test("an order that seems further ahead than its longest wait does not stand behind those of its bank that wait [D4]", async () => {
  await using env = await openPushEnvironment(down);
  const { DomesticPaymentId: ahead } = await paid(env);
  const [waiting = ""] = await copiesOf(env, ahead, 1);
  env.answer = accepts;
  env.clockStep = -HOUR_MS;
  await env.restart();
  await queueAt(env, waiting, env.now + env.clockStep + 60_000);
  assertEquals(await env.platform.deliverDueOrders(), 1);
  assertEquals(env.pushes.slice(1).map(orderIdOf), [ahead]);
});

/** As the worker of this process would: the order is due then. */
async function queueAt(env: Environment, id: string, dueAt: number): Promise<void> {
  const deps = { store: env.store, clock: () => env.now };
  const outbox = openOrderOutboxStore(env.store);
  const paymentId = asPaymentId(id);
  const order = paymentId === undefined ? null : await outbox.find(env.store, paymentId);
  if (order === null || !isQueued(order.value)) throw new Error(`${id} has no order in the queue`);
  const { value } = order;
  const isStored = await commitIfUnchanged(
    deps,
    (tx) => outbox.stageChange(tx, order, putOff(leaseOrder(value, env.now), dueAt)),
  );
  assertEquals(isStored, true);
}

Deno.test("a proof that was used is not accepted again, though its record has expired and the clock is put back [DP-N14]", async () => {
  const store = await openExpiringStore();
  await using env = await openOldEnvironment({ store });
  const bound = await clientToken(env, env.tpp);
  const path = "/BANKA/domestic-payment-consents/v1/unknown";
  const url = `https://api.platform.example${path}`;
  const proof = await dpopProof(env, bound.key, { method: "GET", url, accessToken: bound.token });
  const statusOfUse = async (): Promise<number> => {
    await store.deleteExpired(env.now + env.clockStep);
    return (await call(env, env.tpp, bound, path, { proof })).status;
  };
  assertEquals(await statusOfUse(), 400); // such a consent does not exist
  for (const stepMs of [-200_000, 200_000 - HOUR_MS]) {
    env.now -= stepMs;
    assertEquals(await statusOfUse(), 401, "too old");
    env.clockStep += stepMs;
    assertEquals(await statusOfUse(), 401, "used before");
  }
});

Deno.test("a token of the future is none: it outlives its hour by no step of the clock", async () => {
  await using env = await openOldEnvironment();
  const bound = await clientToken(env, env.tpp);
  const path = "/BANKA/domestic-payment-consents/v1/unknown";
  const statuses: number[] = [];
  for (const clockStep of [-30_000, -31_000, -HOUR_MS]) {
    env.clockStep = clockStep;
    statuses.push((await call(alike(env), env.tpp, bound, path)).status);
  }
  assertEquals(statuses, [400, 401, 401]);
});
