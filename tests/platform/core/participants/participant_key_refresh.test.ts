import { assertEquals, assertMatch } from "@std/assert";
import { addKey, FAILURES, fetchedAnew, forUrls, keyUrls, serving } from "support/directory_network.ts";
import { rejectionOf } from "testing/answers.ts";
import { call, clientToken, createConsent, good, push, requestToken } from "testing/flows.ts";
import { authorize, Browser, returnPath, toBank } from "testing/authorization_flow.ts";
import { errorBody, unchanged } from "testing/resource_answers.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { steps } from "support/steps.ts";

async function tokenStatus(env: Environment): Promise<number> {
  return (await requestToken(env, env.tpp)).status;
}

Deno.test("an unknown kid is asked for again, once in 30 s [A9]", async (t) => {
  await using env = await openEnvironment({ registersItself: true });
  const { tpp } = env;
  const outsider = { ...tpp, signing: { ...tpp.signing, kid: "unknown" } };
  env.now += 29_999;
  fetchedAnew(env);
  await t.step("not within 30 s of the last fetch", async () => {
    assertEquals((await requestToken(env, outsider)).status, 401);
    assertEquals(fetchedAnew(env), []);
  });
  await t.step("after 30 s, once", async () => {
    env.now += 1;
    for (let n = 0; n < 3; n++) assertEquals((await requestToken(env, outsider)).status, 401);
    assertEquals(fetchedAnew(env), keyUrls(tpp));
  });
  await t.step("for a strange certificate as well", async () => {
    env.now += 30_000;
    for (let n = 0; n < 3; n++) {
      assertEquals((await requestToken(env, tpp, "BANKA", { as: env.otherTpp })).status, 401);
    }
    assertEquals(fetchedAnew(env), keyUrls(tpp));
  });
  await t.step("and that renews the copy", async () => {
    env.now += 299_999;
    assertEquals(await tokenStatus(env), 200);
    assertEquals(fetchedAnew(env), []);
  });
});

Deno.test("parallel calls by a new key are all served by the one fetch that finds it [A9]", async () => {
  await using env = await openEnvironment({ registersItself: true });
  const { tpp } = env;
  const signing = await addKey(env, tpp, "signing", 10);
  env.now += 30_000;
  fetchedAnew(env);
  const calls = Array.from({ length: 4 }, () => requestToken(env, { ...tpp, signing }));
  assertEquals((await Promise.all(calls)).map(({ status }) => status), [200, 200, 200, 200]);
  assertEquals(fetchedAnew(env), keyUrls(tpp));
});

Deno.test("running traffic goes on for 900 s without the directory, which is asked once in 30 s [A9]", async (t) => {
  await using env = await openEnvironment({ registersItself: true });
  await steps(t, FAILURES, async (fail) => {
    env.network = (request) => env.directory.fetch(request);
    env.now += 300_000;
    const bound = await clientToken(env, env.tpp); // with a fresh copy
    const { ConsentId } = (await createConsent(env, bound)).Data;
    env.network = fail();
    fetchedAnew(env);
    for (const [after, fetches] of [[300_000, 2], [29_999, 0], [1, 2], [569_999, 2], [1, 0]] as const) {
      env.now += after;
      assertEquals(await tokenStatus(env), 200);
      const path = `/BANKA/domestic-payment-consents/v1/${ConsentId}`;
      assertEquals((await call(env, env.tpp, bound, path)).status, 200);
      assertEquals(fetchedAnew(env).length, fetches);
    }
    env.now += 1;
    assertEquals(await tokenStatus(env), 503);
  });
});

Deno.test("nothing is trusted once the copy is older than 900 s: 503 everywhere, nothing changes [A9]", async (t) => {
  await using env = await openEnvironment({ registersItself: true });
  const { tpp, bankA } = env;
  const bound = await clientToken(env, tpp);
  const path = `/BANKA/domestic-payment-consents/v1/${(await createConsent(env, bound)).Data.ConsentId}`;
  env.now += 299_999;
  const flow = await toBank(env);
  const pushed = await good(push(env, (await createConsent(env, bound)).Data.ConsentId), 201);
  const [jwks = ""] = keyUrls(tpp);
  env.network = FAILURES["unreachable"]?.() ?? env.network;
  env.now += 599_999;
  const returning = await returnPath(env, bankA, flow.handover);
  env.now += 3;
  await t.step("token", async () => {
    const response = await unchanged(env, () => requestToken(env, tpp));
    assertEquals([response.status, response.headers.get("retry-after")], [503, "30"]);
    assertEquals((await rejectionOf(response)).error, "temporarily_unavailable");
  });
  await t.step("GET consent", async () => {
    const response = await unchanged(env, () => call(env, tpp, bound, path));
    assertEquals(response.headers.get("retry-after"), "30");
    assertEquals((await errorBody(response, 503)).Errors[0]?.ErrorCode, "UK.OBIE.UnexpectedError");
  });
  await t.step("the bank's return", async () => {
    const response = await unchanged(env, () => flow.browser.open(returning));
    assertEquals([response.status, response.headers.get("location")], [503, null]);
  });
  await t.step("the log names the URL and the reason", () => {
    const line = env.logged.find((text) =>
      text.includes("participants.keys_unavailable") && text.includes(jwks)
    );
    assertMatch(line ?? "", /"why":"TypeError"/);
  });
  await t.step("traffic is back within 30 s of the directory", async () => {
    env.network = (request) => env.directory.fetch(request);
    env.now += 30_000;
    assertEquals(await tokenStatus(env), 200);
    assertEquals((await call(env, tpp, bound, path)).status, 200);
  });
  await t.step("but the link of 15 minutes ago is over", async () => {
    assertEquals((await authorize(new Browser(env), tpp, pushed.request_uri)).status, 400);
  });
});

Deno.test("GET authorization answers 503 with a page while the TPP's keys are too old [A9]", async () => {
  await using env = await openEnvironment({ registersItself: true });
  const bound = await clientToken(env, env.tpp);
  env.now += 299_999;
  const { ConsentId } = (await createConsent(env, bound)).Data;
  env.now += 290_000;
  env.network = FAILURES["HTML"]?.() ?? env.network;
  const pushed = await good(push(env, ConsentId), 201);
  env.now += 310_002;
  const response = await unchanged(env, () => authorize(new Browser(env), env.tpp, pushed.request_uri));
  assertEquals([response.status, response.headers.get("retry-after")], [503, "30"]);
  assertMatch(response.headers.get("content-type") ?? "", /^text\/html/);
});

Deno.test("GET authorization goes back to the TPP while the bank's keys are too old [A9] [B5]", async () => {
  await using env = await openEnvironment({ registersItself: true });
  const { tpp } = env;
  env.network = forUrls(env, ({ pathname }) => pathname.includes("/BANKA/"), serving("<html>"));
  env.now += 900_001;
  const bound = await clientToken(env, tpp);
  const pushed = await good(push(env, (await createConsent(env, bound)).Data.ConsentId), 201);
  const response = await unchanged(env, () => authorize(new Browser(env), tpp, pushed.request_uri));
  const to = new URL(response.headers.get("location") ?? "");
  assertEquals([response.status, to.origin], [303, "https://shop.example"]);
  assertEquals(to.searchParams.get("error"), "temporarily_unavailable");
});
