/** Lists of consents and payments have a rate limit of their own. */
import { assertEquals } from "@std/assert";
import { authorised } from "testing/authorization_flow.ts";
import { openEnvironment } from "testing/environment.ts";
import { call, clientToken, good, pay } from "testing/flows.ts";
import { CONSENTS, PAYMENTS } from "support/resource_calls.ts";
import { request } from "./lists.ts";

Deno.test("both lists count in one group of their own, and reads of one payment do not [LS6, RL1]", async () => {
  await using env = await openEnvironment({
    environment: { PLATFORM_RATE_LIMITS: "lists=1/2,registration=100/100" },
  });
  const flow = await authorised(env);
  const { DomesticPaymentId } = (await good(pay(env, flow, { idempotencyKey: "order-1" }), 201)).Data;
  const token = await clientToken(env, env.tpp);
  const status = async (path: string): Promise<number> => (await call(env, env.tpp, token, path)).status;
  assertEquals([await status(CONSENTS), await status(`${PAYMENTS}?status=Rejected`)], [200, 200]);
  const rejected = await request(env, "Payment", {}, { token });
  assertEquals([rejected.status, rejected.headers.get("retry-after")], [429, "1"]);
  assertEquals(await status(CONSENTS), 429);
  assertEquals(await status(`${CONSENTS}/${flow.consentId}`), 200);
  assertEquals(await status(`${PAYMENTS}/${DomesticPaymentId}`), 200);
  assertEquals(await status(`${PAYMENTS}?idempotency-key=order-1`), 200);
  assertEquals((await request(env, "Payment", {}, { caller: env.otherTpp })).status, 200);
  env.now += 1000;
  assertEquals(await status(PAYMENTS), 200);
});
