/** The directory publishes an empty or useless set in place of keys: a fault, unless it says why (Decision A9). */
import { assertEquals } from "@std/assert";
import {
  forUrls,
  keyUrls,
  readiness,
  revokeKey,
  serving,
  setOrganisation,
  STATUS_URL,
} from "support/directory_network.ts";
import { test } from "support/environment_test.ts";
import { bodyOf, type LogLine } from "testing/answers.ts";
import type { KeySet } from "testing/directory_answers.ts";
import { tokenStatus } from "testing/flows.ts";
import { onboardOnly } from "testing/participants.ts";
import { MANY_REGISTRATIONS, NEWCOMER, postRegistration, renewedStatement } from "testing/registration.ts";
import {
  hasLostKeys,
  type KeySet as KeySetOf,
} from "../../../../src/platform/core/participants/participant_keys.ts";
import { DIRECTORY_URL, type Environment, openEnvironment } from "testing/environment.ts";

function alarms(env: Environment, event: string, url = keyUrls(env.tpp)[0]): number {
  return env.logged.map((line) => JSON.parse(line) as LogLine).filter((line) =>
    line.event === event && line.level === "error" && line["url"] === url
  ).length;
}

type Key = Readonly<Record<string, unknown>>;

/** Serves the TPP's active keys as changed. */
async function publish(env: Environment, change: (keys: Key[]) => unknown[]): Promise<void> {
  const [url = ""] = keyUrls(env.tpp);
  const { keys } = await bodyOf<KeySet>(env.directory.fetch(new Request(url)));
  const text = JSON.stringify({ keys: change(keys) });
  env.network = forUrls(env, ({ href }) => href === url, serving(text));
}

const USELESS: Readonly<Record<string, (keys: Key[]) => unknown[]>> = {
  "no keys": () => [],
  "keys without a modulus": (keys) => keys.map(({ n: _, ...key }) => key),
  "keys that are no objects": (keys) => keys.map(({ kid }) => kid),
  "no signing keys": (keys) => keys.filter(({ use }) => use !== "sig"),
  "no transport keys": (keys) => keys.filter(({ use }) => use !== "tls"),
};

for (const [name, change] of Object.entries(USELESS)) {
  test(`a published set of ${name} is an alarm, and the former keys are used for what is left of 900 s [A9]`, async ({ env }) => {
    assertEquals(await tokenStatus(env), 200);
    await publish(env, change);
    env.now += 300_000;
    assertEquals([await tokenStatus(env), alarms(env, "participants.key_set_emptied")], [200, 1]);
    assertEquals((await readiness(env)).body.parts["directory"]?.ok, false);
    await env.restart();
    env.now += 599_000;
    assertEquals(await tokenStatus(env), 200);
    env.now += 31_000;
    assertEquals(await tokenStatus(env), 401, "from now on the directory's word counts");
  });
}

Deno.test("keys that are revoked are revoked, also in a set that is empty for a fault [A9]", async (t) => {
  await t.step("all of them: no alarm", async () => {
    await using env = await openEnvironment();
    assertEquals(await tokenStatus(env), 200);
    for (const key of [env.tpp.signing, env.tpp.transport]) await revokeKey(env, env.tpp, key);
    env.now += 15_000;
    assertEquals([await tokenStatus(env), alarms(env, "participants.key_set_emptied")], [401, 0]);
  });
  await t.step("one of two uses", async () => {
    await using env = await openEnvironment();
    assertEquals(await tokenStatus(env), 200);
    await revokeKey(env, env.tpp, env.tpp.signing);
    await publish(env, () => []);
    env.now += 15_000;
    assertEquals([await tokenStatus(env), alarms(env, "participants.key_set_emptied")], [401, 1]);
    const down = (): Promise<Response> => Promise.reject(new TypeError("connection refused"));
    env.network = down;
    await env.restart();
    assertEquals(await tokenStatus(env), 401, "after a restart too");
  });
  await t.step("of a participant that is suspended: no alarm", async () => {
    await using env = await openEnvironment();
    assertEquals(await tokenStatus(env), 200);
    await setOrganisation(env, env.tpp, "Suspended");
    env.now += 15_000;
    assertEquals([await tokenStatus(env), alarms(env, "participants.key_set_emptied")], [401, 0]);
  });
});

test("an empty status list is an alarm, and the former one is used for what is left of 900 s [A9] [G5]", async ({ env }) => {
  assertEquals(await tokenStatus(env), 200);
  env.network = forUrls(env, ({ href }) => href === STATUS_URL, serving('{"participants":[]}'));
  env.now += 15_000;
  assertEquals([await tokenStatus(env), alarms(env, "participants.status_list_emptied", STATUS_URL)], [
    200,
    1,
  ]);
  env.now += 885_000;
  assertEquals(await tokenStatus(env), 200);
  env.now += 10_001;
  assertEquals(await tokenStatus(env), 401);
});

Deno.test("an empty set of the directory's own keys is an alarm, and the former keys are used for what is left of 900 s [A9] [DC2]", async () => {
  await using env = await openEnvironment({ ...MANY_REGISTRATIONS, registersItself: true });
  const newcomer = await onboardOnly(env, NEWCOMER);
  const url = `${DIRECTORY_URL}/jwks`;
  const register = async (): Promise<unknown> => {
    env.now += 1000; // a statement of another second
    const statement = await renewedStatement(env, newcomer);
    const answer = await postRegistration(env, newcomer, { statement });
    await answer.body?.cancel();
    return [answer.status, alarms(env, "participants.key_set_emptied", url)];
  };
  assertEquals(await register(), [201, 0]);
  env.network = forUrls(env, ({ href }) => href === url, serving('{"keys":[]}'));
  env.now += 300_000;
  assertEquals(await register(), [201, 1]);
  env.now += 599_000;
  assertEquals(await register(), [400, 1], "from now on the directory's word counts");
});

Deno.test("a set has lost its keys if it has none left to sign or to connect with [A9]", () => {
  const set = (signing: number, transport: number): KeySetOf => ({
    signing: new Map(Array.from({ length: signing }, (_, kid) => [String(kid), {} as CryptoKey])),
    transport: new Set(Array.from({ length: transport }, (_, key) => String(key))),
    encryption: [],
    published: { active: [], revoked: [] },
  });
  const lost = [[2, 2], [1, 0], [0, 1], [0, 0]].map(([signing = 0, transport = 0]) =>
    [[1, 1], [1, 0], [0, 1], [0, 0]].map(([s = 0, t = 0]) => hasLostKeys(set(signing, transport), set(s, t)))
  );
  assertEquals(lost, [
    [false, true, true, true],
    [false, false, true, true],
    [false, true, false, true],
    [false, false, false, false],
  ]);
});
