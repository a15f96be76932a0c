/** Support finds a payment by its amount and day. */
import { assert, assertEquals } from "@std/assert";
import type { FoundByAmount } from "testing/operation_answers.ts";
import { type CreatedConsent, rejectionOf } from "testing/answers.ts";
import { authorised } from "testing/authorization_flow.ts";
import { openConsole } from "testing/console_browser.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { call, clientToken, consentBody, good, pay } from "testing/flows.ts";
import type { TestOperator } from "testing/operators.ts";
import { CONSENTS } from "support/resource_calls.ts";
import { DAY_MS, elapse, openRetaining, pass, settled, work } from "support/retention.ts";
import { steps } from "support/steps.ts";
import { historyOf } from "testing/histories.ts";
import { stageListed } from "../../../../src/platform/guards/lists/lookup_store.ts";

const DAY = "2040-01-15"; // of the environment

function read(
  env: Environment,
  query: Record<string, string>,
  as: TestOperator = "support",
): Promise<Response> {
  return env.asOperator(`/operations/cases?${new URLSearchParams(query)}`, {}, as);
}

async function found(env: Environment, query: Record<string, string>): Promise<FoundByAmount["Data"]> {
  return (await good<FoundByAmount>(read(env, { amount: "165.88", from: DAY, ...query }), 200)).Data;
}

async function idsOf(env: Environment, query: Record<string, string>): Promise<readonly string[]> {
  return (await found(env, query)).Case.map(({ ConsentId }) => ConsentId);
}

interface Wanted {
  readonly amount?: string;
  readonly currency?: string;
  readonly bank?: string;
  readonly caller?: Environment["tpp"];
}

async function consent(
  env: Environment,
  { amount = "165.88", currency = "EUR", bank = "BANKA", caller = env.tpp }: Wanted = {},
): Promise<string> {
  const initiation = { InstructedAmount: { Amount: amount, Currency: currency } };
  const body = JSON.stringify(consentBody({ initiation }));
  const token = await clientToken(env, caller, bank);
  return (await good<CreatedConsent>(
    call(env, caller, token, CONSENTS.replace("BANKA", bank), { body }),
    201,
  )).Data
    .ConsentId;
}

Deno.test("a case is found by amount and day, with its payment, and without personal data [TRC13]", async () => {
  await using env = await openEnvironment();
  const flow = await authorised(env);
  const { Data: { DomesticPaymentId } } = await good(pay(env, flow), 201);
  await consent(env, { amount: "165.89" });
  assertEquals(await found(env, {}), {
    Case: [{
      FoundBy: ["amount"],
      ConsentId: flow.consentId,
      ConsentStatus: "Consumed",
      DomesticPaymentId,
      PaymentStatus: "AcceptedSettlementInProcess",
      Bank: "BANKA",
      ClientId: env.tpp.clientId,
      Tpp: "Example Shop Ltd · Example Shop Ltd app",
      CreationDateTime: "2040-01-15T12:00:00+00:00",
    }],
  });
});

Deno.test("currency, bank, TPP and days narrow the search [TRC13]", async () => {
  await using env = await openEnvironment();
  const first = await consent(env);
  const pounds = await consent(env, { currency: "GBP" });
  const atB = await consent(env, { bank: "BANKB" });
  const ofOther = await consent(env, { caller: env.otherTpp });
  const all = [first, pounds, atB, ofOther];
  const sorted = async (query: Record<string, string>): Promise<readonly string[]> =>
    (await idsOf(env, query)).toSorted();
  assertEquals(await sorted({}), all.toSorted());
  assertEquals(await sorted({ currency: "GBP" }), [pounds]);
  assertEquals(await sorted({ bank: "BANKB" }), [atB]);
  assertEquals(await sorted({ bank: "BANKC" }), []);
  assertEquals(await sorted({ tpp: env.otherTpp.clientId }), [ofOther]);
  assertEquals(await sorted({ tpp: env.tpp.clientId, bank: "BANKA" }), [first, pounds].toSorted());
  assertEquals(await sorted({ from: "2040-01-16" }), []);
  assertEquals(await sorted({ from: "2040-01-14" }), []);
  assertEquals(await sorted({ from: "2040-01-14", until: DAY }), all.toSorted());
  assertEquals(await sorted({ from: "2039-12-16", until: DAY }), all.toSorted());
});

Deno.test("a payment is found by its own day too, if its consent is of the day before [TRC13]", async () => {
  await using env = await openEnvironment();
  env.now = Date.parse("2040-01-15T23:50:00Z");
  const flow = await authorised(env);
  const unpaid = await consent(env);
  env.now = Date.parse("2040-01-16T00:05:00Z");
  await good(pay(env, flow), 201);
  assertEquals(await idsOf(env, { from: "2040-01-16" }), [flow.consentId]);
  assertEquals(new Set(await idsOf(env, { from: DAY })), new Set([flow.consentId, unpaid]));
  assertEquals(await idsOf(env, { from: "2040-01-17" }), []);
});

Deno.test("a search opens the cases that fit, reads 5000 entries at most, and goes on where it was [TRC13]", async () => {
  await using env = await openEnvironment();
  const consents = Array.from({ length: 6000 }, (_, index) => ({
    id: crypto.randomUUID(),
    bank: "BANKA",
    clientId: env.tpp.clientId,
    createdAt: env.now - 6000 + index,
  }));
  for (let from = 0; from < consents.length; from += 300) {
    const tx = { writes: [] };
    for (const one of consents.slice(from, from + 300)) stageListed(tx, "consent", one as never, "1.00 EUR");
    await env.raw.commit({ checks: [], writes: tx.writes });
  }
  const ids: string[] = [];
  for (let made = 0; made < 21; made++) ids.push(await consent(env));
  const { list, get } = env.store;
  const read = { entries: 0, records: 0 };
  env.store.list = async (listing) => {
    const entries = await list(listing);
    if (listing.prefix[0] === "listed") read.entries += entries.length;
    return entries as never;
  };
  env.store.get = (key) => {
    if (key[0] === "consent") read.records++;
    return get(key);
  };
  const first = await found(env, {});
  assertEquals([first.Case.length, read], [0, { entries: 5000, records: 0 }]);
  const second = await found(env, { after: first.After ?? "" });
  const third = await found(env, { after: second.After ?? "" });
  const cases = [...second.Case, ...third.Case].map(({ ConsentId }) => ConsentId);
  assertEquals([second.Case.length, third.Case.length, third.After], [20, 1, undefined]);
  assertEquals(cases.toSorted(), ids.toSorted());
  assertEquals(read.records, 21);
});

Deno.test("an unusable search by amount is rejected, and the answer names the parameter [TRC13]", async (t) => {
  await using env = await openEnvironment();
  const good = { amount: "165.88", from: DAY };
  const queries: Record<string, Record<string, string>> = {
    "amount: no": { from: DAY },
    "amount: one fraction digit": { ...good, amount: "165.8" },
    "amount: a comma": { ...good, amount: "165,88" },
    "from: no": { amount: "165.88" },
    "from: a time": { ...good, from: "2040-01-15T00:00:00Z" },
    "until: before from": { ...good, until: "2040-01-14" },
    "until: 32 days": { ...good, until: "2040-02-15" },
    "currency: small letters": { ...good, currency: "eur" },
    "bank: a slash": { ...good, bank: "A/B" },
    "tpp: no client id": { ...good, tpp: "shop" },
    "after: a slash": { ...good, after: "/" },
  };
  for (const [name, query] of Object.entries(queries)) {
    await t.step(name, async () => {
      const answer = await read(env, query);
      const { error_description: description } = await rejectionOf(answer);
      assertEquals(answer.status, 400);
      assert(description.startsWith(name.split(":")[0] ?? "?"), description);
    });
  }
});

Deno.test("a search by amount is for those who may read cases, and what it finds is in the operator's history [TRC9, TRC13]", async () => {
  await using env = await openEnvironment();
  const id = await consent(env);
  for (const as of ["viewer"] as const) {
    const answer = await read(env, { amount: "165.88", from: DAY }, as);
    await answer.body?.cancel();
    assertEquals(answer.status, 403);
  }
  await found(env, {});
  await found(env, { amount: "1.00" });
  const reasons = (await historyOf(env.store, "operator support")).map(({ reason }) => reason);
  assertEquals(reasons, [`/operations/cases: consent ${id}`, "/operations/cases: nothing found"]);
});

Deno.test("a case without personal data is not found by its amount [TRC13]", async () => {
  await using env = await openRetaining();
  const { consentId } = await settled(env);
  const of = { amount: "165.88", from: DAY };
  assertEquals(await idsOf(env, of), [consentId]);
  await pass(env, 201);
  await work(env);
  await elapse(env, DAY_MS);
  assertEquals(await idsOf(env, of), []);
});

Deno.test("the console searches by amount and day, page by page [TRC13]", async (t) => {
  await using env = await openEnvironment();
  const ids: string[] = [];
  for (let made = 0; made < 21; made++) ids.push(await consent(env));
  const browser = await openConsole(env, "support");
  const { html } = await browser.get("/console/search");
  for (const name of ["amount", "currency", "from", "until", "bank"]) {
    assert(html.includes(`name="${name}"`), name);
  }
  assertEquals([...html.matchAll(/<input[^>]*id="(\w+)"[^>]*required/g)].map(([, id]) => id), [
    "q",
    "amount",
    "from",
  ]);
  const first = await browser.get(`/console/search?amount=165.88&currency=&from=${DAY}&until=&bank=`);
  const link = [...first.html.matchAll(/href="([^"]*after=[^"]*)"/g)][0]?.[1]?.replaceAll("&amp;", "&") ?? "";
  const second = await browser.get(link);
  assertEquals(ids.filter((id) => first.html.includes(`/console/cases/${id}`)).length, 20);
  assertEquals(ids.filter((id) => second.html.includes(`/console/cases/${id}`)).length, 1);
  const answers: Record<string, readonly [query: string, words: string]> = {
    "nothing found": [`amount=1.00&from=${DAY}`, "No case has this amount on these days."],
    "a wrong amount": [`amount=1&from=${DAY}`, "amount must be an amount such as 49.90"],
  };
  await steps(t, answers, async ([query, words]) => {
    assert((await browser.get(`/console/search?${query}`)).html.includes(words));
  });
});
