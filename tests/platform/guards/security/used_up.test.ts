/** Which requests use up their proofs, and what replaces the answer of one whose proof was used before [RP-N4]. */
import { assertEquals } from "@std/assert";
import { Hono } from "hono";
import { ApiError, type ErrorReason } from "../../../../src/base/kernel/api_error.ts";
import { newReplayRecords, type Once, type ReplayRecords } from "../../../../src/base/store/transaction.ts";
import { spentJwtKey } from "../../../../src/platform/config/store_keys.ts";
import { commitReplayRecords } from "../../../../src/platform/guards/security/dpop_proof.ts";
import { openTestStore } from "testing/test_store.ts";

const ONCE: Once = {
  key: spentJwtKey("dpop", "key", "jti"),
  expiresAt: 10,
  rejection: "dpop.replayed",
  fault: { at: "jti", expected: "a new one" },
};

/** The answer of a handler, and whether its proof is used up. */
async function answered(
  handle: (records: ReplayRecords) => void,
  { isUsed = false, records = newReplayRecords() } = {},
): Promise<unknown> {
  const store = await openTestStore();
  const deps = { store, clock: () => 0 };
  if (isUsed) await answeredBy(deps, () => {}, { pending: [ONCE] });
  records.pending.push(ONCE);
  const answer = await answeredBy(deps, handle, records);
  const spent = await store.get(ONCE.key) !== null;
  await store.close();
  return [...answer, spent];
}

async function answeredBy(
  deps: Parameters<typeof commitReplayRecords>[0],
  handle: (records: ReplayRecords) => void,
  records: ReplayRecords,
): Promise<readonly unknown[]> {
  const app = new Hono<{ Variables: Record<string, unknown> }>();
  app.use(async (c, next) => {
    c.set("replayRecords", records);
    await next();
  });
  app.use(commitReplayRecords(deps) as never);
  app.get("/", () => {
    handle(records);
    return new Response("done", { headers: { "x-of-answer": "its own" } });
  });
  app.onError((error, c) => c.text(error instanceof ApiError ? error.reason : error.message));
  const answer = await app.request("/");
  return [await answer.text(), answer.headers.get("x-of-answer")];
}

function throwing(reason: ErrorReason): () => void {
  return () => {
    throw new ApiError(reason);
  };
}

Deno.test("a proof is used up by a read and by a rejection, and not by a limit or a failure of the store", async () => {
  assertEquals(await answered(() => {}), ["done", "its own", true]);
  assertEquals(await answered(throwing("request.too_large")), ["request.too_large", null, true]);
  for (const reason of ["request.rate_limited", "consents.too_many_open", "store.unavailable"] as const) {
    assertEquals(await answered(throwing(reason)), [reason, null, false]);
  }
});

Deno.test("a rejection of a used proof replaces the whole answer, also if a handler has caught it", async () => {
  assertEquals(await answered(() => {}, { isUsed: true }), ["dpop.replayed", null, true]);
  const caught = (records: ReplayRecords): void => {
    records.pending.length = 0;
    records.rejection = new ApiError("dpop.replayed");
  };
  assertEquals(await answered(caught), ["dpop.replayed", null, false]);
  const thrown = (records: ReplayRecords): never => {
    caught(records);
    throw records.rejection;
  };
  assertEquals(await answered(thrown), ["dpop.replayed", null, false]);
});
