import { assertEquals } from "@std/assert";
import { comeBack } from "support/at_bank.ts";
import { test } from "support/environment_test.ts";
import { IMPLICIT } from "testing/bank_return.ts";
import { consentBody } from "testing/flows.ts";
import { authorize, toBank } from "testing/authorization_flow.ts";
import { assertCodeAnswer, assertErrorAnswer, codesIssued, consentStatus } from "testing/front_channel.ts";
import { START } from "testing/environment.ts";
import { post, toScreen } from "./deciding_customer.ts";

test("A session lives 900 s from its first page: the bank's return [AZ11] [BR9] [BR-N11] [LT8] [G1]", async ({ env }) => {
  const inTime = await toBank(env, { body: IMPLICIT });
  const late = await toBank(env, { body: IMPLICIT });
  env.now = START + 899_999;
  await assertCodeAnswer(await comeBack(env, inTime));
  env.now = START + 900_000;
  await assertErrorAnswer(await comeBack(env, late), "session_expired");
  assertEquals(await consentStatus(env, late), "AwaitingAuthorisation");
});

test("A session lives 900 s from its first page: the customer's decision [AZ11] [AZ13] [LT8] [G1]", async ({ env }) => {
  const inTime = await toBank(env);
  const late = await toBank(env);
  const [first, second] = [await toScreen(env, inTime), await toScreen(env, late)];
  env.now = START + 899_999;
  await assertCodeAnswer(await post(inTime, first, "accept"));
  env.now = START + 900_000;
  await assertErrorAnswer(await post(late, second, "accept"), "session_expired");
  assertEquals([await codesIssued(env), await consentStatus(env, late)], [1, "AwaitingAuthorisation"]);
});

test("A flow that began within the 599 s of its request_uri ends well after them [AZ-N3] [LT7]", async ({ env, t }) => {
  for (const body of [IMPLICIT, consentBody()]) {
    await t.step(body === IMPLICIT ? "by the bank's return" : "by the customer's decision", async () => {
      const begun = env.now;
      const opened = await toBank(env, { body });
      env.now = begun + 598_000;
      const departure = await authorize(opened.browser, env.tpp, opened.requestUri);
      assertEquals(departure.status, 303);
      env.now = begun + 899_000;
      if (body === IMPLICIT) return void await assertCodeAnswer(await comeBack(env, opened));
      await assertCodeAnswer(await post(opened, await toScreen(env, opened), "accept"));
    });
  }
});
