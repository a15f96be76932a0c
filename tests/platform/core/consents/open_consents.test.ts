/** The consents of a client that may await authorisation (contract RL5), and what is kept of those whose customer never came. */
import { assert, assertEquals } from "@std/assert";
import { bodyOf, present } from "testing/answers.ts";
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
import { openRequestReads } from "../../../../src/base/store/request_reads.ts";
import { ApiError } from "../../../../src/base/kernel/api_error.ts";
import { asBankCode, asClientId, newConsentId } from "../../../../src/base/kernel/identifiers.ts";
import { openConsent } from "../../../../src/platform/core/consents/consent.ts";
import {
  type CreateConsent,
  createConsent as createOne,
  type CreateConsentDeps,
} from "../../../../src/platform/core/consents/create_consent.ts";
import type { Initiation } from "../../../../src/platform/core/consents/initiation.ts";
import { openOpenConsents } from "../../../../src/platform/core/consents/open_consents.ts";
import type { SharedBuckets } from "../../../../src/platform/guards/security/rate_limits.ts";
import { unchanged } from "testing/store_contents.ts";

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
  const key = crypto.randomUUID();
  const answer = await unchanged(env, () => create(env, { idempotencyKey: key }, bound));
  const { headers, status } = answer;
  assertEquals([status, headers.get("retry-after"), headers.get("ratelimit-policy")], [
    429,
    "60",
    '"open_consents";q=3',
  ]);
  assertEquals(await answer.text(), "");
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

Deno.test("what a limit of consents asks of the buckets, what it answers, and whose it is of 10,000 clients [RL5]", async () => {
  let [left, waitSeconds, now] = [1, 0, 0];
  const asked: unknown[] = [];
  const buckets: Partial<SharedBuckets> = {
    take: (name, policy, onDrawn) => {
      asked.push(["take", name, policy]);
      onDrawn?.(left);
      return Promise.resolve(waitSeconds);
    },
    giveBack: (...given) => void asked.push(["give back", ...given]),
    giveBackAll: (...given) => Promise.resolve(void asked.push(["give back all", ...given])),
  };
  const open = openOpenConsents({ buckets: buckets as SharedBuckets, steady: () => now, most: 4 });
  const clients = Array.from({ length: 10_001 }, () => present(asClientId(`SC-${crypto.randomUUID()}`)));
  const client = present(clients[0]);
  await open.take(client);
  open.giveBack(client);
  await open.stop();
  const policy = { burst: 4, perSecond: 4 / 604_800 };
  const name = ["open_consents", client];
  assertEquals(asked, [["take", name, policy], ["give back", name, policy], [
    "give back all",
    "open_consents",
    policy,
  ]]);
  const shares: number[] = [];
  for (left of [3, 2, 1, 0]) {
    await open.take(client);
    shares.push(...open.crowded().map(({ clientId, share }) => clientId === client ? share : NaN));
  }
  assertEquals(shares, [0.5, 0.75, 1]);
  waitSeconds = 0.5;
  const error = await open.take(client).then(() => undefined, (reason) => reason);
  assertEquals(error instanceof ApiError && [error.reason, error.parts], ["consents.too_many_open", {
    detail: "4 consents of the client await authorisation",
    retryAfterSeconds: 60,
    quota: { name: "open_consents", most: 4 },
  }]);
  waitSeconds = 0;
  for (const one of clients) await open.take(one);
  assertEquals(open.crowded().length, 10_000);
  const seenAt = [599_999, 600_000].map((time) => (now = time, open.crowded().length));
  assertEquals(seenAt, [10_000, 0]);
});

Deno.test("a consent that is not created is given back, and its id unless it may exist [RL5, J38]", async () => {
  const clientId = present(asClientId(`SC-${crypto.randomUUID()}`));
  const bank = present(asBankCode("BANKA"));
  const initiation = { instructedAmount: { amount: "4.20", currency: "EUR" } } as Initiation;
  const request = { initiation, risk: {} };
  const [id, other] = [newConsentId(), newConsentId()];
  const none = Promise.reject(new Error("no id"));
  none.catch(() => {});
  const attempt = async (claimed: () => unknown, newId: Promise<typeof id> = Promise.resolve(id)) => {
    const done: unknown[] = [];
    await using store = await openTestStore();
    const deps: unknown = {
      store,
      clock: () => 5,
      consents: {
        find: () =>
          Promise.resolve({
            key: ["consent", other],
            value: openConsent({ id: other, clientId, bank, request }, 5),
            version: "1",
          }),
        stageCreation: () => {},
      },
      claims: { claimFor: () => Promise.resolve().then(claimed), stage: () => {} },
      openConsents: {
        take: (client: string) => Promise.resolve(void done.push(["take", client === clientId])),
        giveBack: (client: string) => void done.push(["give back", client === clientId]),
      },
      consentIds: {
        newConsentId: () => newId,
        takeBack: (given: string) => void done.push(["take back", given === id]),
      },
    };
    const replayRecords = { pending: [] };
    const signedBody = { bytes: new Uint8Array(), signature: "", key: undefined };
    const reads = openRequestReads(store);
    const command: unknown = { clientId, bank, request, signedBody, documents: [], replayRecords, reads };
    const ended = await createOne(deps as CreateConsentDeps, command as CreateConsent)
      .then(({ id }) => id, (error) => error instanceof ApiError ? error.reason : String(error));
    return [ended, ...done];
  };
  const fails = (error: Error) => (): never => {
    throw error;
  };
  const [take, back, takeBack] = [["take", true], ["give back", true], ["take back", true]];
  assertEquals(await attempt(() => ({ free: {} })), [id, take]);
  assertEquals(await attempt(() => ({ resourceId: other })), [other, take, back, takeBack]);
  const reused = fails(new ApiError("idempotency.key_reused"));
  assertEquals(await attempt(reused), ["idempotency.key_reused", take, back, takeBack]);
  const unknown = fails(new ApiError("store.unavailable"));
  assertEquals(await attempt(unknown), ["store.unavailable", take, back], "it may exist");
  assertEquals(await attempt(fails(new Error("a fault"))), ["Error: a fault", take, back], "it may exist");
  assertEquals(await attempt(() => ({ free: {} }), none), ["Error: no id", take, back]);
});
