/** A regulator's quarter: the command's table, a planted outage, and the same numbers from exported spans and histories. */
import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { ops } from "../../../../scripts/operators/ops/main.ts";
import { daysOfQuarter } from "../../../../scripts/operators/ops/quarter.ts";
import { differences, recompute } from "../../../../scripts/operators/quarter/recompute.ts";
import { present } from "testing/answers.ts";
import { OPERATOR_TOKENS } from "testing/operators.ts";
import { accepts, down, openPushEnvironment, paid, type PushEnvironment } from "support/orders.ts";

const COLLECTOR = "http://127.0.0.1:4318/v1/traces";
const MINUTE = 60_000;

/** The bodies that the collector gets. */
async function collecting(): Promise<{ readonly env: PushEnvironment; readonly bodies: unknown[] }> {
  const environment = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: COLLECTOR };
  const env = await openPushEnvironment(accepts, { environment });
  const bodies: unknown[] = [];
  const others = env.network;
  env.network = async (request) => {
    if (request.url !== COLLECTOR) return await others(request);
    bodies.push(await request.json());
    return new Response("{}");
  };
  return { env, bodies };
}

async function run(env: PushEnvironment, ...args: readonly string[]): Promise<string> {
  const printed: string[] = [];
  await ops(args, {
    environment: (name) => name === "PLATFORM_OPS_TOKEN" ? OPERATOR_TOKENS.auditor : undefined,
    readText: () => Promise.reject(new Error("no file")),
    fetch: ((url: string, init?: RequestInit) =>
      env.platform.operations.fetch(new Request(url, init))) as typeof fetch,
    print: (line) =>
      void printed.push(line),
    now: env.now,
  });
  return printed.join("\n");
}

/** A minute of the platform's life: it looks at the banks, pushes what is due, and looks again. */
async function minute(env: PushEnvironment, at: number, payments = 0): Promise<void> {
  env.now = at + 500;
  await env.platform.watchBanks();
  for (let made = 0; made < payments; made++) {
    env.now += 2000;
    await paid(env);
  }
  env.now += 20_000;
  await env.platform.deliverDueOrders();
  env.now += 2000;
  await env.platform.judgeBanks();
}

async function rowOf(env: PushEnvironment): Promise<Readonly<Record<string, string>>> {
  await env.platform.writeFigures();
  const lines = (await run(env, "quarter", "2040-Q1", "--csv")).split("\r\n").map((line) => line.split(","));
  const [heads = []] = lines;
  const row = lines.find(([date, bank]) => date === "2040-01-15" && bank === "BANKA");
  return Object.fromEntries(heads.map((name, place) => [name, present(row)[place] ?? ""]));
}

Deno.test("a planted outage of 40 minutes has 40 minutes in the quarter, and spans and histories say the same [QTR1, QTR2, BH3]", async () => {
  const { env: opened, bodies } = await collecting();
  await using env = opened;
  const noon = env.now;
  for (let past = 0; past < 10; past++) await minute(env, noon + past * MINUTE, past % 3 === 0 ? 1 : 0);
  env.answer = down;
  for (let past = 10; past < 50; past++) await minute(env, noon + past * MINUTE, past === 10 ? 5 : 0);
  env.answer = accepts;
  for (let seconds = 30; seconds < 58 && present(await stateOf(env)) === "down"; seconds += 3) {
    env.now = noon + 49 * MINUTE + seconds * 1000;
    await env.platform.deliverDueOrders();
    await paid(env);
    await env.platform.judgeBanks();
  }
  for (let past = 50; past < 60; past++) await minute(env, noon + past * MINUTE);
  const row = await rowOf(env);
  assertEquals([row["ObservedMinutes"], row["DownMinutes"], row["UnavailableMinutes"]], ["60", "40", "40"]);
  assertEquals(row["Availability"], "0.3333");
  assert(Number(row["Payments"]) >= 9 && Number(row["Pushes"]) > Number(row["PushesAnswered"]));
  await env.platform.sendSpans?.();
  const pages = [JSON.parse(await run(env, "audit", "--json")) as unknown];
  const csv = await run(env, "quarter", "2040-Q1", "--csv");
  const recomputed = recompute(bodies, pages);
  assertEquals(recomputed.row("2040-01-15 BANKA")["DownMinutes"], "40");
  assertEquals(differences(csv, recomputed), []);
  for (const column of Object.keys(row).slice(2)) {
    const right = recomputed.row("2040-01-15 BANKA")[column];
    const wrong = withFigure(csv, column, "7777");
    assertEquals(differences(wrong, recomputed), [
      `2040-01-15 BANKA: ${column} is 7777, recomputed ${right}`,
    ]);
  }
  assertStringIncludes(await run(env, "quarter", "2040-Q1"), '"DownMinutes":40');
});

/** The table with another figure of BANKA. */
function withFigure(csv: string, column: string, figure: string): string {
  const [heads = [], ...lines] = csv.split("\r\n").map((line) => line.split(","));
  for (const line of lines) {
    if (line[0] === "2040-01-15" && line[1] === "BANKA") line[heads.indexOf(column)] = figure;
  }
  return [heads, ...lines].map((cells) => cells.join(",")).join("\r\n");
}

Deno.test("minutes of holds, blocks, outages and of no process are recomputed to the minute [QTR2, REP2]", async () => {
  const { env: opened, bodies } = await collecting();
  await using env = opened;
  const start = env.now;
  const operate = async (path: string, data: object = {}): Promise<void> => {
    const body = JSON.stringify({ Data: { Reason: "Planned, for the report of the quarter.", ...data } });
    const headers = { "content-type": "application/json" };
    const answer = await env.asOperator(`/operations/${path}`, { method: "POST", headers, body });
    assert(answer.ok, await answer.text());
  };
  const [from, until] = [3, 6].map((past) => new Date(start + past * MINUTE).toISOString());
  const times = { FromDateTime: from, UntilDateTime: until, Text: "Maintenance." };
  await operate("banks/BANKA/outages", times);
  for (let past = 0; past < 20; past++) {
    if (past === 5) await operate("banks/BANKA/hold");
    if (past === 9) await operate("banks/BANKA/release");
    if (past === 11) await operate("organisations/BANKB/block");
    if (past < 14 || past > 16) await minute(env, start + past * MINUTE);
  }
  const row = await rowOf(env);
  assertEquals(
    ["ObservedMinutes", "UnavailableMinutes", "OutageMinutes", "HeldMinutes", "Availability"].map((name) =>
      row[name]
    ),
    ["17", "6", "3", "4", "0.647"],
  );
  await env.platform.sendSpans?.();
  const csv = await run(env, "quarter", "2040-Q1", "--csv");
  assertStringIncludes(csv, "2040-01-15,BANKB,17,6,0,0,6,0.647");
  assertEquals(differences(`${csv}\n`, recompute(bodies, [])), [], "the file of what the command prints");
});

async function stateOf(env: PushEnvironment): Promise<string | undefined> {
  const banks = await env.browser(new Request(`${env.config.authUrl}/banks.json`));
  const { banks: all } = await banks.json() as {
    readonly banks: readonly { readonly bank: string; readonly state: string }[];
  };
  return all.find(({ bank }) => bank === "BANKA")?.state;
}

Deno.test("a quarter has the days of its three months [QTR1]", () => {
  assertEquals(daysOfQuarter("2040-Q1"), { from: "2040-01-01", until: "2040-03-31" });
  assertEquals(daysOfQuarter("2039-Q4"), { from: "2039-10-01", until: "2039-12-31" });
  for (const text of ["2040", "2040-Q5", "Q1-2040", ""]) {
    assertThrows(() => daysOfQuarter(text), Error, "2040-Q1");
  }
});
