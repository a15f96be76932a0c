/** The consents of a client that may await authorisation (contract RL5), and what is kept of those whose customer never came. */
import { assert, assertEquals } from "@std/assert";
import { bodyOf } from "testing/answers.ts";
import { authorised, toBank } from "testing/authorization_flow.ts";
import { type Environment, openEnvironment, START } from "testing/environment.ts";
import {
  type BoundToken,
  call,
  type CallOptions,
  clientToken,
  consentBody,
  createConsent,
} from "testing/flows.ts";
import { dpopProof } from "testing/jwts.ts";
import { openTestStore } from "testing/test_store.ts";
import { anotherProcess, at } from "support/processes.ts";
import { DAY_MS, elapse } from "support/retention.ts";
import type { Store } from "../../../../src/base/store/store.ts";

const PATH = "/BANKA/domestic-payment-consents/v1";

async function create(
  env: Environment,
  options: CallOptions = {},
  bound?: BoundToken,
  by = env.tpp,
): Promise<Response> {
  const body = JSON.stringify(consentBody());
  return await call(env, by, bound ?? await clientToken(env, by), PATH, { body, ...options });
}

async function statusesOf(env: Environment, count: number): Promise<number[]> {
  const statuses: number[] = [];
  for (let index = 0; index < count; index++) {
    const answer = await create(env);
    statuses.push(answer.status);
    await answer.body?.cancel();
  }
  return statuses;
}

Deno.test("one consent more than PLATFORM_MAX_OPEN_CONSENTS that awaits authorisation is 429 with the number, and changes nothing [RL5, RL3]", async () => {
  await using env = await openEnvironment({ environment: { PLATFORM_MAX_OPEN_CONSENTS: "3" } });
  const first = crypto.randomUUID();
  await (await create(env, { idempotencyKey: first })).body?.cancel();
  assertEquals(await statusesOf(env, 2), [201, 201]);
  const bound = await clientToken(env, env.tpp);
  const before = await env.snapshot();
  const key = crypto.randomUUID();
  const answer = await create(env, { idempotencyKey: key }, bound);
  const { headers, status } = answer;
  assertEquals([status, headers.get("retry-after"), headers.get("ratelimit-policy")], [
    429,
    "60",
    '"open_consents";q=3',
  ]);
  assertEquals(await answer.text(), "");
  assertEquals(await env.snapshot(), before);
  const again = await create(env, { idempotencyKey: first });
  assertEquals(again.status, 201, "a retry of one that exists");
  await again.body?.cancel();
  const other = await create(env, {}, undefined, env.otherTpp);
  assertEquals(other.status, 201, "another client");
  await other.body?.cancel();
  env.now += DAY_MS; // the time to authorise
  await env.platform.sweepConsents();
  const later = await create(env, { idempotencyKey: key });
  assertEquals(later.status, 201, "the key was not used");
  await later.body?.cancel();
});

Deno.test("a consent that is authorised or rejected counts no more, and the limit holds for all processes together [RL5, RL4]", async () => {
  await using env = await openEnvironment({ environment: { PLATFORM_MAX_OPEN_CONSENTS: "2" } });
  const other = at(env, await anotherProcess(env));
  for (let round = 0; round < 4; round++) await authorised(round % 2 === 0 ? env : other);
  const statuses = [];
  for (let round = 0; round < 4; round++) {
    statuses.push(...await statusesOf(round % 2 === 0 ? env : other, 1));
  }
  assertEquals(statuses.toSorted(), [201, 201, 429, 429]);
});

Deno.test("of parallel consents no more than the limit are created, and those that fail otherwise are not counted [RL5]", async () => {
  await using env = await openEnvironment({ environment: { PLATFORM_MAX_OPEN_CONSENTS: "5" } });
  const bound = await clientToken(env, env.tpp);
  for (let index = 0; index < 6; index++) {
    const wrong = await create(env, { body: "{}" }, bound);
    assertEquals(wrong.status, 400);
    await wrong.body?.cancel();
  }
  const key = crypto.randomUUID();
  const same = await Promise.all(
    Array.from({ length: 8 }, () => create(env, { idempotencyKey: key }, bound)),
  );
  assertEquals(same.some(({ status }) => status === 201), true);
  await Promise.all(same.map((answer) => answer.body?.cancel()));
  const all = await Promise.all(Array.from({ length: 10 }, () => create(env, {}, bound)));
  assertEquals(all.filter(({ status }) => status === 201).length, 4);
  await Promise.all(all.map((answer) => answer.body?.cancel()));
});

Deno.test("a consent is created when it is committed, however long its count has waited, so that no cursor is behind it [LS3, RL5]", async () => {
  const store = await openTestStore();
  let isSlow = false;
  const waiting: Store = {
    ...store,
    async commit(staged) {
      if (isSlow && staged.writes.some(({ key }) => key[1] === "open_consents")) env.now += 60_000;
      return await store.commit(staged);
    },
  };
  const environment = { PLATFORM_MAX_OPEN_CONSENTS: "2" }; // each one draws
  await using env = await openEnvironment({ store: waiting, environment });
  const bound = await clientToken(env, env.tpp);
  isSlow = true;
  const { Data } = await createConsent(env, bound);
  assertEquals(Date.parse(Data.CreationDateTime), START + 60_000);
});

Deno.test("what a process has drawn for further consents counts no more when it has stopped [RL5]", async () => {
  await using env = await openEnvironment({ environment: { PLATFORM_MAX_OPEN_CONSENTS: "64" } });
  for (let left = 63; left >= 61; left--) {
    assertEquals(await statusesOf(env, 1), [201]);
    await env.restart();
    const bucket = await env.store.get<{ tokens: number }>([
      "rate_bucket",
      "open_consents",
      env.tpp.clientId,
    ]);
    assertEquals(bucket?.value.tokens, left);
  }
});

Deno.test("a consent that the limit rejects takes no data key [RL5, J38]", async () => {
  await using env = await openEnvironment({ environment: { PLATFORM_MAX_OPEN_CONSENTS: "2" } });
  assertEquals(await statusesOf(env, 2), [201, 201]);
  const all = await lastOfBlock(env);
  await env.caseKeys.newConsentId(); // the next one makes a block
  assertEquals(await statusesOf(env, 1), [429]);
  assertEquals(await countKeys(env), all);
});

async function countKeys({ vault }: Environment): Promise<number> {
  return (await vault.list({ prefix: ["data_key"], limit: 1000 })).length;
}

/** Takes ids of consents until a block of them has one left, and returns the number of data keys. */
async function lastOfBlock(env: Environment): Promise<number> {
  const before = await countKeys(env);
  while (await countKeys(env) === before) await env.caseKeys.newConsentId();
  const all = await countKeys(env);
  for (let taken = 2; taken < all - before; taken++) await env.caseKeys.newConsentId();
  return all;
}

Deno.test("consents that are rejected for a used proof take one data key together, whatever their idempotency keys [J38, DP-N14]", async () => {
  await using env = await openEnvironment({ environment: { PLATFORM_MAX_OPEN_CONSENTS: "64" } });
  const bound = await clientToken(env, env.tpp);
  const url = `${env.config.baseUrl}${PATH}`;
  const proof = await dpopProof(env, bound.key, { method: "POST", url, accessToken: bound.token });
  const statuses = async (): Promise<number> => {
    const answer = await create(env, { proof }, bound);
    await answer.body?.cancel();
    return answer.status;
  };
  assertEquals(await statuses(), 201);
  const all = await lastOfBlock(env);
  assertEquals([await statuses(), await statuses(), await statuses()], [401, 401, 401]);
  assertEquals([await countKeys(env), await statusesOf(env, 1)], [all, [201]]);
});

Deno.test("operators see which client has many open consents", async () => {
  await using env = await openEnvironment({ environment: { PLATFORM_MAX_OPEN_CONSENTS: "4" } });
  const ratio = async (): Promise<string | undefined> => {
    const text = await (await env.asOperator("/operations/metrics")).text();
    return new RegExp(`platform_open_consents_ratio\\{client="${env.tpp.clientId}"\\} (\\S+)`).exec(text)
      ?.[1];
  };
  await statusesOf(env, 1);
  assertEquals(await ratio(), undefined);
  await statusesOf(env, 3);
  assertEquals(await ratio(), "1");
  env.now += 600_000;
  assertEquals(await ratio(), undefined, "what was seen ten minutes ago");
});

Deno.test("the evidence of a consent whose customer never came is deleted a day after its end, of another one later [EN10]", async () => {
  await using env = await openEnvironment();
  const unopened = (await bodyOf(create(env))) as { readonly Data: { readonly ConsentId: string } };
  const opened = await toBank(env);
  env.now += DAY_MS; // the time to authorise
  await env.platform.sweepConsents();
  const evidenceOf = async (id: string): Promise<number> => {
    const rows = await Promise.all(
      ["evidence", "audit"].map((name) => env.raw.list<object>({ prefix: [name], limit: 999 })),
    );
    return rows.flat().filter(({ key, value }) => key[1]?.includes(id) && "sealedMembers" in value).length;
  };
  await elapse(env, DAY_MS - 1000);
  assertEquals(await env.platform.eraseConsents(), 0);
  assert(await evidenceOf(unopened.Data.ConsentId) > 0);
  await elapse(env, 120_000);
  assertEquals(await env.platform.eraseConsents(), 1);
  assertEquals(await evidenceOf(unopened.Data.ConsentId), 0);
  assert(await evidenceOf(opened.consentId) > 0);
  await elapse(env, 29 * DAY_MS);
  assertEquals(await env.platform.eraseConsents(), 1);
  assertEquals(await evidenceOf(opened.consentId), 0);
});
