import { assert, assertEquals, assertRejects } from "@std/assert";
import { type LogLine, memberOf, present } from "testing/answers.ts";
import {
  type BoundToken,
  call,
  clientToken,
  consentBody,
  good,
  pay,
  push,
  requestToken,
} from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { down, later, openPushEnvironment, outboxOrder, paid } from "support/orders.ts";
import { copyOf, endHolds, restore } from "support/restored_store.ts";
import { anotherProcess } from "support/processes.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { steps } from "support/steps.ts";
import { readLogBooks } from "testing/evidence_log.ts";
import type { Store } from "../../../../src/base/store/store.ts";
import { viewLog } from "../../../../src/platform/evidence/evidence_log/log_proofs.ts";
import { openLogStore } from "../../../../src/platform/evidence/evidence_log/log_store.ts";
import { hashText, leafHash } from "../../../../src/base/merkle/tree.ts";
import { unchanged } from "testing/store_contents.ts";

Deno.test("while a bank is not reconciled its TPPs read 503, never that a payment does not exist [G9]", async (t) => {
  await using env = await openEnvironment();
  const flow = await authorised(env);
  const copy = await copyOf(env);
  const { Data } = await good(pay(env, flow), 201);
  await restore(env, copy);
  const bound = await boundInStore(env);
  const requests: Record<string, () => Promise<Response>> = {
    "a lost payment by its id": () => get(env, bound, `domestic-payments/v1/${Data.DomesticPaymentId}`),
    "a lost payment by its key": () => get(env, bound, "domestic-payments/v1?idempotency-key=k"),
    "a voided consent": () => get(env, bound, `domestic-payment-consents/v1/${flow.consentId}`),
    "a new consent": () =>
      call(env, env.tpp, bound, "/BANKA/domestic-payment-consents/v1", {
        body: JSON.stringify(consentBody()),
      }),
    "a pushed request": () => push(env, flow.consentId),
    "a token": () => requestToken(env, env.tpp),
  };
  await steps(t, requests, async (request) => {
    const answer = await request();
    assertEquals([answer.status, answer.headers.get("retry-after")], [503, "60"]);
    await answer.body?.cancel();
  });
  await t.step("the bank itself goes on", async () => {
    await clientToken(env, env.bankA, "BANKA");
  });
  await t.step("and afterwards answers are as before", async () => {
    await endHolds(env);
    assertEquals((await get(env, bound, `domestic-payment-consents/v1/${flow.consentId}`)).status, 200);
  });
});

Deno.test("an order that was held for more than a day is given up: the operator decides [G5] [G9]", async () => {
  await using env = await openPushEnvironment(down);
  const { DomesticPaymentId: id } = await paid(env);
  await restore(env, await copyOf(env));
  await later(env, 10_000);
  env.now += 86_400_001;
  env.pushes.length = 0;
  await endHolds(env);
  await later(env, 1_000);
  assertEquals([(await outboxOrder(env, id))?.state, env.pushes.length], ["dead", 0]);
});

Deno.test("a second restore asks banks as far back as the first, if they were not reconciled [G9]", async () => {
  await using env = await openEnvironment();
  await restore(env, await copyOf(env));
  const sinceOf = async (): Promise<number> =>
    (await env.store.get<{ since: number }>(["order_hold", "BANKA"]))?.value.since ?? NaN;
  const first = await sinceOf();
  env.now += 3 * 86_400_000;
  await restore(env, await copyOf(env));
  assertEquals(await sinceOf(), first);
});

Deno.test("a store with many long pushed requests is restored as well [G9]", async () => {
  await using env = await openEnvironment();
  const value = {
    clientId: env.tpp.clientId,
    registration: 1,
    bank: "BANKA",
    consentId: crypto.randomUUID(),
    redirectUri: "x".repeat(6000),
    codeChallenge: "x".repeat(43),
    expiresAt: env.now + 60_000,
    completed: false,
    sessions: 0,
  };
  for (let count = 0; count < 300; count++) {
    const key = ["pushed_request", `request-${count}`];
    await env.store.commit({ checks: [], writes: [{ kind: "set", key, value }] });
  }
  await restore(env, await copyOf(env));
  const ended = await env.store.list<{ expiresAt: number }>({ prefix: ["pushed_request"], limit: 1000 });
  assertEquals([ended.length, new Set(ended.map(({ value }) => value.expiresAt))], [300, new Set([env.now])]);
});

Deno.test("a store that is no copy begins no epoch", async () => {
  await using env = await openPushEnvironment();
  await paid(env);
  await env.platform.writeTraces();
  await unchanged(env, () => env.restart());
});

Deno.test("a start that is slower than another one changes nothing of the epoch that has begun [G9]", async () => {
  await using env = await openEnvironment();
  await env.store.commit({
    checks: [],
    writes: [{ kind: "set", key: ["store_copy"], value: { id: "copy", takenAt: env.now } }],
  });
  const faster = { hasBegun: false };
  const store: Store = {
    ...env.store,
    async commit(staged) { // the first one of the slower process
      if (!faster.hasBegun) {
        faster.hasBegun = true;
        await env.restart();
        await endHolds(env);
      }
      return await env.store.commit(staged);
    },
  };
  await assertRejects(() => anotherProcess({ ...env, store }), Error, "the store changed during the restore");
  assertEquals(faster.hasBegun, true);
  assertEquals(await env.store.list({ prefix: ["order_hold"], limit: 1 }), []);
});

Deno.test("a restore is logged with what it voided [G9]", async () => {
  await using env = await openEnvironment();
  await authorised(env);
  await restore(env, await copyOf(env));
  const lines = env.logged.map((line) => JSON.parse(line) as LogLine);
  const line = lines.find(({ event }) => event === "store.restored");
  assertEquals([line?.level, line?.banksHeld, line?.consentsVoided], ["warn", 2, 1]);
});

/** A token that a TPP got after the restore and before the hold was looked at: the strictest case for the reads. */
async function boundInStore(env: Environment): Promise<BoundToken> {
  const holds = await env.store.list({ prefix: ["order_hold"], limit: 100 });
  await endHolds(env);
  const bound = await clientToken(env, env.tpp);
  const writes = holds.map(({ key, value }) => ({ kind: "set", key, value }) as const);
  await env.store.commit({ checks: [], writes });
  return bound;
}

function get(env: Environment, bound: BoundToken, path: string): Promise<Response> {
  return call(env, env.tpp, bound, `/BANKA/${path}`);
}

Deno.test("after a restore each checkpoint of the evidence log declares from which copy it goes on [EV6]", async () => {
  await using env = await openEnvironment();
  const grow = async (): Promise<Awaited<ReturnType<typeof readLogBooks>>["checkpoint"]> => {
    env.now += 1000;
    const leaf = hashText(leafHash(crypto.getRandomValues(new Uint8Array(16))));
    const key = ["log_waiting", String(env.now).padStart(15, "0"), leaf];
    await env.store.commit({
      checks: [],
      writes: [{ kind: "set", key, value: { v: 1, leaves: [{ at: env.now, leaf }] } }],
    });
    await env.platform.growLog();
    const { checkpoint, faults } = await readLogBooks(env.store);
    assertEquals(faults, []);
    return checkpoint;
  };
  const before = await grow();
  assertEquals(before?.["restored"], undefined);
  const takenAt = Math.floor(env.now / 1000);
  const copy = await copyOf(env);
  await grow();
  await restore(env, copy);
  assertEquals(await viewLog(openLogStore(env.store)), null); // the copy's checkpoint does not declare it
  const at = Math.floor(env.now / 1000);
  const { restored, size } = present(await grow() ?? undefined);
  assert(size > Number(before?.size), `${size} leaves`); // the holds have entries too
  assertEquals(restored, {
    epoch: memberOf(restored, "epoch"),
    at,
    copy_taken_at: takenAt,
    size: before?.size,
  });
  assertEquals(
    (await env.store.list({ prefix: ["store_epoch"], limit: 2 }))[0]?.key[2],
    memberOf(restored, "epoch"),
  );
  assertEquals((await grow())?.["restored"], restored);
});
