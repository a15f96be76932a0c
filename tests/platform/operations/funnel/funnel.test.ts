/** The funnel: equal to the histories, whatever customers, banks and processes do. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type Key, type Store, StoreFailure } from "../../../../src/base/store/store.ts";
import { funnelSchema } from "../../../../src/platform/operations/funnel/funnel_representation.ts";
import type { Platform } from "../../../../src/platform/process/compose.ts";
import {
  authorise,
  authorize,
  Browser,
  codeOf,
  decide,
  openHandover,
  putAccounts,
  redeem,
  returnPath,
  toBank,
} from "testing/authorization_flow.ts";
import { present } from "testing/answers.ts";
import { openConsole } from "testing/console_browser.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { OPERATIONS_URL } from "testing/operators.ts";
import { personOf, testPeople } from "testing/participants_people.ts";
import {
  call,
  clientToken,
  consentBody,
  createConsent,
  DEBTOR_ACCOUNT,
  dpopKey,
  good,
  pay,
  push,
} from "testing/flows.ts";
import { openTestStore } from "testing/test_store.ts";
import { numbersOfFunnel, numbersOfHistories } from "testing/funnel_oracle.ts";
import {
  accepts,
  openPushEnvironment,
  paid,
  type PushEnvironment,
  report as reportStatus,
} from "support/orders.ts";
import { anotherProcess } from "support/processes.ts";

/** Counts until no case is due. */
async function count(env: Environment, ...platforms: readonly Platform[]): Promise<void> {
  env.now += 3_600_000;
  for (let passes = 0; passes < 20; passes++) {
    const counted = await Promise.all(platforms.map((platform) => platform.countFunnel()));
    if (counted.every((number) => number === 0)) return;
  }
  throw new Error("cases stay due");
}

async function report(env: Environment, query = ""): Promise<readonly Record<string, unknown>[]> {
  const answer = await env.asOperator(`/operations/reports/funnel${query}`, {}, "viewer");
  const { Data } = funnelSchema.parse(await good(answer, 200));
  return Data.Row.map(({ Step, Left, ...of }) => ({
    ...of,
    ...Object.fromEntries(Step.map(({ Name, Cases }) => [Name, Cases])),
    Left: Left.map(({ After, StatusReasonCode, Cases }) => `${After} ${StatusReasonCode} ${Cases}`),
  }));
}

Deno.test("the funnel has each step by bank and day, and why customers left [FUN1, FUN3]", async () => {
  await using env = await openPushEnvironment(accepts);
  const { DomesticPaymentId } = await paid(env);
  await good(reportStatus(env, DomesticPaymentId, "AcceptedSettlementCompleted"), 200);
  const refused = await toBank(env);
  await good(putAccounts(env, env.bankA, refused.consentId), 200);
  const screen = await refused.browser.open(await returnPath(env, env.bankA, refused.handover));
  await decide(refused.browser, screen.headers.get("location") ?? "", "refuse");
  await toBank(env, { bank: env.bankB });
  env.now += 25 * 3_600_000;
  await env.platform.sweepConsents();
  await count(env, env.platform);
  const none = { Pushed: 1, Opened: 1, AtBank: 0, Returned: 0, Decided: 0, Paid: 0, Final: 0 };
  const all = { Pushed: 2, Opened: 2, AtBank: 2, Returned: 2, Decided: 2, Paid: 1, Final: 1 };
  assertEquals(await report(env), [
    { BankId: "BANKA", Date: "2040-01-15", Created: 2, ...all, Left: ["Decided CUST 1"] },
    { BankId: "BANKB", Date: "2040-01-15", Created: 1, ...none, Left: ["Opened DS24 1"] },
  ]);
  const [whole] = await report(env, `?by=type&tpp=${env.tpp.clientId}`);
  assertEquals([whole?.["Created"], whole?.["ConsentType"]], [3, "explicit"]);
  assertEquals(await report(env, `?tpp=${env.otherTpp.clientId}`), []);
  const browser = await openConsole(env, "viewer");
  const { html } = await browser.get("/console/reports/funnel?by=day&from=2040-01-14");
  for (const shown of ["Where customers are lost", "Link opened", "<svg", "DS24"]) {
    assertStringIncludes(html, shown);
  }
  const { html: csv } = await browser.get("/console/reports/funnel.csv?by=bank");
  const lines = csv.split("\r\n").slice(1, -1);
  assertEquals(lines.map((line) => line.split(",").slice(0, 7).join()), [",BANKA,,,,2,2", ",BANKB,,,,1,1"]);
  assert(lines[1]?.endsWith(",Opened DS24 1"), csv);
  assertEquals((await browser.get("/console/reports/funnel.csv?by=colour")).status, 400);
});

/** How far a case goes, and how it ends. */
const ENDS = [
  "created",
  "pushed",
  "pushed twice",
  "opened",
  "opened twice",
  "at the bank",
  "failed at the bank",
  "returned",
  "refused",
  "authorised",
  "paid",
  "completed",
  "rejected",
] as const;

async function travel(env: PushEnvironment, end: typeof ENDS[number], isImplicit: boolean): Promise<void> {
  const body = consentBody(isImplicit ? { initiation: { DebtorAccount: DEBTOR_ACCOUNT } } : {});
  const bound = await clientToken(env, env.tpp);
  const { Data: { ConsentId: consentId } } = await createConsent(env, bound, body);
  if (end === "created") return;
  const pushed = await good(push(env, consentId, { form: { ui_locales: "fr en" } }), 201);
  if (end === "pushed twice") await good(push(env, consentId), 201);
  if (end.startsWith("pushed")) return;
  const browser = new Browser(env);
  const { claims: handover } = await openHandover(
    env.bankA,
    await authorize(browser, env.tpp, pushed.request_uri),
  );
  if (end === "opened twice") await authorize(new Browser(env), env.tpp, pushed.request_uri);
  if (end.startsWith("opened")) return;
  const flow = { browser, bank: env.bankA, bound, consentId, requestUri: pushed.request_uri, handover };
  if (end === "failed at the bank") {
    const claims = { status: "failed", status_code: "access_denied", sub: undefined };
    await browser.open(await returnPath(env, env.bankA, handover, { claims }));
    return;
  }
  if (end === "at the bank") {
    if (!isImplicit) await good(putAccounts(env, env.bankA, consentId), 200);
    return;
  }
  if (end === "returned" || end === "refused") {
    if (!isImplicit) await good(putAccounts(env, env.bankA, consentId), 200);
    const screen = await browser.open(await returnPath(env, env.bankA, handover));
    if (end === "refused" && !isImplicit) {
      await decide(browser, screen.headers.get("location") ?? "", "refuse");
    }
    return;
  }
  const code = codeOf(await authorise(env, flow));
  if (end === "authorised") return;
  const { access_token: token } = await good(redeem(env, { consentId, code }), 200);
  const made = await good(pay(env, { consentId, body, payment: { token, key: await dpopKey() } }), 201);
  const status = end === "rejected" ? "Rejected" : "AcceptedSettlementCompleted";
  if (end !== "paid") await good(reportStatus(env, made.Data.DomesticPaymentId, status), 200);
}

/**
 * A store whose commits of the funnel end as those of a process that is killed: before the commit, or after it without
 * having learnt of it.
 */
function killing(
  store: Store,
  random: () => number,
): { readonly store: Store; readonly killed: { number: number } } {
  const killed = { number: 0 };
  const commit: Store["commit"] = async (changes) => {
    const fate = changes.checks.some(({ key }) => key[0] === "funnel_day") ? random() : 1;
    if (fate > 0.6) return await store.commit(changes);
    killed.number++;
    if (fate > 0.3) await store.commit(changes);
    throw new StoreFailure("killed");
  };
  return { store: { ...store, commit }, killed };
}

Deno.test("after any mix of journeys, with two processes and kills, the funnel is equal to the histories [FUN1, FUN2, O12]", async () => {
  const random = randomOf(20_401_127);
  const { store, killed } = killing(await openTestStore(), random);
  await using env = await openPushEnvironment(accepts, { store });
  const other = await anotherProcess(env);
  const pass = async (): Promise<void> => {
    await Promise.allSettled([env.platform.countFunnel(), other.countFunnel()]);
  };
  const mix = ENDS.toSorted(() => random() - 0.5);
  for (const end of mix) {
    await travel(env, end, random() < 0.4);
    env.now += Math.floor(random() * 3_600_000); // over midnight
    await pass();
  }
  env.now += 50 * 3_600_000;
  for (const platform of [env.platform, other]) await platform.sweepConsents();
  for (let passes = 0; passes < 40; passes++) {
    env.now += 3_600_000;
    await pass();
  }
  const histories = await numbersOfHistories(env.store);
  assertEquals(await numbersOfFunnel(env.store), histories);
  const numberOf = (step: string): number =>
    Object.entries(histories).filter(([name]) => name.endsWith(` ${step}`) && !name.includes(" * ")).reduce(
      (sum, [, more]) => sum + more,
      0,
    );
  assertEquals(numberOf("created"), mix.length);
  assert(
    numberOf("final") >= 2 && Object.keys(histories).filter((name) => name.includes(" left ")).length >= 5,
  );
  assert(killed.number >= 5, "processes were killed");
  const open = await env.store.list({ prefix: ["funnel_case"], limit: 100 });
  assertEquals(open.length, numberOf("paid") - numberOf("final"), "only cases that may change are looked at");
});

Deno.test("a damaged record of a case is told, keeps no other case back, and counts when it is repaired [FUN2]", async () => {
  await using env = await openPushEnvironment(accepts);
  const damaged = (await toBank(env)).consentId;
  const first = present((await env.store.list<object>({ prefix: ["audit", damaged], limit: 1 }))[0]);
  const write = (key: Key, value: unknown): Promise<unknown> =>
    env.store.commit({ checks: [], writes: [{ kind: "set", key, value }] });
  await write(first.key, { ...first.value, at: "yesterday" });
  const unreadable = (await toBank(env)).consentId;
  const entries = await env.store.list<object>({ prefix: ["funnel_case"], limit: 10 });
  const entry = present(entries.find(({ key }) => key[2] === unreadable));
  await write(entry.key, { ...entry.value, type: "unheard of" });
  for (let others = 0; others < 3; others++) await toBank(env);
  await count(env, env.platform);
  assertEquals((await report(env)).map(({ Created }) => Created), [3]);
  const told = env.logged.filter((line) => line.includes("case.not_counted"));
  assertEquals(
    told.map((line) => (JSON.parse(line) as { consentId?: string }).consentId).toSorted(),
    [damaged, unreadable].toSorted(),
  );
  const metrics = await (await env.asOperator("/operations/metrics")).text();
  assertStringIncludes(metrics, "platform_funnel_cases_skipped_total 2");
  await write(first.key, first.value);
  env.now += 6 * 3_600_000;
  await count(env, env.platform);
  assertEquals((await report(env)).map(({ Created }) => Created), [4]);
});

/** Random numbers of a seed (mulberry32), so that a failing mix can be repeated. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = state + 0x6D2B79F5 | 0;
    let mixed = Math.imul(state ^ state >>> 15, 1 | state);
    mixed = mixed + Math.imul(mixed ^ mixed >>> 7, 61 | mixed) ^ mixed;
    return ((mixed ^ mixed >>> 14) >>> 0) / 2 ** 32;
  };
}

Deno.test("an organisation has the funnel of its own consents, and of no others [FUN3, OWN2, OWN3]", async () => {
  await using env = await openEnvironment({ operators: await testPeople() });
  await toBank(env);
  const bound = await clientToken(env, env.otherTpp, "BANKB");
  const body = JSON.stringify(consentBody());
  await good(call(env, env.otherTpp, bound, "/BANKB/domestic-payment-consents/v1", { body }), 201);
  await count(env, env.platform);
  const own = async (orgId: string, query = ""): Promise<unknown> => {
    const request = new Request(`${OPERATIONS_URL}/operations/own/funnel${query}`, {
      headers: personOf(orgId),
    });
    const { Data } = await good<{ Data: { Row: { Step: { Cases: number }[] }[] } }>(
      env.platform.operations.fetch(request),
      200,
    );
    return Data.Row.map(({ Step: [created, pushed], ...of }) => ({
      ...of,
      Left: created?.Cases,
      Step: pushed?.Cases,
    }));
  };
  const day = { Date: "2040-01-15" };
  assertEquals(await own(env.tpp.orgId), [{ ...day, Left: 1, Step: 1 }]);
  assertEquals(await own(env.otherTpp.orgId), [{ ...day, Left: 1, Step: 0 }]);
  assertEquals(await own("BANKA", "?by=tpp"), [{ TppId: env.tpp.clientId, Left: 1, Step: 1 }]);
  assertEquals(await own("BANKB", "?by=bank,type"), [{
    BankId: "BANKB",
    ConsentType: "explicit",
    Left: 1,
    Step: 0,
  }]);
});
