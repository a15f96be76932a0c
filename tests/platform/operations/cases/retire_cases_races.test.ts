/** Retention with wrong clocks, several processes, after a restore, and of what is not evidence. */
import { assertEquals, assertMatch } from "@std/assert";
import { rejectionOf } from "testing/answers.ts";
import { composePlatform, type Platform } from "../../../../src/platform/process/compose.ts";
import { openKeyRing } from "../../../../src/base/jose/key_ring.ts";
import { auditPage } from "../../../../src/platform/evidence/audit_trail.ts";
import { toBank } from "testing/authorization_flow.ts";
import { readLogBooks } from "testing/evidence_log.ts";
import { testOperators } from "testing/operators.ts";
import { BODY, erase } from "support/personal_case.ts";
import { openBookEnvironment } from "support/bank_books.ts";
import { paid } from "support/orders.ts";
import { putStatus } from "testing/back_channel.ts";
import { good } from "testing/flows.ts";
import { copyOf, endHolds, restore } from "support/restored_store.ts";
import { faultsOf, grownBundle } from "../../../scripts/operators/case/bundles.ts";
import {
  applied,
  DAY_MS,
  DAYS,
  grow,
  openRetaining,
  pass,
  recordsOf,
  settled,
  work,
} from "support/retention.ts";

Deno.test("a clock that is ahead erases nothing early, neither by the clock nor by an operator [EN15]", async () => {
  await using env = await openRetaining();
  const { paymentId } = await settled(env);
  await pass(env, 1);
  env.clockStep = 5 * 365 * DAY_MS;
  assertEquals(await work(env), 0);
  assertEquals((await erase(env, paymentId)).status, 409);
  env.clockStep = 0;
  await pass(env, 200);
  assertEquals(await work(env), 1);
});

Deno.test("while no time is stored, a clock that is ahead erases nothing, neither by the clock nor by an operator [EN15]", async () => {
  await using env = await openRetaining();
  const { paymentId } = await settled(env);
  await grow(env);
  env.now += DAY_MS;
  env.clockStep = 5 * 365 * DAY_MS;
  assertEquals(await env.platform.retireCases(), 0);
  assertEquals((await erase(env, paymentId)).status, 409);
  const [, retired] = await Promise.all([env.platform.followTime(), env.platform.retireCases()]);
  assertEquals([retired, await work(env)], [0, 0]);
});

Deno.test("a payment that a clock dated years back is kept as long as any other [EN15]", async () => {
  await using env = await openRetaining(undefined, {
    PLATFORM_KEEP_CASES_DAYS: "10",
    PLATFORM_ERASE_CASES_DAYS: "20",
  });
  await pass(env, 60);
  await settled(env);
  await grow(env); // a checkpoint with the right time
  env.now -= 50 * DAY_MS;
  const { paymentId } = await settled(env);
  await grow(env);
  env.now += 50 * DAY_MS;
  await pass(env, 5);
  assertEquals(await work(env), 0);
  const answer = await erase(env, paymentId);
  assertEquals([answer.status, (await rejectionOf(answer)).error], [409, "case_retained"]);
  await pass(env, 21);
  assertEquals(await work(env), 2);
});

Deno.test("a case whose newest entry is not in the log is kept [EN15]", async () => {
  await using env = await openRetaining();
  const { paymentId } = await settled(env);
  await pass(env, 201);
  const entries = await auditPage(env.store, { subject: paymentId, limit: 10 });
  const newest = entries.at(-1);
  const value = { ...newest?.entry, actor: "someone" };
  await env.raw.commit({ checks: [], writes: [{ kind: "set", key: newest?.key ?? [], value }] });
  assertEquals(await work(env), 0);
});

Deno.test("several processes erase each case once, and name each once in the log [EN13]", async () => {
  await using env = await openRetaining();
  const ids = [];
  for (let made = 0; made < 5; made++) ids.push((await settled(env)).paymentId);
  await pass(env, 201);
  env.now += 3_600_000;
  const others: Platform[] = [];
  for (let count = 0; count < 2; count++) {
    others.push(
      await composePlatform({
        config: env.config,
        store: env.store,
        caseKeys: env.caseKeys,
        clock: () => env.now,
        monotonic: () => env.now,
        fetch,
        log: () => {},
        keys: await openKeyRing(env.config.keys),
        operators: await testOperators(),
      }),
    );
  }
  const counts = await Promise.all([env.platform, ...others].map((platform) => platform.retireCases()));
  assertEquals(counts.reduce((sum, count) => sum + count, 0), 5);
  const lines = await applied(env, "evidence");
  assertEquals(
    lines.map((line) => /of (\d+) cases/.exec(line)?.[1]).map(Number).reduce((a, b) => a + b, 0),
    5,
  );
  while (await env.platform.finishErasures() > 0);
  for (const id of ids) assertEquals(await faultsOf(await grownBundle(env, id)), []);
  for (const other of others) await other.stop();
});

Deno.test("after a restore the erased case is erased again, and the log declares the restore [EN13, EV6]", async () => {
  await using env = await openRetaining();
  const { paymentId } = await settled(env);
  await pass(env, 100);
  const copy = await copyOf(env);
  await pass(env, 100);
  assertEquals(await work(env), 1);
  await restore(env, copy);
  await pass(env, 1);
  assertEquals(await work(env), 0, "the time of the copy catches up first");
  await pass(env, 10);
  assertEquals(await work(env), 0, "its bank is held");
  await endHolds(env);
  assertEquals(await work(env), 1);
  const text = await grownBundle(env, paymentId);
  assertEquals(await faultsOf(text), []);
  assertMatch(text, /ERASE_CASES_DAYS=200/);
  assertEquals((await readLogBooks(env.store)).faults, []);
});

Deno.test("histories of consents that were never authorised are deleted too, and without the variables nothing is [EN13, EN14]", async () => {
  for (const [days, left] of [[DAYS, 0], [{ PLATFORM_KEEP_CASES_DAYS: "100" }, 1]] as const) {
    await using env = await openRetaining(undefined, days);
    const { consentId } = await toBank(env, { body: BODY });
    await pass(env, 2);
    await env.platform.sweepConsents();
    await pass(env, 31);
    await env.platform.eraseConsents();
    await work(env);
    await pass(env, 301);
    await work(env);
    assertEquals(
      (await recordsOf(env, [consentId])).filter((key) => key.startsWith("consent/")).length,
      left,
    );
  }
});

Deno.test("an erasure that is not complete delays the deletion of the history [EN14]", async () => {
  await using env = await openRetaining();
  const { paymentId } = await settled(env);
  await pass(env, 201);
  assertEquals(await env.platform.retireCases(), 1);
  await pass(env, 301);
  assertEquals(await env.platform.retireCases(), 0);
  await work(env); // completes it
  assertEquals(await work(env), 1);
  assertEquals((await applied(env, "audit")).length, 1);
  assertMatch(await grownBundle(env, paymentId), /"format":"evidence-deletion-1"/);
});

Deno.test("a deleted case that a bank's statement names after a restore is not recovered [EN14]", async () => {
  await using env = await openBookEnvironment({
    environment: {
      PLATFORM_KEEP_CASES_DAYS: "1",
      PLATFORM_ERASE_CASES_DAYS: "2",
      PLATFORM_DELETE_HISTORIES_DAYS: "4",
    },
  });
  const { DomesticPaymentId: paymentId } = await paid(env);
  await good(putStatus(env, env.bankA, paymentId, "AcceptedSettlementCompleted"), 200);
  const booked = env.books.orders.get(paymentId);
  if (booked !== undefined) booked.status = "AcceptedSettlementCompleted";
  const { now } = env;
  await pass(env, 3);
  assertEquals(await work(env), 1);
  await pass(env, 3);
  assertEquals(await work(env), 1);
  await restore(env, { ...await copyOf(env), takenAt: now });
  const [status, answer] = await env.operate("/operations/order-holds/BANKA/reconcile", "");
  assertEquals([status, answer.Data?.State, answer.Data?.Recovered, answer.Data?.Agreed], [
    200,
    "released",
    0,
    1,
  ], JSON.stringify(answer));
  assertEquals(await recordsOf(env, [paymentId]), []);
});
