/** Revoked keys are rejected everywhere within 15 s, added ones are good as soon as they are known (Decision A9). */
import { assertEquals, assertMatch } from "@std/assert";
import { decodeProtectedHeader } from "jose";
import {
  addKey,
  FAILURES,
  fetchedAnew,
  forUrls,
  keyUrls,
  revokeKey,
  serving,
} from "support/directory_network.ts";
import { present, rejectionOf } from "testing/answers.ts";
import { call, clientToken, createConsent, good, push, requestToken, tokenStatus } from "testing/flows.ts";
import {
  authorize,
  Browser,
  openHandover,
  putAccounts,
  returnPath,
  toBank,
} from "testing/authorization_flow.ts";
import { postRegistration, renewedStatement } from "testing/registration.ts";
import { errorBody } from "testing/resource_answers.ts";
import {
  actsOfBank,
  actsOfTpp,
  BOUND_MS,
  invalidClient,
  rejectActs,
  unknownSigner,
} from "support/standing.ts";
import { openEnvironment } from "testing/environment.ts";
import { steps } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { unchanged } from "testing/store_contents.ts";

test("a revoked signing key of a TPP signs nothing any more within 15 s [A9] [RP-N4]", async ({ env, t }) => {
  const { "DPoP-bound call": dpopCall, "signed payload": payload, ...rest } = await actsOfTpp(env);
  await revokeKey(env, env.tpp, env.tpp.signing);
  env.now += BOUND_MS;
  await rejectActs(t, env, rest); // the redirect too: without a signing key there is no standing
  await t.step("signed payload", async () => {
    await unknownSigner(await unchanged(env, payload?.attempt ?? unprepared));
  });
  await t.step("its certificate has not been revoked", async () => {
    assertEquals((await dpopCall?.attempt())?.status, 200);
  });
  await t.step("a registration JWT [DC-N8] [DC5]", async () => {
    const statement = await renewedStatement(env, env.tpp);
    const attempt = (): Promise<Response> => postRegistration(env, env.tpp, { statement });
    const response = await unchanged(env, attempt);
    assertEquals([response.status, (await rejectionOf(response)).error], [400, "invalid_client_metadata"]);
  });
});

test("a revoked transport key of a TPP opens nothing any more within 15 s [A9]", async ({ env, t }) => {
  const { "authorize redirect": redirect, ...rest } = await actsOfTpp(env);
  await revokeKey(env, env.tpp, env.tpp.transport);
  env.now += BOUND_MS;
  await rejectActs(t, env, rest);
  await t.step("registration [DC11] [DC-N18]", async () => {
    const statement = await renewedStatement(env, env.tpp);
    const response = await unchanged(env, () => postRegistration(env, env.tpp, { statement }));
    await invalidClient(response);
  });
  await t.step("its signing key has not been revoked", async () => {
    assertEquals((await redirect?.attempt())?.status, 303);
  });
});

test("a revoked signing key of a bank signs nothing any more within 15 s [A9]", async ({ env, t }) => {
  const flow = await toBank(env);
  const { "DPoP-bound call": dpopCall, "signed payload": payload, ...rest } = await actsOfBank(
    env,
    env.bankA,
    flow,
  );
  await good(putAccounts(env, env.bankA, flow.consentId), 200);
  await revokeKey(env, env.bankA, env.bankA.signing);
  env.now += BOUND_MS;
  await rejectActs(t, env, rest);
  await t.step("signed payload", async () => {
    await unknownSigner(await unchanged(env, payload?.attempt ?? unprepared));
  });
  await t.step("its certificate has not been revoked", async () => {
    assertEquals((await dpopCall?.attempt())?.status, 200);
  });
});

test("a revoked transport key of a bank opens nothing any more within 15 s [A9]", async ({ env, t }) => {
  const flow = await toBank(env);
  const { "bank JWT": bankJwt, ...rest } = await actsOfBank(env, env.bankA, flow);
  await good(putAccounts(env, env.bankA, flow.consentId), 200);
  await revokeKey(env, env.bankA, env.bankA.transport);
  env.now += BOUND_MS;
  await rejectActs(t, env, rest);
  await t.step("its signing key has not been revoked", async () => {
    assertEquals((await bankJwt?.attempt())?.status, 303);
  });
});

test("a revoked key is rejected after 15 s though the fetch is still under way for another call [A9]", async ({ env }) => {
  await revokeKey(env, env.tpp, env.tpp.signing);
  env.now += BOUND_MS;
  const gate = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  env.network = async (request) => {
    asked.resolve();
    await gate.promise;
    return await env.directory.fetch(request);
  };
  const first = requestToken(env, env.tpp);
  await asked.promise;
  const second = requestToken(env, env.tpp);
  assertEquals(await Promise.race([first, second, manyTurns()]), "waiting");
  gate.resolve();
  assertEquals([(await first).status, (await second).status], [401, 401]);
});

test("a revoked encryption key is sealed to no more within 15 s [A9] [A10]", async ({ env }) => {
  const { tpp, bankA } = env;
  env.now += 1000; // newer than the one it has
  const encryption = await addKey(env, bankA, "encryption", 10);
  env.now += BOUND_MS;
  assertEquals(await sealedTo(encryption.kid), encryption.kid); // the newest one
  await revokeKey(env, bankA, encryption);
  env.now += BOUND_MS;
  assertEquals(await sealedTo(bankA.encryption?.kid ?? ""), bankA.encryption?.kid);
  await revokeKey(env, bankA, bankA.encryption ?? encryption);
  env.now += BOUND_MS;
  assertEquals(await sealedTo(bankA.transport.kid), bankA.transport.kid);

  /** The kid of the next handover JWT's JWE; opened with the key that is expected to fit. */
  async function sealedTo(kid: string): Promise<string> {
    const bound = await clientToken(env, tpp);
    const pushed = await good(push(env, (await createConsent(env, bound)).Data.ConsentId), 201);
    const departure = await authorize(new Browser(env), tpp, pushed.request_uri);
    const keys = [encryption, bankA.encryption, bankA.transport];
    const fitting = keys.find((key) => key?.kid === kid);
    if (fitting === undefined) throw new Error(`no key ${kid}`);
    assertEquals((await openHandover({ ...bankA, encryption: fitting }, departure)).claims.aud, "BANKA");
    const sealed = new URL(departure.headers.get("location") ?? "").searchParams.get("oAuthUrl") ?? "";
    return present(decodeProtectedHeader(sealed).kid);
  }
});

test("an added key is good 15 s later, beside the old one [A9]", async ({ env, t }) => {
  const { tpp } = env;
  const signing = await addKey(env, tpp, "signing", 10);
  const transport = await addKey(env, tpp, "transport", 11);
  await t.step("signing key, as soon as the status list has been asked for again", async () => {
    env.now += BOUND_MS;
    assertEquals((await requestToken(env, { ...tpp, signing })).status, 200);
  });
  await t.step("transport key", async () => {
    assertEquals((await requestToken(env, { ...tpp, transport })).status, 200);
  });
  await t.step("both old keys", async () => {
    assertEquals((await requestToken(env, tpp)).status, 200);
  });
  await t.step("after the old ones were revoked, only the new ones", async () => {
    await revokeKey(env, tpp, tpp.signing);
    await revokeKey(env, tpp, tpp.transport);
    env.now += BOUND_MS;
    assertEquals((await requestToken(env, { ...tpp, signing, transport })).status, 200);
    assertEquals((await requestToken(env, { ...tpp, transport })).status, 401);
    assertEquals((await requestToken(env, { ...tpp, signing })).status, 401);
  });
});

test("a bank's JWT by an added key is good as soon as the directory may be asked again [A9]", async ({ env }) => {
  const { bankA } = env;
  const flow = await toBank(env);
  await good(putAccounts(env, bankA, flow.consentId), 200);
  const renewed = { ...bankA, signing: await addKey(env, bankA, "signing", 10) };
  env.now += 30_000;
  assertEquals((await flow.browser.open(await returnPath(env, renewed, flow.handover))).status, 303);
});

function unprepared(): Promise<Response> {
  throw new Error("no such act");
}

/** Time for everything that can go on without the network to go on. */
async function manyTurns(): Promise<"waiting"> {
  for (let n = 0; n < 50; n++) await new Promise((resolve) => setTimeout(resolve, 0));
  return "waiting";
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
