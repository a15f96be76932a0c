/**
 * The case file of a consent and its payment: complete, in order, and bound to its history entries by digests. The
 * order of a history, which several processes write, and its length [M2].
 */
import { assert, assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import canonicalize from "canonicalize";
import { historyOf } from "../../../src/platform/evidence/audit_trail.ts";
import { type AuditEntry, canonicalEntry, leafHash } from "../../../src/platform/evidence/evidence.ts";
import { type CaseFile, type CaseItem, readCase } from "../../../src/platform/evidence/read_case.ts";
import { auditKey } from "../../../src/platform/config/store_keys.ts";
import { asConsentId, type ConsentId } from "../../../src/base/kernel/identifiers.ts";
import { type CreatedConsent, firstOf } from "testing/answers.ts";
import { authorised } from "testing/authorization_flow.ts";
import { bankCall, orderPath } from "testing/back_channel.ts";
import { call, clientToken, consentBody, good, pay } from "testing/flows.ts";
import { CONSENTS } from "support/resource_calls.ts";
import { type Environment, throughProxy } from "testing/environment.ts";
import { readableBody } from "support/readable_body.ts";
import { test } from "support/environment_test.ts";
import { openDenoKv } from "../../../src/base/store/deno_kv.ts";
import type { Store } from "../../../src/base/store/store.ts";
import { anotherProcess } from "support/processes.ts";
import { down, history, later, openPushEnvironment, paid } from "support/orders.ts";

function consentIdOf(text: string): ConsentId {
  const id = asConsentId(text);
  if (id === undefined) throw new Error("no consent id");
  return id;
}

/** A settled payment's case file. */
async function settledCase(env: Environment): Promise<CaseFile> {
  const flow = await authorised(env);
  const made = await good(pay(env, flow), 201);
  const body = JSON.stringify({
    Data: { Status: "AcceptedSettlementCompleted", StatusUpdateDateTime: "2040-01-15T12:00:00Z" },
  });
  const path = orderPath(made.Data.DomesticPaymentId);
  await good(bankCall(env, env.bankA, path, { method: "PUT", body }), 200);
  return await caseOf(env, flow.consentId);
}

async function caseOf(env: Environment, consentId: string): Promise<CaseFile> {
  const file = await readCase(env.store, consentIdOf(consentId));
  if (file === null) throw new Error("no case file");
  return file;
}

function itemsOf(file: CaseFile): readonly CaseItem[] {
  return file.entries.flatMap(({ items }) => items);
}

async function hash(...parts: readonly Uint8Array[]): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(await new Blob(parts.map((part) => part.slice())).arrayBuffer());
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

/** The digest of a piece of evidence by the words of docs/contract/evidence.md, with WebCrypto. */
async function specifiedDigest(item: CaseItem): Promise<string> {
  const body = readableBody(item.body);
  if (body === undefined) throw new Error("no body");
  const salt = Uint8Array.fromBase64(body.salt ?? "", { alphabet: "base64url" });
  const signature = new TextEncoder().encode(body.signature ?? "");
  const digest = await hash(salt, await hash(body.bytes), await hash(signature));
  return digest.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** The events of a consent that became a payment. */
const CONSENT = [
  "consent.AwaitingAuthorisation",
  "consent.authorization_requested",
  "consent.customer_sent_to_bank",
  "consent.AwaitingAuthorisation", // the bank's accounts
  "consent.customer_authenticated",
  "consent.Authorized",
  "consent.token_issued",
  "consent.Consumed",
];

test("the case file of a payment has every entry of both histories in order, without a gap in their numbers [EN1] [EN2]", async ({ env, t }) => {
  const file = await settledCase(env);
  const of = (subject: string): readonly (number | undefined)[] =>
    file.entries.filter((entry) => entry.subject === subject).map(({ entry }) => entry.sequence);
  await t.step("consent 1 to 8, payment 1 to 2", () => {
    assertEquals(of(file.consentId), [1, 2, 3, 4, 5, 6, 7, 8]);
    assertEquals(of(file.paymentId), [1, 2]);
    assertEquals(file.entries.map(({ entry }) => entry.event), [
      ...CONSENT,
      "payment.AcceptedSettlementInProcess",
      "payment.AcceptedSettlementCompleted",
    ]);
  });
  await t.step("it is what the histories have", async () => {
    const histories = [
      await historyOf(env.store, file.consentId),
      await historyOf(env.store, file.paymentId),
    ];
    assertEquals(file.entries.map(({ entry }) => entry), histories.flat());
  });
});

test("every piece of evidence has the digest that its entry names, under a salt of its own [EN4]", async ({ env, t }) => {
  const items = itemsOf(await settledCase(env)).filter(({ body }) => body !== null);
  assert(items.length >= 7);
  for (const each of items) {
    await t.step(each.item.kind, async () => assertEquals(await specifiedDigest(each), each.item.sha256));
  }
  assertEquals(new Set(items.map(({ body }) => readableBody(body)?.salt)).size, items.length);
});

test("an entry names the interaction id of its request, and its leaf is the hash of all its stored members [EN3] [EN5]", async ({ env, t }) => {
  const interactionId = "93bac548-d2de-4546-b106-880a5018460d";
  const made = await good<CreatedConsent>(
    call(env, env.tpp, await clientToken(env, env.tpp), CONSENTS, {
      body: JSON.stringify(consentBody()),
      headers: { "x-fapi-interaction-id": interactionId },
    }),
    201,
  );
  const [created] = (await caseOf(env, made.Data.ConsentId)).entries;
  if (created === undefined) throw new Error("no entry");
  assertEquals(created.entry.interactionId, interactionId);
  const stored = await env.store.list<Record<string, unknown>>({
    prefix: ["audit", created.subject],
    limit: 1,
  });
  const { v: _, sealedMembers: __, ...entry } = firstOf(stored).value;
  await t.step("canonical form", () =>
    assertEquals(
      canonicalEntry(created.subject, created.entry),
      canonicalize({ ...entry, subject: created.subject }),
    ));
  await t.step("leaf", async () => {
    const text = new TextEncoder().encode(canonicalize({ ...entry, subject: created.subject }));
    assertEquals(leafHash(created.subject, created.entry), await hash(new Uint8Array([0]), text));
  });
  await t.step("another salt is another leaf", () =>
    assertNotEquals(
      leafHash(created.subject, created.entry),
      leafHash(created.subject, { ...created.entry, salt: "AAAAAAAAAAAAAAAAAAAAAA" }),
    ));
});

test("an unknown case has no file, and one that is too large is not read", async ({ env, t }) => {
  const consentId = "b6c61736-536a-4947-9c99-d4292ec8bced";
  await t.step(
    "unknown consent",
    async () => assertEquals(await readCase(env.store, consentIdOf(consentId)), null),
  );
  const entry = { at: 1, event: "consent.AwaitingAuthorisation", actor: "a", salt: "AAAAAAAAAAAAAAAAAAAAAA" };
  const write = (at: number, value: unknown) =>
    ({ kind: "set", key: auditKey(consentId, at), value }) as const;
  await t.step("too large", async () => {
    const items = Array.from({ length: 1001 }, (_, n) => ({ kind: `k${n}`, sha256: "x" }));
    const parts = [items.slice(0, 500), items.slice(500)];
    const writes = parts.map((some, n) => write(n + 2, { ...entry, sequence: n + 1, items: some }));
    await env.store.commit({ checks: [], writes });
    await assertRejects(() => caseOf(env, consentId), Error, "more than");
  });
});

/** The environment as a client sees it whose requests reach this process. */
function at(env: Environment, api: Environment["platform"]["api"]): Environment {
  return Object.assign(Object.create(env), {
    api: (request: Request, as?: Parameters<Environment["api"]>[1]) => api.fetch(throughProxy(request, as)),
  });
}

test("the history of a consent is in the order of its changes, although the process of the last one has a clock 20 s behind [M2]", async ({ env }) => {
  const behind = await anotherProcess(env, () => -20_000);
  env.now += 60_000;
  const flow = await authorised(env);
  await good(pay(at(env, behind.api), flow), 201);
  const entries = await historyOf(env.store, flow.consentId);
  assertEquals(entries.map(({ event }) => event), CONSENT);
  assertEquals(entries.at(-1)?.at, env.now - 20_000); // the time that the process knew is kept
  await behind.stop();
});

Deno.test("the history of a payment is in the order of its changes, although the clock is put back between them [M2]", async () => {
  await using env = await openPushEnvironment(down);
  const { DomesticPaymentId: id } = await paid(env);
  env.clockStep = -3_600_000;
  await env.restart();
  env.answer = () => Response.json({ error: "no" }, { status: 400 });
  await later(env, 1_000_000); // the clock is 2,600 s before the payment
  assertEquals(await history(env, id), [
    `payment.Pending by ${env.tpp.clientId}`,
    "payment_order.outcome_unknown by platform",
    "payment_order.dead by platform",
  ]);
});

async function fill(store: Store, count: number): Promise<void> {
  for (let from = 0; from < count; from += 900) {
    const writes = Array.from({ length: Math.min(900, count - from) }, (_, index) => ({
      kind: "set" as const,
      key: auditKey("x", from + index),
      value: {
        at: 0,
        event: `e.${from + index}`,
        actor: "a",
        salt: "AAAAAAAAAAAAAAAAAAAAAA",
        sequence: from + index + 1,
        v: 1,
      } satisfies AuditEntry & { v: number },
    }));
    await store.commit({ checks: [], writes });
  }
}

Deno.test("historyOf reads a history of 1,234 entries in full, and rejects one that is longer than it reads [M2]", async () => {
  const store = await openDenoKv(":memory:");
  await fill(store, 1234);
  const read = await historyOf(store, "x");
  assertEquals(read.map(({ event }) => event), Array.from({ length: 1234 }, (_, index) => `e.${index}`));
  await fill(store, 10_000);
  assertEquals((await historyOf(store, "x")).length, 10_000);
  await fill(store, 10_001);
  await assertRejects(() => historyOf(store, "x"), Error, "more than");
  store.close();
});

test("entries of one history at one instant are recorded one millisecond after the other, from the first's own time on [M2]", async ({ env }) => {
  const flow = await authorised(env);
  await good(pay(env, flow), 201);
  const keys = (await env.store.list({ prefix: ["audit", flow.consentId], limit: 20 })).map(({ key }) =>
    Number(key[2])
  );
  assertEquals(keys, keys.map((_, after) => env.now + after));
  assertEquals(keys.length, 8);
});
