/** The state of banks by their last pushes, and what needs an operator. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Alarms, BankStates } from "testing/operation_answers.ts";
import { present } from "testing/answers.ts";
import { openConsole } from "testing/console_browser.ts";
import type { Environment } from "testing/environment.ts";
import { good } from "testing/flows.ts";
import { MAX_LABEL_VALUES } from "../../../src/base/observability/metrics.ts";
import type { BankClient } from "../../../src/platform/core/registration/client.ts";
import { openPlatformMetrics } from "../../../src/platform/observed/metrics.ts";
import { readAlarms } from "../../../src/platform/operations/alarm_routes.ts";
import { readBankStates } from "../../../src/platform/operations/bank_state_routes.ts";
import { listPushNotes, notePushes } from "../../../src/platform/operations/health/bank_health_store.ts";
import { judge, openLastPushes, pushesTo } from "../../../src/platform/observed/figures/last_pushes.ts";
import { openTestStore } from "testing/test_store.ts";
import { accepts, down, later, openPushEnvironment, paid } from "support/orders.ts";
import { anotherProcess, at } from "support/processes.ts";

type Bank = BankStates["Data"]["Bank"][number];

async function bankA(env: Environment): Promise<Bank> {
  const { Data: { Bank } } = await good<BankStates>(env.asOperator("/operations/banks", {}, "viewer"), 200);
  return present(Bank.find(({ BankId }) => BankId === "BANKA"));
}

async function alarms(env: Environment): Promise<readonly string[]> {
  const { Data: { Alarm } } = await good<Alarms>(env.asOperator("/operations/alarms", {}, "viewer"), 200);
  return Alarm.map(({ Name, Severity, Of, Value }) => [Severity, Name, Of, Value ?? ""].join(" ").trim());
}

async function dashboard(env: Environment): Promise<string> {
  const browser = await openConsole(env, "viewer");
  return (await browser.get("/console")).html;
}

Deno.test("a bank fails from the first push that it does not answer, and works after as many answers [OP30, OP31]", async () => {
  await using env = await openPushEnvironment(accepts);
  await paid(env);
  const { State, Pushes, PushesFailed } = await bankA(env);
  assertEquals([State, Pushes, PushesFailed], ["works", 1, 0]);
  assertEquals(await alarms(env), []);
  assert((await dashboard(env)).includes("Nothing needs attention"));
  env.answer = down;
  await paid(env);
  const failing = await bankA(env);
  assertEquals([failing.State, failing.Pushes, failing.PushesFailed], ["failing", 2, 1]);
  assertEquals(await alarms(env), ["warning BankFailing BANKA"]);
  const page = await dashboard(env);
  assert(
    page.includes("Pushes fail") && page.includes('href="/console/orders?state=waiting&amp;bank=BANKA"'),
  );
  env.answer = accepts;
  await later(env, 40_000);
  assertEquals((await bankA(env)).State, "works");
});

Deno.test("pushes of every process count, once each, and no longer than 15 minutes [OP30]", async () => {
  await using env = await openPushEnvironment(down);
  const other = await anotherProcess(env, undefined, { name: "hub-2" });
  await paid(at(env, other) as typeof env);
  assertEquals((await bankA(env)).Pushes, 0, "it notes them every 10 s");
  await other.workOnce();
  const { State, Pushes, PushesFailed } = await bankA(env);
  assertEquals([State, Pushes, PushesFailed], ["failing", 1, 1]);
  for (let order = 0; order < 3; order++) await paid(env);
  assertEquals(
    (await bankA(env)).Pushes,
    4,
    "at the same time, in another process and in the one that answers",
  );
  env.now += 15 * 60_000;
  await other.workOnce();
  await env.platform.workOnce();
  assertEquals((await bankA(env)).State, "failing", "the orders are tried again");
  await other.stop();
});

Deno.test("orders that wait, are given up or are held too long raise an alarm, and so does a process [OP31]", async () => {
  await using env = await openPushEnvironment(down);
  const other = await anotherProcess(env, undefined, { name: "hub-2" });
  await other.workOnce();
  await paid(env);
  await later(env, 301_000);
  await env.platform.workOnce();
  const soon = await alarms(env);
  assert(
    soon.includes("critical ProcessLost hub-2") && soon.includes("warning OrdersDelayed BANKA 301"),
    soon.join(),
  );
  for (let hour = 0; hour < 12; hour++) await later(env, 3_600_000);
  await env.platform.workOnce();
  const [first] = await alarms(env);
  assertEquals(first, "critical OrdersDead BANKA 1");
  const row = ">Orders were given up<";
  const [, after = ""] = (await dashboard(env)).split(row);
  assertMatch(after.slice(0, 300), /<a href="\/console\/orders\?state=dead"><bdi>Bank A plc<\/bdi>/);
  await other.stop();
});

Deno.test("a bank is slow if half of its answers took longer than a second, and fails without half of the answers [OP30]", () => {
  const push = (isAnswered: boolean, milliseconds = 100): Parameters<typeof judge>[0][number] => ({
    at: 0,
    isAnswered,
    milliseconds,
  });
  assertEquals(judge([]), "works");
  assertEquals(judge([push(true), push(false)]), "failing");
  assertEquals(judge([push(true), push(true), push(false)]), "works");
  assertEquals(judge([push(true, 1001)]), "slow");
  assertEquals(judge([push(true, 1000), push(true, 2000)]), "works");
  assertEquals(judge([push(true, 1001), push(true, 2000), push(true, 5)]), "slow");
  assertEquals(judge([push(true, 1001), push(false), push(true, 1001)]), "slow");
});

Deno.test("the last ten pushes to each bank are kept, also if many other banks are pushed to [OP30, BH2]", async () => {
  let now = 0;
  const last = openLastPushes(() => now);
  for (now = 1; now <= 12; now++) last.push("BANKA", { isAnswered: true, milliseconds: now });
  const list = last.all();
  assertEquals(pushesTo("BANKA", [...list, ...list], now).map(({ at }) => at), [
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    11,
    12,
  ]);
  assertEquals(pushesTo("BANKA", list, 15 * 60_000 + 5).map(({ at }) => at), [6, 7, 8, 9, 10, 11, 12]);
  assertEquals(pushesTo("BANKA", list, 10).at(-1)?.at, 10); // the clock of another process is ahead
  await using store = await openTestStore();
  for (let push = 0; push < 1200; push++) {
    last.push(`LONG-CODE-OF-A-BANK-${push % 120}`, { isAnswered: false, milliseconds: 1234.5678901234567 });
  }
  for (const note of last.all()) await notePushes(store, note);
  const notes = await listPushNotes(store);
  assertEquals(pushesTo("BANKA", notes, now), pushesTo("BANKA", list, now));
  assertEquals(pushesTo("LONG-CODE-OF-A-BANK-119", notes, now).length, 10);
});

Deno.test("orders that the 201st bank was not sent raise an alarm that names it, and show in its state [OP30, OP31]", async () => {
  await using store = await openTestStore();
  const metrics = openPlatformMetrics();
  const codes = Array.from({ length: MAX_LABEL_VALUES + 2 }, (_, place) => `BANK${place}`);
  const dead = codes.map((bank) => ({ labels: { bank, state: "dead" }, value: 0 }));
  const last = codes.at(-1) ?? "";
  metrics.replace("platform_orders", [...dead.slice(0, -1), {
    labels: { bank: last, state: "dead" },
    value: 3,
  }]);
  metrics.replace(
    "platform_payments_unsettled",
    codes.map((bank) => ({ labels: { bank }, value: bank === last ? 2 : 0 })),
  );
  const deps = {
    listBanks: () => Promise.resolve(codes.map((code) => ({ code, orgName: code }) as BankClient)),
    metrics,
    lastPushes: openLastPushes(() => 0),
    store,
    clock: () => 0,
  };
  assertEquals(
    (await readAlarms(deps)).map(({ Name, Of, Value }) => [Name, Of, Value]),
    [["OrdersDead", last, 3], ["PaymentsUnsettled", last, 2]],
  );
  assertEquals((await readBankStates(deps)).at(-1)?.orders.dead, 3);
});
