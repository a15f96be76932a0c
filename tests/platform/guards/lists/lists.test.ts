/** A TPP lists its own consents and payments: what, in which order, page by page. */
import { assert, assertEquals } from "@std/assert";
import { type CreatedConsent, present } from "testing/answers.ts";
import { authorised } from "testing/authorization_flow.ts";
import { putStatus } from "testing/back_channel.ts";
import { type Environment } from "testing/environment.ts";
import { call, clientToken, consentBody, good, pay } from "testing/flows.ts";
import { assertChallenge, assertFaults } from "testing/resource_answers.ts";
import { stepsOf } from "support/steps.ts";
import { CONSENTS, PAYMENTS } from "support/resource_calls.ts";
import { test } from "support/environment_test.ts";
import { stageListed } from "../../../../src/platform/guards/lists/lookup_store.ts";
import { listedKey } from "../../../../src/platform/config/store_keys.ts";
import { idsOf, list, type ListName, LISTS, request } from "./lists.ts";
import { unchanged } from "testing/store_contents.ts";

const NAMES = Object.keys(LISTS) as ListName[];

/** A consent of a TPP at a bank, with this end-to-end id. Returns its id. */
async function consent(
  env: Environment,
  { caller = env.tpp, bank = "BANKA", endToEnd = "E2E" } = {},
): Promise<string> {
  const body = JSON.stringify(consentBody({ initiation: { EndToEndIdentification: endToEnd } }));
  const token = await clientToken(env, caller, bank);
  const path = CONSENTS.replace("BANKA", bank);
  return (await good<CreatedConsent>(call(env, caller, token, path, { body }), 201)).Data.ConsentId;
}

async function paid(env: Environment): Promise<{ consentId: string; paymentId: string }> {
  const flow = await authorised(env);
  return { consentId: flow.consentId, paymentId: (await good(pay(env, flow), 201)).Data.DomesticPaymentId };
}

test("Links.Self keeps the query of a list, and Links.Next leads to the next page [LS7]", async ({ env }) => {
  for (let count = 0; count < 101; count++) await consent(env);
  env.now += 60_000;
  interface Listed {
    readonly Data: { readonly Consent: readonly { readonly ConsentId: string }[]; readonly After?: string };
    readonly Links: { readonly Self: string; readonly Next?: string };
  }
  const query = { status: "AwaitingAuthorisation", from: "2040-01-15T12:00:00+00:00" };
  const first = await good<Listed>(request(env, "Consent", query), 200);
  const url = `${env.config.baseUrl}${CONSENTS}`;
  assertEquals(first.Links.Self, `${url}?${new URLSearchParams(query)}`);
  assertEquals(
    first.Links.Next,
    `${url}?${new URLSearchParams({ ...query, after: first.Data.After ?? "" })}`,
  );
  const sent = Object.fromEntries(new URL(first.Links.Next ?? "").searchParams);
  const next = await good<Listed>(request(env, "Consent", sent), 200);
  assertEquals([next.Data.Consent.length, next.Links.Self, next.Links.Next], [
    1,
    first.Links.Next,
    undefined,
  ]);
  await paid(env);
  const ofPayments = { "end-to-end-id": "FRESCO.21302.GFX.20" };
  const { Links } = await good<Pick<Listed, "Links">>(request(env, "Payment", ofPayments), 200);
  assertEquals(Links, { Self: `${env.config.baseUrl}${PAYMENTS}?${new URLSearchParams(ofPayments)}` });
});

test("the lists have a TPP's own consents and payments at the bank, with their current status [LS1]", async ({ env }) => {
  const { consentId, paymentId } = await paid(env);
  await consent(env, { caller: env.otherTpp });
  await consent(env, { bank: "BANKB" });
  await good(putStatus(env, env.bankA, paymentId, "AcceptedSettlementCompleted"), 200);
  const common = {
    ConsentId: consentId,
    CreationDateTime: "2040-01-15T12:00:00+00:00",
    StatusUpdateDateTime: "2040-01-15T12:00:00+00:00",
    EndToEndIdentification: "FRESCO.21302.GFX.20",
    InstructedAmount: { Amount: "165.88", Currency: "EUR" },
  };
  const answer = await good(request(env, "Consent"), 200);
  assertEquals(answer, {
    Data: { Consent: [{ ...common, Status: "Consumed" }] },
    Links: { Self: `${env.config.baseUrl}${CONSENTS}` },
    Meta: {},
  });
  const { Payment: [payment, ...more] } = await list(env, "Payment");
  assertEquals([payment, more], [{
    ...common,
    DomesticPaymentId: paymentId,
    Status: "AcceptedSettlementCompleted",
  }, []]);
  assertEquals((await idsOf(env, "Consent", {}, { caller: env.otherTpp })).length, 1);
  assertEquals(await idsOf(env, "Payment", {}, { caller: env.otherTpp }), []);
  assertEquals((await idsOf(env, "Consent", {}, { bank: "BANKB" })).length, 1);
  env.now += 86_400_000;
  await consent(env);
  const [, open] = (await list(env, "Consent")).Consent;
  assertEquals(open?.Status, "AwaitingAuthorisation");
  env.now += 86_400_000;
  const [, expired] = (await list(env, "Consent")).Consent;
  assertEquals(expired?.Status, "Rejected", "as a read shows it, before a deadline is recorded");
});

test("the parameters filter by time of creation, status and end-to-end id [LS2]", async ({ env }) => {
  const first = await consent(env, { endToEnd: "ONE" });
  env.now += 60_000;
  const second = await consent(env, { endToEnd: "TWO" });
  const { consentId: third } = await paid(env);
  const at = "2040-01-15T12:01:00Z";
  assertEquals(
    await idsOf(env, "Consent", { from: at }),
    await idsOf(env, "Consent", { from: "2040-01-15T13:01:00+01:00" }),
  );
  assertEquals(new Set(await idsOf(env, "Consent", { from: at })), new Set([second, third]));
  assertEquals(await idsOf(env, "Consent", { until: at }), [first]);
  assertEquals(await idsOf(env, "Consent", { from: "2040-01-15T12:01:01Z" }), []);
  assertEquals(await idsOf(env, "Consent", { status: "Consumed" }), [third]);
  assertEquals(await idsOf(env, "Consent", { "end-to-end-id": "TWO" }), [second]);
  assertEquals(await idsOf(env, "Consent", { "end-to-end-id": "TWO", until: at }), []);
  assertEquals((await idsOf(env, "Payment", { status: "AcceptedSettlementInProcess" })).length, 1);
  assertEquals(await idsOf(env, "Payment", { status: "Rejected" }), []);
  assertEquals((await idsOf(env, "Payment", { "end-to-end-id": "FRESCO.21302.GFX.20" })).length, 1);
});

/** Copies a consent so often as the former ones of its TPP. Returns their ids, oldest first. */
async function copied(
  env: Environment,
  consentId: string,
  number: number,
  apartMs = 1000,
): Promise<readonly string[]> {
  const value = (await env.store.get<{ createdAt: number }>(["consent", consentId]))?.value;
  const ids = Array.from({ length: number }, () => crypto.randomUUID());
  for (let from = 0; from < number; from += 100) {
    const tx = { writes: [] };
    const part = ids.slice(from, from + 100).map((id, index) => ({
      id,
      createdAt: (value?.createdAt ?? 0) - (number - from - index) * apartMs,
    }));
    for (const { id, createdAt } of part) {
      const made = { bank: "BANKA", clientId: env.tpp.clientId, id, createdAt };
      stageListed(tx, "consent", made as never, "165.88 EUR");
    }
    const sets = part.map((one) => ({
      kind: "set" as const,
      key: ["consent", one.id],
      value: { ...value, ...one },
    }));
    await env.store.commit({ checks: [], writes: [...sets, ...tx.writes] });
  }
  return ids;
}

test("pages follow each other by their cursors, while consents are created [LS3]", async ({ env }) => {
  const seed = await consent(env);
  env.now += 60_000;
  const all = [...await copied(env, seed, 249), seed];
  const found: string[] = [];
  let after: string | undefined;
  const sizes: number[] = [];
  do {
    const page = await list(env, "Consent", after === undefined ? {} : { after });
    if (after === undefined) all.push(await consent(env)); // behind every cursor
    found.push(...page.Consent.map(({ ConsentId }) => ConsentId));
    sizes.push(page.Consent.length);
    after = page.After;
  } while (after !== undefined && sizes.length < 10);
  assertEquals([found, sizes], [all, [100, 100, 51]]);
  const inSpan = await list(env, "Consent", { from: "2040-01-15T11:58:20Z", until: "2040-01-15T12:00:00Z" });
  assertEquals([inSpan.Consent.length, inSpan.After], [100, undefined], "a full page that is the last");
});

test("a filter that fits few reads at most 500 entries a page, and finds all in the end [LS3]", async ({ env }) => {
  const seed = await consent(env, { endToEnd: "MANY" });
  await copied(env, seed, 600);
  env.now += 1000;
  const only = await consent(env, { endToEnd: "ONLY" });
  env.now += 60_000;
  const { getMany } = env.store;
  let read = 0;
  env.store.getMany = (keys) => {
    read += keys.filter(([record]) => record === "consent").length;
    return getMany(keys);
  };
  const first = await list(env, "Consent", { "end-to-end-id": "ONLY" });
  assertEquals([first.Consent, read], [[], 500]);
  const rest = await list(env, "Consent", { "end-to-end-id": "ONLY", after: first.After ?? "" });
  assertEquals([rest.Consent.map(({ ConsentId }) => ConsentId), rest.After], [[only], undefined]);
});

test("a cursor is not behind an entry that an older one may overtake [LS3]", async ({ env, t }) => {
  const seed = await consent(env);
  env.now += 60_000;
  await copied(env, seed, 150); // the youngest is a second older than the seed
  await t.step("the last entries of the page are settled", async () => {
    env.now = Date.parse("2040-01-15T12:00:20Z");
    const { Consent: page, After } = await list(env, "Consent");
    assertEquals(After?.slice(16), page?.at(-1)?.ConsentId);
  });
  await t.step("half of the page may be overtaken", async () => {
    env.now = Date.parse("2040-01-15T11:58:50Z");
    const { Consent: page, After } = await list(env, "Consent");
    assertEquals(page?.findIndex((one) => one.ConsentId === After?.slice(16)), 50);
  });
});

test("a page whose entries may all be overtaken has a cursor if more follow [LS3]", async ({ env, t }) => {
  const seed = await consent(env);
  const young = [...await copied(env, seed, 600, 10), seed];
  const [old = ""] = await copied(env, seed, 1, 60_000);
  env.now += 10_000;
  const pages = async (query: Record<string, string>): Promise<readonly string[]> => {
    const { Consent: page, After } = await list(env, "Consent", query);
    const ids = page.map(({ ConsentId }) => ConsentId);
    return After === undefined ? ids : [...ids, ...await pages({ ...query, after: After })];
  };
  let after = "";
  await t.step("without `after`, an older one that is committed later follows the cursor", async () => {
    const { Consent: page, After } = await list(env, "Consent", { from: "2040-01-15T11:59:30Z" });
    assertEquals([page?.length, page?.[0]?.ConsentId], [100, young[0]]);
    const [late = ""] = await copied(env, seed, 1, 9000);
    young.unshift(late);
    after = present(After);
    assertEquals((await idsOf(env, "Consent", { after }))[0], late);
  });
  await t.step("behind a settled one", async () => {
    const settled = (await list(env, "Consent")).After;
    assertEquals(settled?.slice(16), old);
    assertEquals((await list(env, "Consent", { after: settled ?? "" })).After, settled);
  });
  await t.step("a filter fits none of 500", async () => {
    const answer = await list(env, "Consent", { status: "Consumed", after });
    assertEquals(answer, { Consent: [], After: after });
  });
  await t.step("the cursor leads to all of them as soon as they are settled", async () => {
    env.now += 20_000;
    assertEquals(await pages({ after }), young);
  });
  await t.step("100 young ones are the end", async () => {
    env.now = Date.parse("2040-01-15T12:00:00Z");
    const { Consent: page, After } = await list(env, "Consent", {
      from: "2040-01-15T11:59:50Z",
      until: "2040-01-15T11:59:54.990Z",
    });
    assertEquals([page?.length, After], [100, undefined]);
  });
});

test("with the cursor of another TPP, bank or list a caller reads its own entries alone [LS5]", async ({ env }) => {
  const foreign = await consent(env, { caller: env.otherTpp });
  env.now += 1000;
  const own = await consent(env);
  const prefix = listedKey("consent", "BANKA", env.otherTpp.clientId);
  const [entry] = await env.raw.list({ prefix, limit: 1 });
  const after = entry?.key.at(-1) ?? "";
  assert(after.includes(foreign));
  assertEquals(await idsOf(env, "Consent", { after }), [own]);
  assertEquals(await idsOf(env, "Payment", { after }), []);
  assertEquals(await idsOf(env, "Consent", { after }, { bank: "BANKB" }), []);
});

test("a parameter that is unknown, repeated or malformed is rejected, by name [LS-N2]", async ({ env, t }) => {
  // each parameter's faults: list_query.test.ts
  const cases: readonly [query: [string, string][], faults: readonly (readonly [string, string])[]][] = [
    [[["idempotencykey", "k"]], [["Field.Unexpected", "idempotencykey"]]],
    [[["<b>", "k"]], [["Field.Unexpected", "query"]]],
    [[["limit", "5"], ["from", "?"], ["after", "~"]], [["Field.Unexpected", "limit"], [
      "Field.Invalid",
      "from",
    ], ["Field.Invalid", "after"]]],
  ];
  const token = await clientToken(env, env.tpp);
  for (const name of NAMES) {
    await stepsOf(t, cases, ([query]) => `${name} ${JSON.stringify(query)}`, async ([query, faults]) => {
      await assertFaults(await unchanged(env, () => request(env, name, query, { token })), 400, faults);
    });
  }
});

test("a token of one consent lists nothing [LS-N1]", async ({ env }) => {
  const { payment } = await authorised(env);
  for (const name of NAMES) {
    const response = await unchanged(env, () => request(env, name, {}, { token: payment }));
    await assertChallenge(response, 403, 'DPoP error="insufficient_scope", scope="payments", algs="PS256"');
  }
});

test("an entry is written in the commit of its consent or payment, and once [LS1, L1]", async ({ env }) => {
  const { commit } = env.store;
  const records: string[][] = [];
  env.store.commit = (staged) => {
    records.push(staged.writes.map(({ key }) => key[0] ?? ""));
    return commit(staged);
  };
  await paid(env);
  const having = records.filter((names) => names.includes("listed"));
  assertEquals(
    having.map((names) => [
      names.includes("claim") || names.includes("idempotency_claim"),
      names.filter((name) => name === "listed").length,
    ]),
    [[true, 1], [true, 1]],
  );
  const bound = await clientToken(env, env.tpp);
  const send = (): Promise<unknown> =>
    good<CreatedConsent>(
      call(env, env.tpp, bound, CONSENTS, { body: JSON.stringify(consentBody()), idempotencyKey: "same" }),
      201,
    );
  await send();
  const before = await idsOf(env, "Consent");
  await send();
  assertEquals(await idsOf(env, "Consent"), before);
});
