/** What ends soon, and who did something today, as operators see it. */
import { assert, assertEquals } from "@std/assert";
import type { Endings, ParticipantDetail, PeopleToday } from "testing/operation_answers.ts";
import { openConsole } from "testing/console_browser.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { good } from "testing/flows.ts";

const DAY_MS = 86_400_000;
const REASON = "The bank's desk has asked for it.";

async function endings(env: Environment): Promise<Endings["Data"]> {
  return (await good<Endings>(env.asOperator("/operations/endings", {}, "viewer"), 200)).Data;
}

async function dashboard(env: Environment, as: "viewer" | "maria"): Promise<string> {
  const browser = await openConsole(env, as);
  return (await browser.get("/console")).html;
}

Deno.test("certificates and statements are listed in their last 30 days and 30 days longer, the first one first [OP28]", async () => {
  await using env = await openEnvironment();
  const { Data: { Key: keys = [], StatementUntilDateTime: statement = "" } } = await good<ParticipantDetail>(
    env.asOperator(`/operations/participants/${env.tpp.clientId}`, {}, "viewer"),
    200,
  );
  const first = Math.min(
    ...keys.map(({ CertificateUntilDateTime: end }) => Date.parse(end)),
    Date.parse(statement),
  );
  env.now = first - 30 * DAY_MS - 1000;
  assertEquals((await endings(env)).Ending.filter(({ ClientId }) => ClientId === env.tpp.clientId), []);
  assert((await dashboard(env, "viewer")).includes("No certificate and no software statement ends"));
  env.now += 300_000; // a process looks again after five minutes
  const { Ending: soon, Unread, DateTime } = await endings(env);
  const own = soon.filter(({ ClientId }) => ClientId === env.tpp.clientId);
  assertEquals([Date.parse(own[0]?.EndDateTime ?? ""), Unread, Date.parse(DateTime)], [first, 0, env.now]);
  assertEquals(soon, soon.toSorted((a, b) => Date.parse(a.EndDateTime) - Date.parse(b.EndDateTime)));
  const page = await dashboard(env, "viewer");
  assert(page.includes(`href="/console/participants/${env.tpp.clientId}"`) && !page.includes("Has ended"));
  env.now = first + 30 * DAY_MS;
  assertEquals(
    Date.parse(
      (await endings(env)).Ending.find(({ ClientId }) => ClientId === env.tpp.clientId)?.EndDateTime ?? "",
    ),
    first,
  );
  env.now = first + 30 * DAY_MS + 300_000;
  assert((await endings(env)).Ending.every(({ EndDateTime: end }) => Date.parse(end) > first));
});

Deno.test("an answer about what ends is made at most every 5 minutes, and says which key sets it could not read [OP28]", async () => {
  await using env = await openEnvironment();
  const there = env.network;
  env.network = () => Promise.reject(new TypeError("the directory is away"));
  for (const { key } of await env.store.list({ prefix: ["kept_copy"], limit: 100 })) {
    await env.store.commit({ checks: [], writes: [{ kind: "delete", key }] });
  }
  env.now += 3_600_000;
  const { DateTime, Unread } = await endings(env);
  assertEquals(Unread, 4);
  assert((await dashboard(env, "viewer")).includes("Key sets that could not be read: 4"));
  env.network = there;
  env.now += 299_000;
  assertEquals((await endings(env)).DateTime, DateTime);
  env.now += 1000;
  const later = await endings(env);
  assertEquals([later.Unread, Date.parse(later.DateTime)], [0, env.now]);
});

Deno.test("the dashboard says who did something today, and leads to it, for those who may read histories [OP29]", async () => {
  await using env = await openEnvironment();
  const browser = await openConsole(env, "operator");
  await browser.submit("/console/banks/BANKA/hold", { reason: REASON });
  env.now += 60_000;
  const read = async (): Promise<PeopleToday["Data"]> =>
    (await good<PeopleToday>(env.asOperator("/operations/audit/people/today", {}, "auditor"), 200)).Data;
  const { Operator: [latest, ...others], ...day } = await read();
  assertEquals(day, { Date: "2040-01-15", IsComplete: true });
  assertEquals([latest?.Actor, latest?.Entries, others.length], ["operator operator", 2, 0]); // signed in, and held
  assertEquals(await read(), { ...day, Operator: [latest] }, "the read itself is no entry");
  const page = await dashboard(env, "maria");
  assert(
    page.includes(
      'href="/console/audit?operator=operator+operator&amp;from=2040-01-15&amp;until=2040-01-15"',
    ),
    page,
  );
  assert(!(await dashboard(env, "viewer")).includes("What operators did today"));
  assertEquals((await env.asOperator("/operations/audit/people/today", {}, "viewer")).status, 403);
  env.now += DAY_MS;
  assertEquals((await read()).Operator, []);
});
