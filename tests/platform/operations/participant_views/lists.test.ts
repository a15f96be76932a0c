/** Lists of an organisation's people: their order, days and pages, and cursors of other organisations. */
import { assert, assertEquals } from "@std/assert";
import { consoleOf } from "testing/console_browser.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { good, pay } from "testing/flows.ts";
import { OPERATIONS_URL } from "testing/operators.ts";
import { personOf, testPeople } from "testing/participants_people.ts";
import { steps } from "support/steps.ts";
import { authorised } from "testing/authorization_flow.ts";
import { stageListed } from "../../../../src/platform/guards/lists/lookup_store.ts";
import { listedKey } from "../../../../src/platform/config/store_keys.ts";

type Kind = "consents" | "payments";

function read(
  env: Environment,
  orgId: string,
  kind: Kind,
  query: Record<string, string> = {},
): Promise<Response> {
  const path = `/operations/own/${kind}?${new URLSearchParams(query)}`;
  const request = new Request(`${OPERATIONS_URL}${path}`, { headers: personOf(orgId) });
  return Promise.resolve(env.platform.operations.fetch(request));
}

type Listed = { readonly ConsentId: string; readonly DomesticPaymentId?: string };
type OwnPage = {
  readonly Data: { readonly Consent?: Listed[]; readonly Payment?: Listed[]; readonly After?: string };
};

async function page(...args: Parameters<typeof read>): Promise<{ ids: readonly string[]; after?: string }> {
  const { Data } = await good<OwnPage>(read(...args), 200);
  const [list, id] = args[2] === "consents"
    ? ["Consent", "ConsentId"] as const
    : ["Payment", "DomesticPaymentId"] as const;
  return {
    ids: (Data[list] ?? []).map((one) => one[id] ?? ""),
    ...(Data.After === undefined ? {} : { after: Data.After }),
  };
}

async function all(env: Environment, orgId: string, kind: Kind): Promise<readonly (readonly string[])[]> {
  const pages: (readonly string[])[] = [];
  let after: string | undefined;
  do {
    const next = await page(env, orgId, kind, after === undefined ? {} : { after });
    pages.push(next.ids);
    after = next.after;
  } while (after !== undefined && pages.length < 20);
  return pages;
}

/** Copies a payment and its consent so often, a second apart from `from` on, to a TPP and a bank. */
async function copies(
  env: Environment,
  seed: { readonly consentId: string; readonly paymentId: string },
  of: {
    readonly clientId: string;
    readonly bank: string;
    readonly from: number;
    readonly number: number;
  },
): Promise<Readonly<Record<Kind, readonly string[]>>> {
  const made = { consents: [] as string[], payments: [] as string[] };
  const { clientId, bank } = of;
  for (
    const [kind, record, id] of [["consents", "consent", seed.consentId], [
      "payments",
      "payment",
      seed.paymentId,
    ]] as const
  ) {
    const value = (await env.store.get<object>([record, id]))?.value;
    const tx = { writes: [] as { kind: "set"; key: string[]; value: unknown }[] };
    for (let index = 0; index < of.number; index++) {
      const one = { id: crypto.randomUUID(), clientId, bank, createdAt: of.from + index * 1000 };
      made[kind].push(one.id);
      stageListed(tx as never, record, one as never, "1.00 EUR");
      tx.writes.push({ kind: "set", key: [record, one.id], value: { ...value, ...one } });
      if (kind === "payments") {
        const place = `${String(one.createdAt).padStart(15, "0")}-${one.id}`;
        tx.writes.push({ kind: "set", key: ["payment_order", bank, place], value: one.id });
      }
    }
    await env.store.commit({ checks: [], writes: tx.writes });
  }
  return made;
}

async function seeded(env: Environment): Promise<{ consentId: string; paymentId: string }> {
  const flow = await authorised(env);
  const { DomesticPaymentId: paymentId } = (await good(pay(env, flow), 201)).Data;
  return { consentId: flow.consentId, paymentId };
}

const MINUTE_MS = 60_000;
const A = "BANKA";
const B = "BANKB";

Deno.test("people page through what their software has made at every bank, and what is at their bank [OWN5]", async (t) => {
  await using env = await openEnvironment({ operators: await testPeople() });
  const seed = await seeded(env);
  const from = env.now + MINUTE_MS;
  const { clientId } = env.tpp;
  const ownA = await copies(env, seed, { clientId, bank: A, from, number: 60 });
  const otherA = await copies(env, seed, {
    clientId: env.otherTpp.clientId,
    bank: A,
    from: from + 500,
    number: 60,
  });
  const ownB = await copies(env, seed, { clientId, bank: B, from: from - 1000, number: 3 });
  env.now += 60 * MINUTE_MS;
  const first = { consents: seed.consentId, payments: seed.paymentId };
  for (const kind of ["consents", "payments"] as const) {
    await t.step(`a TPP's ${kind}, in the order of banks and times`, async () => {
      const pages = await all(env, env.tpp.orgId, kind);
      assertEquals(pages.flat(), [first[kind], ...ownA[kind], ...ownB[kind]]);
      assertEquals(pages.map(({ length }) => length), [50, 14]);
      assertEquals((await all(env, env.otherTpp.orgId, kind)).flat(), otherA[kind]);
    });
    await t.step(`the other bank's ${kind}`, async () => {
      assertEquals((await all(env, "BANKB", kind)).flat(), ownB[kind]);
    });
  }
  await t.step("a bank's payments, oldest first", async () => {
    const inTurn = ownA.payments.flatMap((one, index) => [one, otherA.payments[index]]);
    assertEquals((await all(env, "BANKA", "payments")).flat(), [seed.paymentId, ...inTurn]);
  });
  await t.step("a bank's consents, in the order of TPPs and times", async () => {
    const lists = [[env.tpp.clientId, [seed.consentId, ...ownA.consents]], [
      env.otherTpp.clientId,
      otherA.consents,
    ]] as const;
    const expected = lists.toSorted(([one], [other]) => one < other ? -1 : 1).flatMap(([, ids]) => ids);
    assertEquals((await all(env, "BANKA", "consents")).flat(), expected);
  });
});

Deno.test("people choose days of creation, by default the last seven [OWN5]", async () => {
  await using env = await openEnvironment({ operators: await testPeople() }); // 2040-01-15
  const seed = await seeded(env);
  const kinds = ["consents", "payments"] as const;
  for (const orgId of [env.tpp.orgId, "BANKA"]) {
    for (const kind of kinds) {
      const id = kind === "consents" ? seed.consentId : seed.paymentId;
      const ids = async (query: Record<string, string> = {}): Promise<unknown> =>
        (await page(env, orgId, kind, query)).ids;
      assertEquals(await ids({ from: "2040-01-15", until: "2040-01-15" }), [id]);
      assertEquals(await ids({ from: "2040-01-16", until: "2040-01-17" }), []);
      assertEquals(await ids({ until: "2040-01-14" }), []);
      assertEquals(await ids({ until: "2040-01-21" }), [id]);
      assertEquals(await ids({ until: "2040-01-22" }), []);
      const { now } = env;
      env.now += 7 * 86_400_000;
      assertEquals(await ids(), []);
      env.now = now;
    }
  }
});

Deno.test("an unusable day or cursor is rejected [OWN5]", async (t) => {
  await using env = await openEnvironment({ operators: await testPeople() });
  const queries: Record<string, Record<string, string>> = {
    "no day": { from: "yesterday" },
    "a time": { until: "2040-01-15T00:00:00Z" },
    "an end before the start": { from: "2040-01-16", until: "2040-01-15" },
    "a cursor with a slash": { after: "BANKA/x" },
    "an empty cursor": { after: "" },
    "a long cursor": { after: "x".repeat(65) },
  };
  await steps(t, queries, async (query) => {
    for (const kind of ["consents", "payments"] as const) {
      const answer = await read(env, env.tpp.orgId, kind, query);
      await answer.body?.cancel();
      assertEquals(answer.status, 400);
    }
  });
});

Deno.test("with the cursor of another organisation people read what is their own alone [OWN2, OWN5]", async () => {
  await using env = await openEnvironment({ operators: await testPeople() });
  const seed = await seeded(env);
  const own = await copies(env, seed, { clientId: env.otherTpp.clientId, bank: A, from: env.now, number: 2 });
  env.now += MINUTE_MS;
  const cursors = [
    `BANKA.${env.tpp.clientId}.${String(env.now - MINUTE_MS).padStart(15, "0")}-${seed.consentId}`,
    `BANKA.${env.tpp.clientId}`,
    "BANKA",
    "BANKA.~",
    "BANKB.~.~",
    "ZZZ",
    "002210241600000-00000000-0000-4000-8000-000000000000",
  ];
  for (const after of cursors) {
    for (const kind of ["consents", "payments"] as const) {
      const ofOther = (await page(env, env.otherTpp.orgId, kind, { after })).ids;
      assert(ofOther.every((id) => own[kind].includes(id)), after);
      assertEquals((await page(env, "BANKB", kind, { after })).ids, [], after);
    }
  }
});

Deno.test("a page reads a bounded number of entries, and jumps over those of others [OWN5]", async () => {
  await using env = await openEnvironment({ operators: await testPeople() });
  const seed = await seeded(env);
  const tx = { writes: [] as { kind: "set"; key: string[]; value: unknown }[] };
  for (let bank = 0; bank < 300; bank++) {
    for (let index = 0; index < 3; index++) {
      const clientId = `SC-${String(index).padStart(8, "0")}-0000-4000-8000-000000000000`;
      const one = {
        id: crypto.randomUUID(),
        clientId,
        bank: `A${String(bank).padStart(3, "0")}`,
        createdAt: env.now,
      };
      stageListed(tx as never, "payment", one as never);
    }
  }
  for (let from = 0; from < tx.writes.length; from += 300) {
    await env.store.commit({ checks: [], writes: tx.writes.slice(from, from + 300) });
  }
  const { list } = env.store;
  let lists = 0;
  env.store.list = (listing) => {
    lists += listing.prefix[0] === listedKey("payment")[0] ? 1 : 0;
    return list(listing);
  };
  const pages = await all(env, env.tpp.orgId, "payments");
  env.store.list = list;
  assertEquals(pages.flat(), [seed.paymentId]);
  assert(pages.length > 1 && lists <= 250 * pages.length, `${pages.length} pages, ${lists} reads`);
});

Deno.test("the page of an organisation shows its lists, their days and their next pages [OWN5]", async () => {
  await using env = await openEnvironment({ operators: await testPeople() });
  const seed = await seeded(env);
  const made = await copies(env, seed, {
    clientId: env.tpp.clientId,
    bank: A,
    from: env.now + 1000,
    number: 60,
  });
  env.now += 60 * MINUTE_MS;
  const browser = consoleOf(env);
  const token = personOf(env.tpp.orgId).authorization.replace("Bearer ", "");
  await browser.submit("/console/sign-in", { token, next: "/console" });
  const { html } = await browser.get("/console/own?from=2040-01-15&until=2040-01-15");
  const last = { consents: made.consents.at(-1) ?? "", payments: made.payments.at(-1) ?? "" };
  assert(html.includes(seed.consentId) && html.includes(seed.paymentId));
  for (const words of ["165.88", "<bdi>Bank A plc</bdi>"]) assert(html.includes(words), words);
  for (const kind of ["consents", "payments"] as const) {
    assert(!html.includes(last[kind]), kind);
    const link = [...html.matchAll(/href="([^"]*)"/g)].map(([, href = ""]) => href.replaceAll("&amp;", "&"))
      .find((href) => href.includes(`${kind}=BANKA`));
    const next = await browser.get(link ?? "");
    assert(next.html.includes(last[kind]) && link?.includes("from=2040-01-15"), kind);
  }
  env.now += 24 * 60 * MINUTE_MS;
  await browser.submit("/console/sign-in", { token, next: "/console" });
  const today = await browser.get("/console/own");
  assert(!today.html.includes(seed.paymentId) && today.html.includes('value="2040-01-16"'), "of today");
});
