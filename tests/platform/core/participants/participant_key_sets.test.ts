/** How the platform fetches participants' keys and what it does without them (Decision A9; contract DC4, DC-N22). */
import { assertEquals, assertMatch } from "@std/assert";
import {
  endless,
  FAILURES,
  fetchedAnew,
  forUrls,
  keyUrls,
  readiness,
  serving,
} from "support/directory_network.ts";
import { bodyOf } from "testing/answers.ts";
import type { StatementKeySet } from "testing/directory_answers.ts";
import { requestToken } from "testing/flows.ts";
import { testKey } from "testing/keys.ts";
import { onboardOnly } from "testing/participants.ts";
import {
  assertRejected,
  MANY_REGISTRATIONS,
  NEWCOMER,
  postRegistration,
  statementWith,
} from "testing/registration.ts";
import { DIRECTORY_URL, type Environment, openEnvironment } from "testing/environment.ts";

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
    const { keys } = await bodyOf<StatementKeySet>(env.directory.fetch(request));
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
