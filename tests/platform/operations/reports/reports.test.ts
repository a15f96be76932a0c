/** Figures by day: what is counted, that it survives restarts and adds up over processes, and who reads it. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { bodyOf, firstOf, present, rejectionOf } from "testing/answers.ts";
import type { Reports } from "testing/operation_answers.ts";
import { authorised } from "testing/authorization_flow.ts";
import { openConsole } from "testing/console_browser.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { call, clientToken, consentBody, good, pay } from "testing/flows.ts";
import { postRegistration } from "testing/registration.ts";
import { OPERATIONS_URL, OPERATOR_TOKENS } from "testing/operators.ts";
import { anotherProcess } from "support/processes.ts";
import { accepts, down, later, openPushEnvironment, paid } from "support/orders.ts";
import { changeAs } from "testing/operators.ts";

const DAY = "2040-01-15";
const REASON = "The bank's desk has asked for it.";

async function report(env: Environment, path: string): Promise<Reports["Data"]> {
  const answer = await env.asOperator(`/operations/reports/${path}`, {}, "viewer");
  return (await good<Reports>(answer, 200)).Data;
}

async function ofToday(
  env: Environment,
  kind: "banks" | "tpps",
  id: string,
): Promise<Reports["Data"]["Report"][number]["Day"][number]> {
  await env.platform.writeFigures();
  const [one, ...more] = (await report(env, `${kind}?from=${DAY}&until=${DAY}&id=${id}`)).Report;
  assertEquals([one?.Id, more], [id, []]);
  assertEquals(one?.Day.length, 1);
  return firstOf(one?.Day ?? []);
}

async function change(env: Environment, path: `/${string}`, data: object = {}): Promise<void> {
  const answer = await changeAs(env, path, { Reason: REASON, ...data });
  assert(answer.ok, await answer.text());
}

/** Looks at the banks in each of the next minutes. */
async function minutes(env: Environment, number: number): Promise<void> {
  for (let minute = 0; minute < number; minute++) {
    env.now += 60_000;
    await env.platform.watchBanks();
  }
}

Deno.test("requests and payments count for their TPP and bank, and a repeated payment counts once [REP1]", async () => {
  await using env = await openPushEnvironment(accepts);
  const flow = await authorised(env);
  const key = crypto.randomUUID();
  const once = async (): Promise<void> => {
    const answer = await pay(env, flow, { idempotencyKey: key });
    assertEquals(answer.status, 201);
    await answer.body?.cancel();
  };
  await Promise.all([once(), once(), once()]);
  await once();
  const bound = await clientToken(env, env.otherTpp);
  const rejected = await call(env, env.otherTpp, bound, "/BANKA/domestic-payments/v1/nothing");
  assertEquals(rejected.status, 400);
  await rejected.body?.cancel();
  const tpp = await ofToday(env, "tpps", env.tpp.clientId);
  const other = await ofToday(env, "tpps", env.otherTpp.clientId);
  assertEquals([tpp.Payments, tpp.Requests.Rejected, tpp.Orders, tpp.Availability], [
    1,
    0,
    undefined,
    undefined,
  ]);
  assertEquals(other.Requests.Rejected, 1);
  assertEquals(
    other.Requests.SuccessRate,
    Math.floor((other.Requests.Succeeded / other.Requests.Total) * 1e4) / 1e4,
  );
  assertEquals(typeof tpp.Requests.MedianAtMost, "number");
  const bank = await ofToday(env, "banks", "BANKA");
  assertEquals([bank.Payments, bank.Orders?.Pushes, bank.Orders?.Answered, bank.Orders?.AnswerRate], [
    1,
    1,
    1,
    1,
  ]);
  const ofTpps = tpp.Requests.Total + other.Requests.Total;
  assertEquals(bank.Requests.Total, ofTpps, "the bank's own requests are not among those at its path");
});

Deno.test("pushes count by their result [REP1]", async () => {
  await using env = await openPushEnvironment(down);
  await paid(env);
  env.answer = () => new Response("no", { status: 422 });
  await paid(env);
  env.answer = () => Response.json({ Status: "Whatever" });
  await paid(env);
  const { Orders } = await ofToday(env, "banks", "BANKA");
  assertEquals(present(Orders).MedianAtMost, undefined, "nothing was answered");
  assertEquals([Orders?.Pushes, Orders?.Unreachable, Orders?.Refused, Orders?.Unclear, Orders?.AnswerRate], [
    3,
    1,
    1,
    1,
    0,
  ]);
});

Deno.test("an order counts once, however often it was pushed: at first, later or given up [REP1]", async () => {
  await using env = await openPushEnvironment(accepts);
  await paid(env);
  env.answer = down;
  await paid(env);
  for (let retry = 0; retry < 3; retry++) await later(env, 10_000);
  env.answer = () => new Response("no", { status: 422 });
  await paid(env);
  const early = (await ofToday(env, "banks", "BANKA")).Orders;
  assertEquals([early?.Total, early?.AnsweredAtFirst, early?.GivenUp, early?.AnswerRate], [2, 1, 1, 0.5]);
  env.answer = accepts;
  await later(env, 60_000);
  const { Orders } = await ofToday(env, "banks", "BANKA");
  assertEquals([Orders?.Total, Orders?.AnsweredAtFirst, Orders?.AnsweredLater, Orders?.GivenUp], [
    3,
    1,
    1,
    1,
  ]);
  assertEquals([Orders?.AnswerRate, Number(Orders?.Pushes) > 3], [0.6666, true]);
});

Deno.test("a minute in which a bank is held, in an outage or down is not available, and counts once [REP2]", async () => {
  await using env = await openPushEnvironment(accepts);
  await minutes(env, 10);
  await change(env, "/banks/BANKA/hold");
  await minutes(env, 5);
  await change(env, "/banks/BANKA/outages", {
    FromDateTime: new Date(env.now + 60_000).toISOString(),
    UntilDateTime: new Date(env.now + 240_000).toISOString(),
    Text: "Maintenance.",
  });
  await minutes(env, 2);
  await change(env, "/banks/BANKA/release");
  await minutes(env, 3);
  const { Availability } = await ofToday(env, "banks", "BANKA");
  assertEquals(Availability, {
    Rate: 0.6,
    ObservedMinutes: 20,
    UnavailableMinutes: 8,
    HeldMinutes: 7,
    OutageMinutes: 3,
    DownMinutes: 0,
  });
  assertEquals((await ofToday(env, "banks", "BANKB")).Availability?.Rate, 1);
});

Deno.test("a minute in which the breaker of a bank is open is down, and one in which nobody looked does not count [REP2]", async () => {
  await using env = await openPushEnvironment(down);
  await minutes(env, 3);
  env.now += 3_600_000; // no process looks
  for (let payment = 0; payment < 5; payment++) await paid(env);
  await minutes(env, 1);
  const { Availability } = await ofToday(env, "banks", "BANKA");
  assertEquals([Availability?.ObservedMinutes, Availability?.DownMinutes, Availability?.Rate], [4, 1, 0.75]);
});

Deno.test("a bank that is blocked here is not available [REP2]", async () => {
  await using env = await openEnvironment();
  await change(env, "/organisations/BANKA/block");
  await change(env, `/software/${env.bankB.clientId}/block`);
  await minutes(env, 2);
  for (const bank of ["BANKA", "BANKB"]) {
    assertEquals((await ofToday(env, "banks", bank)).Availability?.HeldMinutes, 2);
  }
});

Deno.test("figures survive a restart, add up over processes, and a repeated write changes nothing [REP3, O5]", async () => {
  await using env = await openPushEnvironment(accepts);
  await paid(env);
  await minutes(env, 2);
  await env.platform.writeFigures();
  assertEquals(await env.platform.writeFigures(), 0);
  await env.restart();
  await env.platform.watchBanks(); // the minute that the former process has noted too
  await paid(env);
  await minutes(env, 1);
  const bank = await ofToday(env, "banks", "BANKA");
  assertEquals([bank.Payments, bank.Orders?.Answered, bank.Availability?.ObservedMinutes], [2, 2, 3]);
  const rows = await env.store.list({ prefix: ["day_figures", "bank", DAY, "BANKA"], limit: 10 });
  assertEquals(rows.length, 2, "each process has a row of its own");
});

Deno.test("a stop stores the figures of the last minute, and the background writes once a minute [REP3]", async () => {
  await using env = await openPushEnvironment(accepts);
  await paid(env);
  const rows = async (): Promise<number> =>
    (await env.store.list({ prefix: ["day_figures", "client"], limit: 50 }))
      .filter(({ key }) => key[3] === env.tpp.clientId).length;
  await env.platform.workOnce();
  assertEquals(await rows(), 0);
  env.now += 60_000;
  await env.platform.workOnce();
  assertEquals(await rows(), 1);
  await later(env, 86_400_000);
  await paid(env);
  await env.platform.stop();
  assertEquals(await rows(), 2, "the next day has its own row");
});

Deno.test("rows expire after PLATFORM_REPORT_DAYS from the end of their day [REP3]", async () => {
  await using env = await openEnvironment({ environment: { PLATFORM_REPORT_DAYS: "40" } });
  await minutes(env, 1);
  const { commit } = env.store;
  const expiries: (number | undefined)[] = [];
  env.store.commit = (staged) => {
    for (const write of staged.writes) if (write.kind === "set") expiries.push(write.expiresAt);
    return commit(staged);
  };
  await env.platform.writeFigures();
  env.store.commit = commit;
  assertEquals(expiries, [Date.UTC(2040, 0, 16) + 40 * 86_400_000]);
});

Deno.test("figures that a process has read are shown no longer than they are kept [REP3]", async () => {
  await using env = await openPushEnvironment(accepts, { environment: { PLATFORM_REPORT_DAYS: "40" } });
  await paid(env);
  await env.platform.writeFigures();
  const payments = async (): Promise<number | undefined> =>
    (await report(env, `tpps?from=${DAY}&until=${DAY}`)).Report.find(({ Id }) => Id === env.tpp.clientId)
      ?.Total.Payments;
  env.now += 2 * 86_400_000;
  assertEquals(await payments(), 1);
  env.now = Date.UTC(2040, 0, 16) + 40 * 86_400_000;
  assertEquals(await payments(), 0);
});

Deno.test("figures that a process writes late are in the reports of others an hour after they have read the day [REP3]", async () => {
  await using env = await openPushEnvironment(accepts);
  const other = await anotherProcess(env);
  await paid(env);
  const payments = async (): Promise<number | undefined> => {
    const url = `${OPERATIONS_URL}/operations/reports/banks?from=${DAY}&until=${DAY}`;
    const headers = { authorization: `Bearer ${OPERATOR_TOKENS.viewer}` };
    const { Data } = await bodyOf<Reports>(other.operations.fetch(new Request(url, { headers })));
    return Data.Report.find(({ Id }) => Id === "BANKA")?.Total.Payments;
  };
  env.now += 2 * 86_400_000;
  assertEquals(await payments(), 0);
  await env.platform.writeFigures();
  env.now += 3_600_000;
  assertEquals(await payments(), 1);
  await other.stop();
});

Deno.test("a report has at most 92 days, by default the last 30, and no day before the registration [REP4]", async () => {
  await using env = await openEnvironment();
  const usual = await report(env, "banks");
  assertEquals([usual.FromDate, usual.UntilDate], ["2039-12-17", DAY]);
  assertEquals(usual.Report.map(({ Id }) => Id), ["BANKA", "BANKB"]);
  assertEquals(usual.Report[0]?.Day.map(({ Date: day }) => day), [DAY]);
  assertEquals((await report(env, "tpps?id=BANKA")).Report, []);
  assertEquals((await report(env, `banks?after=BANKA`)).Report.map(({ Id }) => Id), ["BANKB"]);
  for (
    const query of ["from=2039-01-01", "from=2040-01-16", "from=x", "until=2040-02-30", "until=0000-01-05"]
  ) {
    const answer = await env.asOperator(`/operations/reports/banks?${query}`);
    assertEquals([answer.status, (await rejectionOf(answer)).error], [400, "invalid_request"], query);
  }
  const after = await env.asOperator("/operations/reports/tpps?after=BANKA");
  assertEquals([after.status, (await rejectionOf(after)).error], [400, "invalid_request"]);
});

Deno.test("a report as CSV has a line for each day, and no cell is a formula [REP4]", async () => {
  await using env = await openEnvironment();
  const bound = await clientToken(env, env.tpp);
  const body = JSON.stringify(consentBody());
  await (await call(env, env.tpp, bound, "/BANKA/domestic-payment-consents/v1", { body })).body?.cancel();
  await env.platform.writeFigures();
  const answer = await env.asOperator("/operations/reports/tpps.csv");
  assertEquals(answer.headers.get("content-type"), "text/csv; charset=utf-8; header=present");
  const [head = "", ...lines] = (await answer.text()).trimEnd().split("\r\n");
  assertStringIncludes(head, "Date,Id,Name,Requests,Succeeded");
  const own = lines.find((line) => line.includes(env.tpp.clientId)) ?? "";
  assertStringIncludes(own, `${DAY},"${env.tpp.clientId}","Example Shop Ltd ·`);
  assertEquals(own.split(",").length, head.split(",").length);
  assertEquals(lines.length, 2);
});

Deno.test("the console's report of the last seven days is read as a page and as files [OP15, REP4]", async () => {
  await using env = await openPushEnvironment(accepts);
  await paid(env);
  await env.platform.writeFigures();
  const browser = await openConsole(env, "viewer");
  const { html } = await browser.get("/console/reports?id=BANKA");
  const week = "/console/reports?kind=banks&amp;id=BANKA&amp;from=2040-01-09&amp;until=2040-01-15";
  assert(html.includes(`href="${week}"`), html);
  const { html: csv, headers } = await browser.get("/console/reports/banks.csv?id=BANKA");
  assertEquals(headers.get("content-disposition"), 'attachment; filename="banks.csv"');
  assert(csv.startsWith("Date,Id,Name,") && csv.includes("OrdersAnsweredAtFirst"));
  const { html: json } = await browser.get("/console/reports/banks.json?id=BANKA");
  assertEquals((JSON.parse(json) as Reports).Data.Report.map(({ Id }) => Id), ["BANKA"]);
  assertEquals((await browser.get("/console/reports/banks.csv?from=never")).status, 400);
});

Deno.test("behind the first twenty banks the dashboard has figures, and the files of a page have what it shows [OP15, REP4]", async () => {
  await using env = await openPushEnvironment(accepts);
  await paid(env);
  await env.platform.writeFigures();
  const { value } = present(await env.store.get<object>(["bank", "BANKA"]));
  const writes = Array.from({ length: 25 }, (_, n) => {
    const code = `A${String(n).padStart(3, "0")}`; // before BANKA
    return { kind: "set", key: ["bank", code], value: { ...value, code, orgName: code } } as const;
  });
  await env.store.commit({ checks: [], writes });
  const browser = await openConsole(env, "viewer");
  await change(env, "/banks/BANKA/hold");
  const [, row = ""] = (await browser.get("/console")).html.split(
    `<a class="number" href="/console/reports?kind=banks&amp;id=BANKA">`,
  );
  assertEquals(row.split("<")[0], "100%");
  const { html } = await browser.get("/console/reports?after=A019");
  assertStringIncludes(
    html,
    "/console/reports/banks.csv?from=2039-12-17&amp;until=2040-01-15&amp;after=A019",
  );
});

Deno.test("a bank that has deleted its registration is in the report of the days on which it had one [REP4, QTR1]", async () => {
  await using env = await openPushEnvironment(accepts);
  await paid(env);
  const before = await ofToday(env, "banks", "BANKA");
  await env.store.commit({ checks: [], writes: [{ kind: "delete", key: ["bank", "BANKA"] }] });
  const { Report: [first, second, ...others] } = await report(env, `banks?until=${DAY}`);
  assertEquals([first?.Id, first?.Day, second?.Id, others], ["BANKA", [before], "BANKB", []]);
  assertEquals((await report(env, "banks?from=2040-01-14&until=2040-01-14")).Report.map(({ Id }) => Id), [
    "BANKB",
  ]);
});

Deno.test("a TPP that registers again has the days of its former registration in its report [REP4, DC23]", async () => {
  await using env = await openPushEnvironment(accepts);
  await paid(env);
  const before = await ofToday(env, "tpps", env.tpp.clientId);
  const path = `/register/v1/${env.tpp.clientId}`;
  const deleted = await call(env, env.tpp, await clientToken(env, env.tpp), path, { method: "DELETE" });
  assertEquals(deleted.status, 204);
  env.now += 2 * 86_400_000;
  await good(postRegistration(env, env.tpp), 201);
  const { Report: [first] } = await report(env, `tpps?id=${env.tpp.clientId}`);
  assertEquals(first?.Day.map(({ Date: day }) => day), [DAY, "2040-01-17"]);
  assertEquals(first?.Day[0]?.Payments, before.Payments);
});
