/** The order of a history, which several processes write, and its length [M2]. */
import { assertEquals, assertRejects } from "@std/assert";
import { historyOf } from "../../../src/platform/evidence/audit_trail.ts";
import type { AuditEntry } from "../../../src/platform/evidence/evidence.ts";
import { auditKey } from "../../../src/platform/config/store_keys.ts";
import { openDenoKv } from "../../../src/base/store/deno_kv.ts";
import type { Store } from "../../../src/base/store/store.ts";
import { authorised } from "testing/authorization_flow.ts";
import { type Environment, throughProxy } from "testing/environment.ts";
import { good, pay } from "testing/flows.ts";
import { anotherProcess } from "support/processes.ts";
import { down, history, later, openPushEnvironment, paid } from "support/orders.ts";
import { test } from "support/environment_test.ts";

/** The environment as a client sees it whose requests reach this process. */
function at(env: Environment, api: Environment["platform"]["api"]): Environment {
  return Object.assign(Object.create(env), {
    api: (request: Request, as?: Parameters<Environment["api"]>[1]) => api.fetch(throughProxy(request, as)),
  });
}

test("the history of a consent is in the order of its changes, although the process of the last one has a clock 20 s behind [M2]", async ({ env }) => {
  const behind = await anotherProcess(env, () => -20_000);
  env.now += 60_000;
  const flow = await authorised(env);
  await good(pay(at(env, behind.api), flow), 201);
  const entries = await historyOf(env.store, flow.consentId);
  assertEquals(entries.map(({ event }) => event), [
    "consent.AwaitingAuthorisation",
    "consent.authorization_requested",
    "consent.customer_sent_to_bank",
    "consent.AwaitingAuthorisation", // the bank's accounts
    "consent.customer_authenticated",
    "consent.Authorized",
    "consent.token_issued",
    "consent.Consumed",
  ]);
  assertEquals(entries.at(-1)?.at, env.now - 20_000); // the time that the process knew is kept
  await behind.stop();
});

Deno.test("the history of a payment is in the order of its changes, although the clock is put back between them [M2]", async () => {
  await using env = await openPushEnvironment(down);
  const { DomesticPaymentId: id } = await paid(env);
  env.clockStep = -3_600_000;
  await env.restart();
  env.answer = () => Response.json({ error: "no" }, { status: 400 });
  await later(env, 1_000_000); // the clock is 2,600 s before the payment
  assertEquals(await history(env, id), [
    `payment.Pending by ${env.tpp.clientId}`,
    "payment_order.outcome_unknown by platform",
    "payment_order.dead by platform",
  ]);
});

async function fill(store: Store, count: number): Promise<void> {
  for (let from = 0; from < count; from += 900) {
    const writes = Array.from({ length: Math.min(900, count - from) }, (_, index) => ({
      kind: "set" as const,
      key: auditKey("x", from + index),
      value: {
        at: 0,
        event: `e.${from + index}`,
        actor: "a",
        salt: "AAAAAAAAAAAAAAAAAAAAAA",
        sequence: from + index + 1,
        v: 1,
      } satisfies AuditEntry & { v: number },
    }));
    await store.commit({ checks: [], writes });
  }
}

Deno.test("historyOf reads a history of 1,234 entries in full, and rejects one that is longer than it reads [M2]", async () => {
  const store = await openDenoKv(":memory:");
  await fill(store, 1234);
  const read = await historyOf(store, "x");
  assertEquals(read.map(({ event }) => event), Array.from({ length: 1234 }, (_, index) => `e.${index}`));
  await fill(store, 10_000);
  assertEquals((await historyOf(store, "x")).length, 10_000);
  await fill(store, 10_001);
  await assertRejects(() => historyOf(store, "x"), Error, "more than");
  store.close();
});

test("entries of one history at one instant are recorded one millisecond after the other, from the first's own time on [M2]", async ({ env }) => {
  const flow = await authorised(env);
  await good(pay(env, flow), 201);
  const keys = (await env.store.list({ prefix: ["audit", flow.consentId], limit: 20 })).map(({ key }) =>
    Number(key[2])
  );
  assertEquals(keys, keys.map((_, after) => env.now + after));
  assertEquals(keys.length, 8);
});
