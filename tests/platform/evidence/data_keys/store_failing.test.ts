/** The data key store fails while the platform's own store works. */
import { assert, assertEquals } from "@std/assert";
import { StoreFailure } from "../../../../src/base/store/store.ts";
import { openEnvironment } from "testing/environment.ts";
import { call, clientToken, consentBody } from "testing/flows.ts";
import { erase } from "support/personal_case.ts";
import { elapse, grow, settled } from "support/retention.ts";

const FULL = "database or disk is full";
/** More than a process has data keys in advance. */
const MANY = 70;

Deno.test("a failing data key store is 503 with Retry-After, seen by readiness, and heals [P3]", async () => {
  await using env = await openEnvironment({ environment: { PLATFORM_KEEP_CASES_DAYS: "1" } });
  const { paymentId } = await settled(env);
  await grow(env);
  await elapse(env, 90_000_000);
  const create = async (): Promise<Response> => {
    const token = await clientToken(env, env.tpp);
    const body = JSON.stringify(consentBody());
    return await call(env, env.tpp, token, "/BANKA/domestic-payment-consents/v1", { method: "POST", body });
  };
  const { commit } = env.vault;
  Object.assign(env.vault, { commit: () => Promise.reject(new StoreFailure(FULL)) });
  let answer = await create();
  for (let times = 0; times < MANY && answer.status === 201; times++) answer = await create();
  assertEquals([answer.status, answer.headers.get("retry-after")], [503, "5"]);
  assertEquals((await erase(env, paymentId)).status, 503);
  assertEquals((await env.platform.readiness()).ready, false);
  const told = (event: string): boolean => env.logged.some((line) => line.includes(`"event":"${event}"`));
  assert(told("data_keys.store_failing"));
  Object.assign(env.vault, { commit });
  for (let times = 0; times < 3; times++) {
    env.now += 6000;
    await env.platform.readiness();
  }
  assertEquals((await env.platform.readiness()).ready, true);
  assert(told("data_keys.store_working") && !told("store.failing"));
  assertEquals((await create()).status, 201);
  assertEquals(await env.platform.finishErasures(), 1);
});
