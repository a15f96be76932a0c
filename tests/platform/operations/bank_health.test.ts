/** The state of banks as everyone sees it, its events, and the downtime that it counts. */
import { assert, assertEquals } from "@std/assert";
import { type Banks, bodyOf, present } from "testing/answers.ts";
import type { Reports } from "testing/operation_answers.ts";
import { AUTH_URL, type Environment, openEnvironment } from "testing/environment.ts";
import { good } from "testing/flows.ts";
import { listBanks } from "../../../src/client/tpp/banks.ts";
import {
  applySigns,
  healthy,
  type Signs,
  told,
} from "../../../src/platform/operations/health/bank_health.ts";
import type { BankCode } from "../../../src/base/kernel/identifiers.ts";
import { waiting } from "../events/poll.ts";
import { accepts, down, later, openPushEnvironment, paid, type PushEnvironment } from "support/orders.ts";
import { anotherProcess, at } from "support/processes.ts";
import { changeAs } from "testing/operators.ts";

type Bank = Banks["banks"][number];

async function banks(env: Environment): Promise<readonly Bank[]> {
  const answer = await env.browser(new Request(`${AUTH_URL}/banks.json`));
  assertEquals([answer.status, answer.headers.get("cache-control")], [200, "public, max-age=2"]);
  return (await bodyOf<Banks>(answer)).banks;
}

async function bankA(env: Environment): Promise<Bank> {
  return present((await banks(env)).find(({ bank }) => bank === "BANKA"));
}

async function pageOf(env: Environment): Promise<string> {
  return await (await env.browser(new Request(`${AUTH_URL}/service-levels?lang=en`))).text();
}

/** The states of the bank's events that a TPP has which pays nothing, oldest first, with their times. */
async function toldOf(env: Environment): Promise<readonly (readonly [state: string, at: number])[]> {
  await env.platform.spreadNotices();
  return (await waiting(env, { by: env.otherTpp })).filter(({ what }) =>
    what.startsWith("bank-state-changed")
  )
    .map(({ what, claims }) => [what.replace("bank-state-changed ", ""), (claims["toe"] as number) * 1000]);
}

/** What the background does in two seconds. */
async function seen(env: Environment): Promise<void> {
  env.now += 2000;
  await env.platform.judgeBanks();
}

/** Payments a second apart, whose first push the bank answers so. */
async function payments(env: PushEnvironment, number: number, answer = env.answer): Promise<void> {
  env.answer = answer;
  for (let made = 0; made < number; made++) {
    env.now += 1000;
    await paid(env);
  }
}

Deno.test("a bank is down from the first of five failures in a row, for everyone within 10 s, and again available [BH1, BH2]", async () => {
  await using env = await openPushEnvironment(accepts);
  await payments(env, 3);
  await seen(env);
  assertEquals([(await bankA(env)).state, (await bankA(env)).state_since], ["available", undefined]);
  const first = env.now + 1000;
  await payments(env, 4, down);
  await seen(env);
  assertEquals((await bankA(env)).state, "degraded", "four of seven");
  await payments(env, 1);
  const last = env.now;
  await seen(env);
  assert(env.now - last < 10_000);
  const { state, state_since } = await bankA(env);
  assertEquals([state, Date.parse(present(state_since))], ["down", first]);
  assert((await pageOf(env)).includes("Has not answered since"));
  env.answer = accepts;
  await later(env, 40_000);
  await seen(env);
  assertEquals((await bankA(env)).state, "degraded", "it did not answer half of the last ten");
  await payments(env, 6);
  await seen(env);
  assertEquals((await bankA(env)).state, "available");
  assert((await pageOf(env)).includes("Available now"));
});

Deno.test("the downtime in reports counts from the first of five failures [BH3, REP2]", async () => {
  await using env = await openPushEnvironment(down);
  for (let failure = 0; failure < 5; failure++) {
    await env.platform.watchBanks();
    await payments(env, 1);
    if (failure < 4) env.now += 59_000;
  }
  await seen(env);
  assertEquals((await bankA(env)).state, "down");
  await env.platform.writeFigures();
  const day = new Date(env.now).toISOString().slice(0, 10);
  const path = `/operations/reports/banks?from=${day}&until=${day}&id=BANKA`;
  const { Data: { Report: [report] } } = await good<Reports>(env.asOperator(path, {}, "viewer"), 200);
  const { Availability } = present(report).Total;
  assertEquals([Availability?.DownMinutes, Availability?.ObservedMinutes], [5, 5]);
});

Deno.test("TPPs are told within 60 s and at the recovery, and a bank that flaps is told once in five minutes [BH4]", async () => {
  await using env = await openPushEnvironment(accepts);
  const begun = env.now;
  const states: string[] = [];
  for (let flap = 0; flap < 4; flap++) {
    await payments(env, 5, down);
    await seen(env);
    states.push((await bankA(env)).state);
    env.answer = accepts;
    await later(env, 31_000);
    await payments(env, 8);
    await seen(env);
    states.push((await bankA(env)).state);
  }
  assert(env.now - begun < 5 * 60_000);
  assertEquals(states, Array.from({ length: 4 }, () => ["down", "available"]).flat(), "seen at once");
  const events = await toldOf(env);
  assertEquals(events.map(([state]) => state), ["down", "available"]);
  const [, [, recovered] = ["", 0]] = events;
  assert(recovered - begun < 60_000);
  await payments(env, 5, down);
  await seen(env);
  env.now = recovered + 5 * 60_000 + 1000;
  await seen(env);
  assertEquals((await toldOf(env)).map(([state]) => state), ["down", "available", "down"], "told later");
});

Deno.test("a state is the same in every process, whoever pushes, and each TPP is told once [BH1, BH4]", async () => {
  await using env = await openPushEnvironment(down);
  const other = await anotherProcess(env, () => -1500);
  const there = at(env, other) as PushEnvironment;
  for (let order = 0; order < 2; order++) {
    await payments(env, 1);
    await paid(there);
  }
  await payments(env, 1);
  env.now += 2000;
  assertEquals(await other.judgeBanks(), 1, "by its own pushes alone: degraded");
  await env.platform.judgeBanks();
  env.now += 2000;
  await Promise.all([env.platform.judgeBanks(), other.judgeBanks()]);
  for (let pass = 0; pass < 3; pass++) {
    env.now += 2000;
    assertEquals([await other.judgeBanks(), await env.platform.judgeBanks()], [0, 0]);
    assertEquals([(await bankA(env)).state, (await bankA(there)).state], ["down", "down"]);
  }
  await Promise.all([env.platform.spreadNotices(), other.spreadNotices()]);
  env.now += 300_000;
  await seen(env);
  assertEquals((await toldOf(env)).map(([state]) => state), ["degraded", "down"]);
  env.answer = accepts;
  await other.stop();
  await later(env, 40_000);
  await payments(env, 6);
  await seen(env);
  assertEquals((await bankA(env)).state, "available");
});

Deno.test("a process that stops takes its pushes not along: the bank stays down until it answers [BH2]", async () => {
  await using env = await openPushEnvironment(down);
  await payments(env, 5);
  await seen(env);
  await env.restart();
  await seen(env);
  assertEquals((await bankA(env)).state, "down");
  await payments(env, 1, accepts);
  await seen(env);
  assertEquals((await bankA(env)).state, "degraded");
});

Deno.test("an outage and a hold are states too, and a bank that may take no payment is not listed [BH1, BH5]", async () => {
  await using env = await openEnvironment();
  const operate = async (path: string, data: object = {}): Promise<void> => {
    const reason = { Reason: "The bank's desk has asked for it." };
    const answer = await changeAs(env, `/${path}`, { ...reason, ...data });
    assert(answer.ok, await answer.text());
  };
  await operate("banks/BANKA/hold");
  await seen(env);
  assertEquals((await bankA(env)).state, "degraded");
  await operate("banks/BANKA/release");
  await seen(env);
  const [from, until] = [env.now, env.now + 60_000].map((time) => new Date(time).toISOString());
  const times = { FromDateTime: from, UntilDateTime: until, Text: "Maintenance." };
  await operate("banks/BANKA/outages", times);
  await seen(env);
  const { state, planned_outages } = await bankA(env);
  assertEquals([state, planned_outages?.length], ["planned_outage", 1]);
  env.now += 60_000;
  await seen(env);
  const now = await bankA(env);
  assertEquals([now.state, now.planned_outages], ["available", undefined]);
  await operate("organisations/BANKA/block");
  env.now += 1000;
  assertEquals((await banks(env)).map(({ bank }) => bank), ["BANKB"]);
});

Deno.test("the client library lists the banks [BH5]", async () => {
  await using env = await openEnvironment();
  const fetch = (url: string): Promise<Response> => env.browser(new Request(url));
  assertEquals(
    (await listBanks({ authUrl: AUTH_URL, fetch })).map(({ bank, state, logoUri }) => [bank, state, logoUri]),
    ["BANKA", "BANKB"].map((code) => [code, "available", "https://www.example.com/logo.png"]),
  );
});

Deno.test("the document has what a choice of banks needs [BH5]", async () => {
  await using env = await openEnvironment();
  const [a] = await banks(env);
  assertEquals<object | undefined>(a, {
    bank: "BANKA",
    name: "Bank A plc",
    logo_uri: "https://www.example.com/logo.png",
    issuer: `${AUTH_URL}/BANKA`,
    state: "available",
    consent_types: ["explicit", "implicit"],
    consent_screen: "platform",
    account_schemes: [...env.config.accountSchemes.keys()],
    currencies: [...env.config.currencies],
    languages: ["en", "es", "fr", "ar"],
  });
});

Deno.test("of 2,000 random minutes at most two notices are in any five minutes, the second one a recovery [BH4]", () => {
  let seed = 7;
  const random = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
  let health = healthy("BANKA" as BankCode);
  const notices: { at: number; state: string }[] = [];
  let signs: Signs = { pushes: [], isInOutage: false, isHeld: false };
  for (let now = 1e12; now < 1e12 + 2000 * 60_000; now += 2000) {
    if (random() < 0.1) {
      const isAnswered = random() < 0.5;
      const pushes = Array.from(
        { length: 6 },
        (_, place) => ({ at: now - 6 + place, isAnswered, milliseconds: 9 }),
      );
      signs = { pushes, isInOutage: random() < 0.1, isHeld: random() < 0.1 };
    }
    health = applySigns(health, signs, now);
    const known = told(health, now);
    if (known === undefined) continue;
    notices.push({ at: now, state: known.state });
    health = known;
  }
  assert(notices.length > 200, `${notices.length}`);
  for (const [place, { at, state }] of notices.entries()) {
    const before = notices.slice(0, place).filter((one) => at - one.at < 5 * 60_000);
    assert(before.length <= 1 && (before.length === 0 || state === "available"), JSON.stringify(before));
  }
});
