/** How long the records of a payment are stored, each of them, as its commits say. */
import { assertEquals } from "@std/assert";
import { openTestStore } from "testing/test_store.ts";
import { authorised } from "testing/authorization_flow.ts";
import { openEnvironment } from "testing/environment.ts";
import { good, pay } from "testing/flows.ts";
import type { Commit, Write } from "../../../../src/base/store/store.ts";

/** Each record with the seconds after which it expires. */
const LIFETIMES = [
  "access_token 3600",
  "audit kept",
  "authorization_code 3660",
  "authorization_session 87300",
  "bank kept",
  "client kept",
  "consent kept",
  "consent_deadline kept",
  "data_key_store kept",
  "event 604800",
  "evidence kept",
  "evidence_document kept",
  "funnel_case kept",
  "idempotency_claim 86400",
  "kept_copy kept",
  "kept_piece kept",
  "listed kept",
  "log_waiting kept",
  "lookup 34560000",
  "payment kept",
  "payment_order kept",
  "pushed_request 87899",
  "rate_bucket 1 604800 kept",
  "software_statement kept",
  "spent_jwt 3690 3720 3930 90000",
];

Deno.test("the records of a payment are stored for the times that its commits name", async () => {
  const store = await openTestStore();
  const written: Write[] = [];
  const commit = async (staged: Commit): Promise<boolean> => {
    written.push(...staged.writes);
    return await store.commit(staged);
  };
  await using env = await openEnvironment({ store: { ...store, commit } });
  const flow = await authorised(env);
  await good(pay(env, flow), 201);
  const found = new Map<string, Set<number | "kept">>();
  for (const write of written) {
    if (write.kind !== "set") continue;
    const name = String(write.key[0]);
    const time = write.expiresAt === undefined ? "kept" : (write.expiresAt - env.now) / 1000;
    found.set(name, (found.get(name) ?? new Set()).add(time));
  }
  const table = [...found].map(([name, times]) => `${name} ${[...times].toSorted().join(" ")}`);
  assertEquals(table.toSorted(), LIFETIMES);
});
