/** The processes of the platform as operators see them. */
import { assert, assertEquals } from "@std/assert";
import { bodyOf, type PlatformKeys } from "testing/answers.ts";
import type { LastHour, Processes } from "testing/operation_answers.ts";
import { openConsole } from "testing/console_browser.ts";
import { AUTH_URL, type Environment, openEnvironment } from "testing/environment.ts";
import { call, clientToken, good } from "testing/flows.ts";
import { accepts, down, openPushEnvironment, paid } from "support/orders.ts";
import { anotherProcess, at } from "support/processes.ts";
import { openTestStore } from "testing/test_store.ts";
import type { Store } from "../../../src/base/store/store.ts";
import { ERROR_TABLE } from "../../../src/platform/guards/http/error_table.ts";
import { noFigures } from "../../../src/platform/observed/figures/figures.ts";
import { openFiguresRecorder } from "../../../src/platform/observed/figures/recorder.ts";
import { representLastHour } from "../../../src/platform/operations/last_hour_representation.ts";
import { listProcesses, openProcessNote } from "../../../src/platform/operations/process_store.ts";

const REPORT_MS = 10_000;
const LOST_MS = 30_000;
const LISTED_MS = 15 * 60_000;

/** Name, part and state of each process that an operator sees. */
async function seen(env: Environment): Promise<readonly string[][]> {
  const { Data: { Process } } = await good<Processes>(
    env.asOperator("/operations/processes", {}, "viewer"),
    200,
  );
  return Process.map(({ Name, Serves, State }) => [Name, Serves, State]);
}

Deno.test("operators see each process, and after 30 s without a report as lost [OP18, O10]", async () => {
  await using env = await openEnvironment();
  assertEquals(await seen(env), []); // this one has no name
  const [second, first] = [
    await anotherProcess(env, undefined, { name: "hub-2", served: "console" }),
    await anotherProcess(env, undefined, { name: "hub-1" }),
  ];
  await second.workOnce();
  env.now += 1500;
  await first.workOnce();
  const works = [["hub-1", "all", "works"], ["hub-2", "console", "works"]];
  assertEquals(await seen(env), works);
  const { Data: { Process: [shown] } } = await good<Processes>(env.asOperator("/operations/processes"), 200);
  assertEquals(shown?.NotedDateTime, new Date(env.now).toISOString());
  assertEquals(shown?.StartDateTime, new Date(env.now - 1500).toISOString());
  const { keys } = await bodyOf<PlatformKeys>(env.browser(new Request(`${AUTH_URL}/jwks`)));
  const kid = keys.find(({ use }) => use === "sig")?.kid;
  assertEquals([shown?.SigningKeyId, shown?.Fault, shown?.RequestsInWork], [kid, [], 0]);

  env.now += LOST_MS - 1500;
  await first.workOnce();
  assertEquals(await seen(env), works);
  env.now += 1;
  assertEquals(await seen(env), [["hub-1", "all", "works"], ["hub-2", "console", "lost"]]);
  const page = await (await openConsole(env, "viewer")).get("/console");
  assert(page.html.includes("hub-2") && page.html.includes("Does not report"), page.html);
  env.now -= 3_600_000; // this clock is wrong, or theirs are
  assertEquals((await seen(env)).map(([, , state]) => state), ["lost", "lost"]);
  env.now += 3_600_000 + LISTED_MS - LOST_MS;
  assertEquals(await seen(env), [["hub-1", "all", "lost"]]);
  await first.stop();
  assertEquals(await seen(env), []);
  await second.stop();
});

Deno.test("a process that was killed is shown no more when one of its name has started; what it counted stays [OP18]", async () => {
  await using env = await openEnvironment();
  const killed = await anotherProcess(env, undefined, { name: "hub-1" });
  const twin = await anotherProcess(env, undefined, { name: "hub-1" }); // two with one name by mistake
  const other = await anotherProcess(env, undefined, { name: "hub-2" });
  for (const process of [killed, twin, other]) await process.workOnce();
  assertEquals((await seen(env)).map(([name]) => name), ["hub-1", "hub-1", "hub-2"]);
  env.now += REPORT_MS;
  await twin.workOnce();
  env.now += REPORT_MS;
  const next = await anotherProcess(env, undefined, { name: "hub-1" });
  await next.workOnce();
  await other.workOnce();
  assertEquals(await seen(env), [["hub-1", "all", "works"], ["hub-2", "all", "works"]]);
  await twin.workOnce(); // it lives after all
  assertEquals((await seen(env)).length, 3);
  assertEquals((await env.store.list({ prefix: ["process"], limit: 10 })).length, 4);
  for (const process of [killed, twin, other, next]) await process.stop();
});

Deno.test("a process reports the parts that fail, with a detail [OP18]", async () => {
  await using env = await openEnvironment();
  const process = await anotherProcess(env, undefined, { name: "hub-1" });
  env.network = () => Promise.reject(new TypeError("the directory is away"));
  env.now += 3_600_000;
  await process.workOnce();
  await process.workOnce();
  env.now += REPORT_MS;
  await process.workOnce();
  const { Data: { Process: [shown] } } = await good<Processes>(env.asOperator("/operations/processes"), 200);
  assertEquals(shown?.State, "fails");
  assert(shown?.Fault.some((fault: string) => fault.startsWith("directory: ")), JSON.stringify(shown));
  const page = await (await openConsole(env, "viewer")).get("/console");
  assert(page.html.includes(shown?.Fault[0] ?? "no fault"), page.html);
  await process.stop();
});

Deno.test("a process reports every 10 s, with one write [OP18]", async () => {
  let reports = 0;
  const opened = await openTestStore();
  const store: Store = {
    ...opened,
    commit(staged) {
      if (staged.writes.some(({ key, kind }) => key[0] === "process" && kind === "set")) {
        reports++;
        assertEquals([staged.checks.length, staged.writes.length], [0, 1]);
      }
      return opened.commit(staged);
    },
  };
  await using env = await openEnvironment({ store });
  const process = await anotherProcess(env, undefined, { name: "hub-1" });
  for (const [passed, expected] of [[0, 1], [REPORT_MS - 1, 1], [1, 2], [1000, 2]] as const) {
    env.now += passed;
    await process.workOnce();
    assertEquals(reports, expected, `after ${passed} ms`);
  }
  await process.stop();
});

Deno.test("the last hour is that of all processes together, by minute, and forgets the 61st [OP24]", async () => {
  await using env = await openPushEnvironment(accepts);
  const [one, two] = [
    await anotherProcess(env, undefined, { name: "hub-1" }),
    await anotherProcess(env, undefined, { name: "hub-2" }),
  ];
  const hour = async (): Promise<LastHour["Data"]> =>
    (await good<LastHour>(env.asOperator("/operations/last-hour", {}, "viewer"), 200)).Data;
  await paid(at(env, one) as typeof env);
  const first = env.now;
  env.now += 60_000;
  await Promise.all([one.workOnce(), two.workOnce()]);
  env.now += 10_000;
  await paid(at(env, two) as typeof env);
  env.answer = down;
  await paid(at(env, two) as typeof env);
  await rejected(at(env, one) as typeof env);
  await rejected(at(env, two) as typeof env);
  await Promise.all([one.workOnce(), two.workOnce()]);
  const { Total, Minute, Today } = await hour();
  assertEquals([Total.Rejected, Total.Reason], [2, [{ Reason: "resource.not_found", Requests: 2 }]]);
  assertEquals([Total.Payments, Total.OrdersAnswered, Total.PushesFailed, Total.Failed], [3, 2, 1, 0]);
  assertEquals([Minute.length, Minute.at(-2)?.Payments, Minute.at(-1)?.Payments], [60, 1, 2]);
  assertEquals(Minute.at(-2)?.DateTime, new Date(first).toISOString());
  assertEquals([typeof Total.Percentile95AtMost, Total.Succeeded > 10], ["number", true]);
  const browser = await openConsole(env, "viewer");
  const { html, headers } = await browser.get("/console");
  assert(html.includes('"/console?live=0">Stop refreshing') && html.includes("The last hour"));
  const stopped = await browser.get("/console?live=0");
  assert(stopped.html.includes('"/console">Refresh every 15 seconds'));
  assertEquals([headers.get("refresh"), stopped.headers.get("refresh")], ["15", null]);
  assert(html.includes('<code dir="ltr">resource.not_found</code>'), html);
  assertEquals([Today.Payments, Today.OrdersAnswered, Today.PushesFailed, Today.Rejected], [3, 2, 1, 2]);
  assertEquals([Today.Succeeded, Today.Reason], [Total.Succeeded, Total.Reason], "the day is that hour");
  env.now = first + 3_600_000;
  await Promise.all([one.workOnce(), two.workOnce()]);
  assertEquals((await hour()).Total.Payments, 2, "the first minute is over an hour ago");
  await Promise.all([one.stop(), two.stop()]);
  assertEquals((await hour()).Total.Payments, 0, "they took theirs along");
});

Deno.test("a process that rejected requests for every reason in every minute of an hour is not taken for lost [OP18, OP24]", async () => {
  await using store = await openTestStore();
  let now = Date.parse("2099-05-01T12:00:00Z");
  const clock = (): number => now;
  const written = { write: () => Promise.resolve() };
  const figures = openFiguresRecorder({ figures: written, clock, steady: clock, metrics: { count() {} } });
  const [reasons, request] = [Object.keys(ERROR_TABLE), { bank: "BANKA", clientId: "SC-1", status: 400 }];
  for (let minute = 0; minute < 60; minute++, now += 60_000) {
    for (const reason of reasons) figures.request({ ...request, reason, milliseconds: 10 });
  }
  now -= 1;
  const note = openProcessNote({
    store,
    identity: { name: "hub-1" },
    clock,
    steady: clock,
    readiness: () => Promise.resolve({ ready: true, parts: {} }),
    lanes: () => ({}) as never,
    signingKid: () => "kid",
    figures,
  });
  await note.note();
  const { Data: { Total, Minute } } = representLastHour(await listProcesses(store, now), noFigures(), now);
  assertEquals([Total.Reason.length, Total.Reason[0]?.Requests], [reasons.length, 60]);
  assertEquals([Total.Rejected, Minute[0]?.Rejected], [60 * reasons.length, reasons.length]);
});

/** A TPP asks for a consent that does not exist. */
async function rejected(env: Environment): Promise<void> {
  const bound = await clientToken(env, env.tpp);
  const path = `/BANKA/domestic-payment-consents/v1/${crypto.randomUUID()}`;
  assertEquals((await call(env, env.tpp, bound, path)).status, 400);
}
