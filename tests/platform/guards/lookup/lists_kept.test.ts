/** Entries of lists end with the personal data of their case, and are added for what an earlier version has created. */
import { assertEquals } from "@std/assert";
import type { CreatedConsent } from "testing/answers.ts";
import { decide, putAccounts, returnPath, toBank } from "testing/authorization_flow.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { call, clientToken, consentBody, good } from "testing/flows.ts";
import { openListedStore } from "support/listed_store.ts";
import { CONSENTS } from "support/resource_calls.ts";
import { DAY_MS, elapse, openRetaining, pass, settled, work } from "support/retention.ts";
import { idsOf, list } from "./lists.ts";

async function listedKeys(env: Environment): Promise<readonly string[]> {
  return (await env.raw.list({ prefix: ["listed"], limit: 1000 })).map(({ key }) => key.join("/"));
}

/** Lets the background work search to the end. */
async function fill(env: Environment): Promise<void> {
  while (await env.platform.fillLists() > 0);
}

async function consent(env: Environment): Promise<string> {
  const token = await clientToken(env, env.tpp);
  const answer = await good<CreatedConsent>(
    call(env, env.tpp, token, CONSENTS, { body: JSON.stringify(consentBody()) }),
    201,
  );
  return answer.Data.ConsentId;
}

/** Removes every entry, as if a version without lists had written the store. */
async function asFormerVersion(env: Environment): Promise<readonly string[]> {
  const entries = await env.raw.list({ prefix: ["listed"], limit: 1000 });
  const writes = entries.map(({ key }) => ({ kind: "delete" as const, key }));
  await env.raw.commit({ checks: [], writes });
  return entries.map(({ key }) => key.join("/"));
}

Deno.test("a consent that was never authorised is listed until its personal data is deleted [LS1]", async () => {
  await using env = await openEnvironment();
  const flow = await toBank(env);
  await good(putAccounts(env, flow.bank, flow.consentId), 200);
  const shown = await flow.browser.open(await returnPath(env, flow.bank, flow.handover));
  await decide(flow.browser, shown.headers.get("location") ?? "", "refuse");
  assertEquals(await idsOf(env, "Consent", { status: "Rejected" }), [flow.consentId]);
  await elapse(env, 31 * DAY_MS);
  assertEquals(await env.platform.forgetConsents(), 1);
  assertEquals([await idsOf(env, "Consent"), await listedKeys(env)], [[], []]);
});

Deno.test("a paid consent and its payment are listed until their case is erased by the clock [LS1]", async () => {
  await using env = await openRetaining();
  const { consentId, paymentId } = await settled(env);
  await pass(env, 199);
  await work(env);
  assertEquals([await idsOf(env, "Consent"), await idsOf(env, "Payment")], [[consentId], [paymentId]]);
  await elapse(env, 2 * DAY_MS);
  assertEquals(await work(env), 1);
  assertEquals([await idsOf(env, "Consent"), await idsOf(env, "Payment"), await listedKeys(env)], [
    [],
    [],
    [],
  ]);
});

Deno.test("what a version without lists has created is added, and the answer says so meanwhile [LS4]", async () => {
  await using env = await openEnvironment();
  const { consentId, paymentId } = await settled(env);
  const others = [await consent(env), await consent(env)];
  const complete = await listedKeys(env);
  await asFormerVersion(env);
  const read = async (): Promise<unknown> => {
    const { Payment, IsComplete } = await list(env, "Payment");
    return [(await idsOf(env, "Consent")).length, Payment?.length, IsComplete];
  };
  assertEquals(await read(), [0, 0, false]);
  await fill(env);
  assertEquals(await listedKeys(env), complete);
  assertEquals(await read(), [3, 1, false], "the former version may still run");
  assertEquals(new Set(await idsOf(env, "Consent")), new Set([consentId, ...others]));
  assertEquals(await idsOf(env, "Payment"), [paymentId]);
  env.now += DAY_MS - 1;
  await fill(env);
  assertEquals(await read(), [3, 1, false]);
  env.now += 1;
  await fill(env);
  assertEquals(await read(), [3, 1, true]);
});

Deno.test("a search over many consents goes on where it was, in any process [LS4, L1]", async () => {
  await using env = await openEnvironment();
  const seed = await consent(env);
  const value = (await env.store.get<Record<string, unknown>>(["consent", seed]))?.value;
  const writes = Array.from({ length: 249 }, () => crypto.randomUUID()).map((id) => ({
    kind: "set" as const,
    key: ["consent", id],
    value: { ...value, id },
  }));
  await env.raw.commit({ checks: [], writes });
  assertEquals(await env.platform.fillLists(), 100);
  await env.restart();
  assertEquals(await env.platform.fillLists(), 100);
  assertEquals(await env.platform.fillLists(), 50);
  assertEquals(await env.platform.fillLists(), 0);
  assertEquals((await listedKeys(env)).length, 250);
});

Deno.test("a search that finds nothing missing is the last one, until a process starts a day later or more [LS4]", async () => {
  await using env = await openEnvironment();
  await consent(env);
  await fill(env);
  assertEquals((await list(env, "Consent")).IsComplete, true);
  env.now += 2 * DAY_MS;
  assertEquals(await env.platform.fillLists(), 0);
  await env.restart(); // its ids are later
  const before = await listedKeys(env);
  await consent(env);
  const [added = ""] = (await listedKeys(env)).filter((key) => !before.includes(key));
  await env.raw.commit({ checks: [], writes: [{ kind: "delete", key: added.split("/") }] }); // after a way back to it
  await env.restart();
  assertEquals((await list(env, "Consent")).IsComplete, true, "not known yet");
  await fill(env);
  const { Consent: found, IsComplete } = await list(env, "Consent");
  assertEquals([found?.length, IsComplete], [2, false]);
});

Deno.test("after a start the search reads only consents that are newer than those of the last one [LS4]", async () => {
  const store = await openListedStore();
  await using env = await openEnvironment({ store });
  for (let made = 0; made < 3; made++) await consent(env);
  assertEquals((await store.listedBy(() => fill(env))).rows, 3);
  for (const created of [0, 2]) {
    for (let made = 0; made < created; made++) await consent(env);
    env.now += 2 * DAY_MS;
    await env.restart();
    assertEquals((await store.listedBy(() => fill(env))).rows, created);
    assertEquals((await list(env, "Consent")).IsComplete, true);
  }
});

Deno.test("an entry whose case a version without lists has erased is removed, and not shown before [LS4]", async () => {
  await using env = await openRetaining();
  await settled(env);
  const former = await listedKeys(env);
  await pass(env, 201);
  await work(env);
  const writes = former.map((key) => ({ kind: "set" as const, key: key.split("/"), value: { v: 1 } }));
  await env.raw.commit({ checks: [], writes });
  assertEquals([await idsOf(env, "Consent"), await idsOf(env, "Payment")], [[], []]);
  await fill(env);
  assertEquals(await listedKeys(env), []);
});

Deno.test("a consent that is erased while it is added stays out [LS4]", async () => {
  await using env = await openRetaining();
  await settled(env);
  await asFormerVersion(env);
  await pass(env, 201);
  const { commit } = env.store;
  env.store.commit = async (staged) => {
    if (staged.writes.some(({ key }) => key[0] === "listed")) {
      env.store.commit = commit;
      await work(env);
    }
    return await commit(staged);
  };
  await fill(env);
  assertEquals(await listedKeys(env), []);
});
