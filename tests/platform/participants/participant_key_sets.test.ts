/** How the platform fetches participants' keys and what it does without them (Decision A9; contract DC4, DC-N22). */
import { assertEquals, assertMatch } from "@std/assert";
import {
  addKey,
  endless,
  FAILURES,
  fetchedAnew,
  forUrls,
  keyUrls,
  readiness,
  serving,
} from "support/directory_network.ts";
import { call, clientToken, createConsent, good, push, requestToken } from "testing/flows.ts";
import { authorize, Browser, returnPath, toBank } from "testing/authorization_flow.ts";
import { testKey } from "testing/keys.ts";
import { onboardOnly } from "testing/participants.ts";
import { assertRejected, MANY_REGISTRATIONS, NEWCOMER, postRegistration } from "testing/registration.ts";
import { statementWith } from "testing/registration.ts";
import { errorBody, unchanged } from "testing/resource_answers.ts";
import { DIRECTORY_URL, type Environment, openEnvironment } from "testing/environment.ts";
import { steps } from "support/steps.ts";

async function tokenStatus(env: Environment): Promise<number> {
  return (await requestToken(env, env.tpp)).status;
}

Deno.test("POST register answers 503 without the participant's key set, stores nothing, and works after [DC-N22] [DC4]", async (t) => {
  await using env = await openEnvironment({ ...MANY_REGISTRATIONS, registersItself: true });
  const newcomer = await onboardOnly(env, NEWCOMER);
  const [jwks = "", revoked = ""] = keyUrls(newcomer);
  for (const [name, fail] of Object.entries(FAILURES)) {
    for (const [list, broken] of Object.entries({ "keys": jwks, "revoked keys": revoked })) {
      await t.step(`${list}: ${name}`, async () => {
        env.now += 30_000;
        env.network = forUrls(env, ({ href }) => href === broken, fail());
        env.fetched.length = 0;
        const attempt = (): Promise<Response> => postRegistration(env, newcomer);
        const response = await assertRejected(env, attempt, 503, "temporarily_unavailable");
        assertEquals(response.headers.get("retry-after"), "30");
        const fetched = fetchedAnew(env).filter((url) => url !== `${DIRECTORY_URL}/jwks`);
        assertEquals(fetched.toSorted(), [jwks, revoked]); // no redirect was followed
      });
    }
  }
  await t.step("and 201 once the directory is back", async () => {
    env.network = (request) => env.directory.fetch(request);
    env.now += 30_000;
    assertEquals((await postRegistration(env, newcomer)).status, 201);
  });
});

Deno.test("POST register answers 503 without the directory's own keys [DC-N22] [DC2]", async () => {
  await using env = await openEnvironment({ ...MANY_REGISTRATIONS, registersItself: true });
  const newcomer = await onboardOnly(env, NEWCOMER);
  env.now += 900_001;
  fetchedAnew(env);
  env.network = forUrls(env, ({ pathname }) => pathname === "/jwks", serving("<html>"));
  const attempt = (): Promise<Response> => postRegistration(env, newcomer);
  const response = await assertRejected(env, attempt, 503, "temporarily_unavailable");
  assertEquals(response.headers.get("retry-after"), "30");
  await assertRejected(env, attempt, 503, "temporarily_unavailable");
  assertEquals(fetchedAnew(env), [`${DIRECTORY_URL}/jwks`]); // once in 30 s
  env.network = (request) => env.directory.fetch(request);
  env.now += 30_000;
  assertEquals((await postRegistration(env, newcomer)).status, 201);
});

Deno.test("POST register takes a statement by a new key of the directory once it may ask again [DC2] [A9]", async () => {
  await using env = await openEnvironment({ ...MANY_REGISTRATIONS, registersItself: true });
  const newcomer = await onboardOnly(env, NEWCOMER);
  const signer = { key: await testKey(15), kid: "new" };
  env.network = forUrls(env, ({ pathname }) => pathname === "/jwks", async (request) => {
    const { keys } = await (await env.directory.fetch(request)).json();
    return Response.json({ keys: [...keys, { ...signer.key.publicJwk, kid: "new", use: "sig" }] });
  });
  const statement = await statementWith(newcomer, { signer });
  const attempt = (): Promise<Response> => postRegistration(env, newcomer, { statement });
  await assertRejected(env, attempt, 400, "invalid_software_statement");
  env.now += 30_000;
  assertEquals((await attempt()).status, 201);
});

Deno.test("a key set of exactly 256 KiB is read, of a longer one no more than that [A9]", async (t) => {
  await using env = await openEnvironment({ registersItself: true });
  const active = (url: URL): boolean => url.href === keyUrls(env.tpp)[0];
  await t.step("262,144 bytes", async () => {
    const [url = ""] = keyUrls(env.tpp);
    const keys = await (await env.directory.fetch(new Request(url))).text();
    env.network = forUrls(env, active, serving(keys.padEnd(262_144)));
    env.now += 300_000;
    assertEquals([await tokenStatus(env), (await readiness(env)).body.parts["directory"]], [200, {
      ok: true,
    }]);
  });
  await t.step("more", async () => {
    const stream = endless();
    env.network = forUrls(env, active, stream.network);
    env.now += 300_000;
    assertEquals(await tokenStatus(env), 200); // by the last good copy
    assertEquals([stream.cancelled(), stream.sent() <= 6 * 65_536], [true, true]);
  });
});

Deno.test("a directory that does not answer is given up after 2 seconds [A9]", async () => {
  await using env = await openEnvironment({ registersItself: true });
  const timeouts: number[] = [];
  const real = AbortSignal.timeout;
  AbortSignal.timeout = (milliseconds): AbortSignal => {
    timeouts.push(milliseconds);
    return AbortSignal.abort(new DOMException("timed out", "TimeoutError"));
  };
  try {
    env.network = (request) =>
      new Promise((_, reject) => {
        if (request.signal.aborted) reject(request.signal.reason);
      });
    env.now += 300_000;
    assertEquals(await tokenStatus(env), 200);
  } finally {
    AbortSignal.timeout = real;
  }
  assertEquals(timeouts, [2000, 2000, 2000]); // the status list and both key sets
  assertMatch(env.logged.join("\n"), /participants\.keys_unavailable.*TimeoutError/);
});

Deno.test("key sets are used for 300 s and fetched once for any number of calls [A9]", async (t) => {
  await using env = await openEnvironment({ registersItself: true });
  fetchedAnew(env);
  await t.step("not again before 300 s", async () => {
    assertEquals(await tokenStatus(env), 200);
    env.now += 299_999;
    assertEquals(await tokenStatus(env), 200);
    assertEquals(fetchedAnew(env), []);
  });
  await t.step("once at 300 s", async () => {
    env.now += 1;
    assertEquals(await tokenStatus(env), 200);
    assertEquals(await tokenStatus(env), 200);
    assertEquals(fetchedAnew(env), keyUrls(env.tpp));
  });
  await t.step("once for parallel calls after a long silence", async () => {
    env.now += 2_000_000;
    const statuses = await Promise.all(Array.from({ length: 5 }, () => tokenStatus(env)));
    assertEquals(statuses, [200, 200, 200, 200, 200]);
    assertEquals(fetchedAnew(env), keyUrls(env.tpp));
  });
});

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
    assertEquals((await response.json()).error, "temporarily_unavailable");
  });
  await t.step("GET consent", async () => {
    const response = await unchanged(env, () => call(env, tpp, bound, path));
    assertEquals(response.headers.get("retry-after"), "30");
    assertEquals((await errorBody(response, 503)).Errors[0].ErrorCode, "UK.OBIE.UnexpectedError");
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
