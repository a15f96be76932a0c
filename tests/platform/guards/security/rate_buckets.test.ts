/** What the rate limit counts a request for, and every number of its buckets [RAT-01, RL4]. */
import { assertEquals } from "@std/assert";
import { Hono } from "hono";
import { ApiError } from "../../../../src/base/kernel/api_error.ts";
import { MAX_SKEW_MS } from "../../../../src/base/kernel/clock.ts";
import { readRatePolicies } from "../../../../src/platform/config/rate_policies.ts";
import { openCallers } from "../../../../src/platform/guards/security/admit.ts";
import type { ClientCertificate } from "../../../../src/platform/guards/security/client_certificate.ts";
import {
  type BucketStore,
  openBucketStore,
  openLocalBuckets,
  openRateLimit,
  type SharedBuckets,
} from "../../../../src/platform/guards/security/rate_limits.ts";
import { type Store, StoreFailure } from "../../../../src/base/store/store.ts";
import { openTestStore } from "testing/test_store.ts";
import { waitUntil } from "testing/waiting.ts";

const START = 1_800_000_000_000;
const ORGANISATION = { orgId: "ORG-1", clientId: "SC-1" };
const certificate = { spkiThumbprint: "thumbprint" } as ClientCertificate;

/** Buckets that write down what was taken, and are empty when the test says so. */
function bucketsInto(taken: unknown[], where: string, waits: Record<string, number>): BucketStore {
  return {
    take: (...what) => {
      taken.push([where, ...what]);
      return Promise.resolve(waits[where] ?? 0);
    },
  };
}

Deno.test("a request counts for its certificate in this process, and then for its organisation in all of them", async () => {
  const waits: Record<string, number> = {};
  const seen: unknown[] = [];
  const policies = readRatePolicies("reads=1/2,consents=3/4");
  if (policies === undefined) throw new Error("two policies");
  const limit = openRateLimit({
    buckets: bucketsInto(seen, "shared", waits),
    localBuckets: bucketsInto(seen, "local", waits),
    policies,
    onProven: (...proven) => seen.push(["proven", ...proven]),
  });
  const app = new Hono<{ Variables: Record<string, unknown> }>();
  app.use(async (c, next) => {
    c.set("certificate", certificate);
    c.set("facts", { interactionId: "one" });
    await next();
    seen.push(["facts", c.get("facts")]);
  });
  app.get("/:group", limit.guard((request) => request.param("group") as "reads"), async (c) => {
    await c.get("limitParticipant")(ORGANISATION);
    return c.text("done");
  });
  app.onError((error) =>
    Response.json(error instanceof ApiError ? [error.reason, error.parts] : [error.message])
  );
  const answerOf = async (group: string): Promise<string> => {
    seen.length = 0;
    return await (await app.request(`/${group}`)).text();
  };
  const counted = (group: "reads" | "consents"): unknown[] => [
    ["local", [group, "thumbprint"], policies[group]],
    ["proven", certificate, ORGANISATION],
    ["shared", [group, "participant ORG-1"], policies[group]],
    ["facts", { interactionId: "one", ...ORGANISATION }],
  ];
  for (const group of ["reads", "consents"] as const) {
    assertEquals([await answerOf(group), seen], ["done", counted(group)]);
  }
  const limited = (seconds: number): string =>
    JSON.stringify(["request.rate_limited", { detail: "reads", retryAfterSeconds: seconds }]);
  waits["shared"] = 1;
  assertEquals([await answerOf("reads"), seen], [limited(1), counted("reads")]);
  waits["local"] = 7;
  const [first] = counted("reads");
  assertEquals([await answerOf("reads"), seen], [limited(7), [first, ["facts", { interactionId: "one" }]]]);
  seen.length = 0;
  await limit.take("consents", "somebody").catch((error: ApiError) =>
    seen.push(error.parts.retryAfterSeconds)
  );
  assertEquals(seen, [["shared", ["consents", "somebody"], policies.consents], 1]);
});

Deno.test("a caller is its certificate until that is proven, and then its organisation, whichever certificate it uses", async () => {
  const callers = openCallers((headers) => {
    const spkiThumbprint = headers.get("certificate");
    return Promise.resolve(
      spkiThumbprint === null
        ? { ok: false, error: new ApiError("certificate.missing") }
        : { ok: true, value: { ...certificate, spkiThumbprint } },
    ) as ReturnType<Parameters<typeof openCallers>[0]>;
  });
  const nameOf = (name?: string): Promise<string | undefined> =>
    callers.nameOf(new Headers(name === undefined ? {} : { certificate: name }));
  for (const spkiThumbprint of ["one", "two"]) {
    callers.proven({ ...certificate, spkiThumbprint }, ORGANISATION);
  }
  callers.proven({ ...certificate, spkiThumbprint: "other" }, { orgId: "ORG-2" });
  const names = await Promise.all([nameOf(), nameOf("one"), nameOf("two"), nameOf("other"), nameOf("new")]);
  assertEquals(names, [undefined, "participant ORG-1", "participant ORG-1", "participant ORG-2", "new"]);
});

Deno.test("a local bucket gives whole tokens, up to its burst, and says how many seconds are missing", async () => {
  let now = START;
  const buckets = openLocalBuckets(() => now);
  const take = (subject: string, afterMs = 0, group = "reads"): Promise<number> => {
    now += afterMs;
    return buckets.take([group, subject], { perSecond: 0.25, burst: 2 });
  };
  assertEquals([await take("one"), await take("one"), await take("one")], [0, 0, 4]);
  assertEquals([await take("other"), await take("one", 0, "tokens")], [0, 0]);
  assertEquals([await take("one", 2000), await take("one", 1999), await take("one", 1)], [2, 1, 0]);
  const full = [await take("one", 60_000), await take("one"), await take("one", -60_000)];
  assertEquals(full, [0, 0, 4]);
});

const NAME = ["reads", "somebody"] as const;
const POLICY = { perSecond: 2, burst: 16 };

interface Shared {
  readonly store: Store;
  readonly buckets: SharedBuckets;
  now: number;
  steady: number;
  /** What was drawn since the last look. */
  readonly drawn: number[];
  /** The waits of so many takes. */
  takes(count: number): Promise<readonly number[]>;
  stored(): Promise<unknown>;
}

async function openShared(change: (store: Store) => Store = (store) => store): Promise<Shared> {
  const store = change(await openTestStore());
  const self: Shared = {
    store,
    buckets: openBucketStore({ store, clock: () => self.now, steady: () => self.steady }),
    now: START,
    steady: 0,
    drawn: [],
    async takes(count) {
      const waits: number[] = [];
      for (let take = 0; take < count; take++) {
        waits.push(await self.buckets.take(NAME, POLICY, (left) => self.drawn.push(left)));
      }
      return waits;
    },
    async stored() {
      const [entry, ...others] = await store.list<{ tokens: number; filledAt: number }>({
        prefix: ["rate_bucket"],
        limit: 9,
      });
      assertEquals([entry?.key ?? ["rate_bucket", ...NAME], others], [["rate_bucket", ...NAME], []]);
      return entry && [entry.value.tokens, entry.value.filledAt - START];
    },
  };
  return self;
}

function zeros(count: number): readonly number[] {
  return Array.from({ length: count }, () => 0);
}

Deno.test("a process draws an eighth of what is left, and the bucket and the waits are exact", async () => {
  const shared = await openShared();
  assertEquals(await shared.takes(16), zeros(16));
  assertEquals(shared.drawn.splice(0), [14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
  assertEquals(await shared.stored(), [0, 0]);
  assertEquals(await shared.takes(2), [1, 1], "half a second until the next one");
  [shared.now, shared.steady] = [START + 499, 499];
  assertEquals(await shared.takes(1), [1]);
  [shared.now, shared.steady] = [START + 500, 500];
  assertEquals(await shared.takes(2), [0, 1]);
  assertEquals([shared.drawn.splice(0), await shared.stored()], [[0], [0, 500]]);
  [shared.now, shared.steady] = [START + 8499, 8499];
  assertEquals(await shared.takes(1), [0]);
  assertEquals([shared.drawn.splice(0), await shared.stored()], [[14.998], [14.998, 8499]]);
});

Deno.test("what a process has drawn is void when the bucket would have become full", async () => {
  for (const [steady, drawn] of [[7999, []], [8000, [14]]] as const) {
    const shared = await openShared();
    await shared.takes(1);
    assertEquals(shared.drawn.splice(0), [14]);
    [shared.now, shared.steady] = [START + steady, steady];
    assertEquals(await shared.takes(1), [0]);
    assertEquals(shared.drawn, drawn, `after ${steady} ms`);
  }
});

Deno.test("a process that loses five races for a bucket takes it for empty, for a second", async () => {
  let commits = 0;
  const commit = (): Promise<boolean> => {
    commits += 1;
    return Promise.resolve(false);
  };
  const shared = await openShared((store) => ({ ...store, commit }));
  for (const [steady, waits, expected] of [[0, 1, 5], [999, 1, 5], [1000, 1, 10]] as const) {
    shared.steady = steady;
    assertEquals([await shared.takes(1), commits], [[waits], expected]);
  }
});

Deno.test("the time of another process's clock counts up to the largest difference of two clocks", async () => {
  for (const [aheadMs, expected] of [[MAX_SKEW_MS, [1, MAX_SKEW_MS]], [MAX_SKEW_MS + 1, [1, 0]]] as const) {
    const shared = await openShared();
    shared.now = START + aheadMs;
    await shared.takes(14);
    assertEquals(await shared.stored(), [2, aheadMs]);
    shared.now = START;
    await shared.takes(1);
    assertEquals(await shared.stored(), expected, `${aheadMs} ms ahead`);
  }
});

Deno.test("what is given back serves this process first, and goes back to the bucket beyond a 64th of it", async () => {
  const policy = { perSecond: 1, burst: 128 };
  const shared = await openShared();
  const take = (): Promise<number> => shared.buckets.take(NAME, policy);
  const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));
  const stores = async (bucket: readonly number[], what: string): Promise<void> =>
    await waitUntil(what, async () => String(await shared.stored()) === String(bucket));
  for (let taken = 0; taken < 16; taken++) await take();
  assertEquals(await shared.stored(), [112, 0]);
  shared.buckets.giveBack(NAME, policy);
  shared.buckets.giveBack(NAME, policy);
  await settled();
  assertEquals(await shared.stored(), [112, 0], "two are kept");
  assertEquals([await take(), await take()], [0, 0]);
  assertEquals(await shared.stored(), [112, 0]);
  for (let given = 0; given < 3; given++) shared.buckets.giveBack(NAME, policy);
  await stores([115, 0], "the third one goes back with the others");
  assertEquals(await take(), 0);
  assertEquals(await shared.stored(), [101, 0]);
  for (let given = 0; given < 12; given++) shared.buckets.giveBack(NAME, policy);
  await stores([113, 0], "so do those that come while the third one goes back");
  shared.now = START + 200_000;
  for (let given = 0; given < 3; given++) shared.buckets.giveBack(NAME, policy);
  await stores([128, 200_000], "a bucket has its burst at most");
});

Deno.test("what is given back while the database is away is lost, and the next request draws as before", async () => {
  let [away, refused] = [false, 0];
  const shared = await openShared((store) => ({
    ...store,
    commit: (staged) =>
      away ? (refused += 1, Promise.reject(new StoreFailure("away"))) : store.commit(staged),
  }));
  assertEquals(await shared.takes(8), zeros(8));
  away = true;
  shared.buckets.giveBack(NAME, POLICY);
  await waitUntil("the deposit has been refused", () => Promise.resolve(refused > 0));
  away = false;
  assertEquals([await shared.takes(1), await shared.stored()], [[0], [7, 0]]);
});

Deno.test("what a process gives back is there a second later for another one that has found the bucket empty [RL4, RL5]", async () => {
  const policy = { perSecond: 1 / 3600, burst: 2 };
  const shared = await openShared();
  const other = openBucketStore({
    store: shared.store,
    clock: () => shared.now,
    steady: () => shared.steady,
  });
  assertEquals([await shared.buckets.take(NAME, policy), await shared.buckets.take(NAME, policy)], [0, 0]);
  assertEquals(await other.take(NAME, policy), 3600);
  shared.buckets.giveBack(NAME, policy);
  await waitUntil("the token is in the bucket", async () => String(await shared.stored()) === "1,0");
  for (const [at, wait] of [[999, 3600], [1000, 0]] as const) {
    [shared.now, shared.steady] = [START + at, at];
    assertEquals(await other.take(NAME, policy), wait, `after ${at} ms`);
  }
});

Deno.test("all that a process has drawn and not used is in the bucket before its end [RL5]", async () => {
  const policy = { perSecond: 1 / 3600, burst: 128 };
  const shared = await openShared();
  assertEquals(await shared.buckets.take(NAME, policy), 0);
  assertEquals(await shared.stored(), [112, 0]);
  await shared.buckets.giveBackAll(NAME[0], policy);
  assertEquals(await shared.stored(), [127, 0]);
});
