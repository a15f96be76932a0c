/**
 * How the platform fetches participants' keys and what it does without them (Decision A9; contract DC4, DC-N22). Which
 * members of a published key set are believed, and for what (contract DC15, DC17; Decisions A10, E4).
 */
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
import type { KeySet, StatementKeySet } from "testing/directory_answers.ts";
import { requestToken, tokenStatus } from "testing/flows.ts";
import { largeTestKey, smallTestKey, testKey } from "testing/keys.ts";
import { type CertifiedKey, onboardOnly, type Participant } from "testing/participants.ts";
import {
  assertRejected,
  MANY_REGISTRATIONS,
  NEWCOMER,
  postRegistration,
  statementWith,
} from "testing/registration.ts";
import { DIRECTORY_URL, type Environment, openEnvironment } from "testing/environment.ts";
import { putAccounts, returnPath, toBank } from "testing/authorization_flow.ts";
import { steps } from "support/steps.ts";
import { test } from "support/environment_test.ts";

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

type Member = Readonly<Record<string, unknown>>;

/** From now on the directory publishes the participant's keys as edited. */
function publish(
  env: Environment,
  who: Participant,
  edit: (keys: Member[]) => unknown[],
  list: 0 | 1 = 0,
): void {
  env.network = forUrls(env, ({ href }) => href === keyUrls(who)[list], async (request) => {
    const { keys } = await bodyOf<KeySet>(env.directory.fetch(request));
    return Response.json({ keys: edit(keys) });
  });
  env.now += 900_001; // a younger former copy would be preferred to a set without usable keys
}

const isSigning = ({ use }: Member): boolean => use === "sig";
const isTransport = ({ use }: Member): boolean => use === "tls";

function onSigning(change: (key: Member) => Member): (keys: Member[]) => Member[] {
  return (keys) => keys.map((key) => isSigning(key) ? change(key) : key);
}

function without(name: string): (key: Member) => Member {
  return ({ [name]: _, ...rest }) => rest;
}

async function status(env: Environment, who = env.tpp): Promise<number> {
  return (await requestToken(env, who)).status;
}

test("a signing key is believed with every sensible spelling of its members [DC17]", async ({ env, t }) => {
  const good: Record<string, (key: Member) => Member> = {
    "as it is": (key) => key,
    "without alg": without("alg"),
    "without x5c and thumbprints": ({ kty, n, e, use, kid }) => ({ kty, n, e, use, kid }),
    "with key_ops verify": (key) => ({ ...key, key_ops: ["verify"] }),
    "with members that nobody knows": (key) => ({ ...key, x_note: { a: 1 } }),
    "with a padded kid [A11]": (key) => ({ ...key, kid: `${key.kid}=` }),
  };
  await steps(t, good, async (change) => {
    publish(env, env.tpp, onSigning(change));
    assertEquals(await status(env), 200);
  });
  await t.step("beside members that are no keys", async () => {
    publish(env, env.tpp, (keys) => [null, 1, "key", [], {}, { kid: 7 }, ...keys]);
    assertEquals(await status(env), 200);
  });
  await t.step("beside a transport key of the same kid [DC15]", async () => {
    const { kid } = env.tpp.signing;
    publish(env, env.tpp, (keys) => keys.map((key) => isTransport(key) ? { ...key, kid } : key));
    assertEquals(await status(env), 200);
  });
});

test("a signing key with anything wrong is no signing key [DC17] [DC5]", async ({ env, t }) => {
  const small = (await smallTestKey()).publicJwk;
  const bad: Record<string, (key: Member) => Member> = {
    "without use": without("use"),
    "use tls": (key) => ({ ...key, use: "tls" }),
    "use enc": (key) => ({ ...key, use: "enc" }),
    "use SIG": (key) => ({ ...key, use: "SIG" }),
    "use as a list": (key) => ({ ...key, use: ["sig"] }),
    "alg RS256": (key) => ({ ...key, alg: "RS256" }),
    "alg none": (key) => ({ ...key, alg: "none" }),
    "key_ops without verify": (key) => ({ ...key, key_ops: ["encrypt"] }),
    "without kid": without("kid"),
    "kid empty": (key) => ({ ...key, kid: "" }),
    "kid of another case": (key) => ({ ...key, kid: String(key["kid"]).toLowerCase() + "X" }),
    "kty EC": (key) => ({ ...key, kty: "EC" }),
    "kty oct": ({ kid }) => ({ kty: "oct", k: "c2VjcmV0", kid, use: "sig" }),
    "e of 3": (key) => ({ ...key, e: "Aw" }),
    "n with a leading zero": (key) => ({ ...key, n: `AA${key.n}` }),
    "n of another key": (key) => ({ ...key, n: env.otherTpp.signing.key.publicJwk.n }),
    "a private member": (key) => ({ ...key, d: "AQAB" }),
    "a key of 1024 bits": (key) => ({ ...key, ...small }),
  };
  await steps(t, bad, async (change) => {
    publish(env, env.tpp, onSigning(change));
    assertEquals(await status(env), 401);
  });
  await t.step("the set was the only fault", async () => {
    publish(env, env.tpp, (keys) => keys);
    assertEquals(await status(env), 200);
  });
});

test("of two signing keys under one kid neither is used, in either order [DC15]", async ({ env, t }) => {
  const outsider = await testKey(10);
  const twin = ({ kid }: Member): Member => ({ ...outsider.publicJwk, kid, use: "sig", alg: "PS256" });
  const orders: Record<string, (keys: Member[]) => Member[]> = {
    "the outsider's last": (keys) => [...keys, ...keys.filter(isSigning).map(twin)],
    "the outsider's first": (keys) => [...keys.filter(isSigning).map(twin), ...keys],
    "the outsider's under a padded kid [A11]": (keys) => [
      ...keys,
      ...keys.filter(isSigning).map((key) => ({ ...twin(key), kid: `${key.kid}=` })),
    ],
  };
  await steps(t, orders, async (edit) => {
    publish(env, env.tpp, edit);
    assertEquals(await status(env), 401);
    const { tpp } = env;
    assertEquals(await status(env, { ...tpp, signing: { ...tpp.signing, key: outsider } }), 401);
  });
});

test("a kid in the revoked set is revoked, whatever else is said about it [A9] [DC5]", async ({ env, t }) => {
  const { kid } = env.tpp.signing;
  const entries: Record<string, unknown> = {
    "with nothing but its kid": { kid },
    "with padding [A11]": { kid: `${kid}=` },
    "with another use": { kid, kty: "RSA", use: "tls" },
    "with another key": { kid, ...(await testKey(10)).publicJwk, use: "sig" },
  };
  await steps(t, entries, async (entry) => {
    publish(env, env.tpp, () => [null, entry], 1);
    assertEquals(await status(env), 401);
  });
  await t.step("a transport key's as well", async () => {
    publish(env, env.tpp, () => [{ kid: env.tpp.transport.kid }], 1);
    assertEquals(await status(env), 401);
  });
  await t.step("another kid is not", async () => {
    publish(env, env.tpp, () => [{ kid: "another" }], 1);
    assertEquals(await status(env), 200);
  });
});

test("a key is good for its use alone: sig signs, tls opens connections [DC17] [DC11]", async ({ env, t }) => {
  const { tpp, bankA } = env;
  const signedBy = (signing: CertifiedKey): Participant => ({ ...tpp, signing });
  await t.step("a tls key signs no assertion", async () => {
    assertEquals(await status(env, signedBy(tpp.transport)), 401);
  });
  await t.step("a sig key opens no connection", async () => {
    assertEquals(await status(env, { ...tpp, transport: tpp.signing }), 401);
  });
  await t.step("an enc key does neither", async () => {
    const encryption = bankA.encryption ?? bankA.signing;
    assertEquals((await requestToken(env, { ...bankA, signing: encryption })).status, 401);
    assertEquals((await requestToken(env, { ...bankA, transport: encryption })).status, 401);
  });
  await t.step("a tls key signs no handover JWT of a bank", async () => {
    const flow = await toBank(env);
    assertEquals((await putAccounts(env, bankA, flow.consentId)).status, 200);
    const wrong = { ...bankA, signing: bankA.transport };
    assertEquals((await flow.browser.open(await returnPath(env, wrong, flow.handover))).status, 400);
    assertEquals((await flow.browser.open(await returnPath(env, bankA, flow.handover))).status, 303);
  });
});

test("a signing key of 3072 bits is good [DC17]", async ({ env }) => {
  const key = await largeTestKey();
  publish(env, env.tpp, (keys) => [...keys, { ...key.publicJwk, kid: "large", use: "sig" }]);
  const { tpp } = env;
  assertEquals(await status(env, { ...tpp, signing: { ...tpp.signing, key, kid: "large" } }), 200);
});
