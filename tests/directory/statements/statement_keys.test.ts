/** The keys that sign software statements, from one to the next: what is published, what signs, what the platform accepts. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { calculateJwkThumbprint, decodeProtectedHeader } from "jose";
import type { KeyFile } from "../../../scripts/operators/platform_keys/file.ts";
import { openStatementKeys } from "../../../src/directory/statements/statement_keys.ts";
import { openDirectoryFixture, runKeys } from "support/directory_process.ts";
import { bodyOf } from "testing/answers.ts";
import type { StatementKeySet } from "testing/directory_answers.ts";
import { ISSUER, openDirectoryEnvironment, START, thirdParty } from "testing/directory_environment.ts";
import { openLog } from "../../../src/base/observability/log.ts";
import { makePrivateJwk } from "testing/generate_keys.ts";
import type { KeepCopies } from "../../../src/platform/core/participants/kept_copy_store.ts";
import { openDirectoryKeys } from "../../../src/platform/core/participants/directory_keys.ts";
import { guardedFetch } from "../../../src/platform/core/participants/guarded_fetch.ts";

const DAY = 86_400;

const keepNothing: KeepCopies = () => ({
  load: () => Promise.resolve(undefined),
  keep: () => Promise.resolve(),
});

type StatementKey = Awaited<ReturnType<typeof makePrivateJwk>> & {
  readonly kid: string;
  readonly use: string;
};

async function key(times: { readonly nbf?: number; readonly exp?: number } = {}): Promise<StatementKey> {
  const jwk = await makePrivateJwk(2048);
  return {
    ...jwk,
    use: "sig",
    kid: await calculateJwkThumbprint({ kty: "RSA", n: jwk.n, e: jwk.e }),
    ...times,
  };
}

function kidOf(statement: string): string | undefined {
  return decodeProtectedHeader(statement).kid;
}

Deno.test("a next key is published before it signs, a former one until its statements have expired [E2] [E3]", async () => {
  const start = START / 1000;
  const [former, next] = [await key({ exp: start + 400 * DAY }), await key({ nbf: start + DAY })];
  const clock = { now: START };
  const statementKeys = await openStatementKeys(JSON.stringify({ keys: [former, next] }), () => clock.now);
  await using env = await openDirectoryEnvironment({ statementKeys });
  const published = async (): Promise<string[]> =>
    (await env.get("/jwks")).body.keys.map((jwk) => {
      assertEquals(Object.keys(jwk).sort(), ["alg", "e", "kid", "kty", "n", "use"], "public members only");
      return jwk.kid;
    });
  const { software_statement: first } =
    (await env.admin("POST", "/participants", await thirdParty([0, 1]))).body;
  assertEquals([kidOf(first ?? ""), await published()], [former.kid, [former.kid, next.kid]]);
  const newest = async (): Promise<string> =>
    (await env.get("/participants/SHOP/statement")).body.software_statement;
  assertEquals(kidOf(await newest()), former.kid);

  clock.now = env.now = START + DAY * 1000;
  const { software_statement: second } = (await env.admin("POST", "/participants/SHOP/statement")).body;
  assertEquals([kidOf(second), await published()], [next.kid, [next.kid, former.kid]]);
  assertEquals(kidOf(await newest()), next.kid);

  clock.now = env.now = START + 400 * DAY * 1000;
  assertEquals(await published(), [next.kid]);
});

Deno.test("the newest statement is signed again when its key is no longer held [E2]", async () => {
  const [former, next] = [await key(), await key()];
  const statementKeys = await openStatementKeys(JSON.stringify({ keys: [former] }), () => START);
  await using env = await openDirectoryEnvironment({ statementKeys });
  await env.admin("POST", "/participants", await thirdParty([0, 1]));
  await env.get("/participants/SHOP/statement");
  await statementKeys.renew(JSON.stringify({ keys: [next] })); // the former one is compromised
  const { software_statement } = (await env.get("/participants/SHOP/statement")).body;
  assertEquals(kidOf(software_statement), next.kid);
  await assertRejects(() => statementKeys.renew('{"keys":[]}'), Error);
  assertEquals(statementKeys.signer.kid, next.kid, "a set that cannot be used changes nothing");
});

Deno.test("the platform finds a next key as soon as it signs, whatever it had fetched before [A9]", async () => {
  const [former, next] = [await key(), await key({ nbf: START / 1000 + DAY })];
  const clock = { now: START };
  const statementKeys = await openStatementKeys(JSON.stringify({ keys: [former] }), () => clock.now);
  await using env = await openDirectoryEnvironment({ statementKeys });
  const find = openDirectoryKeys({
    fetchJson: guardedFetch({
      fetch: ((input, init) => env.fetch(new Request(input, init))) as typeof fetch,
      allowedHosts: [new URL(ISSUER).host],
      loopbackHttp: false,
    }),
    ages: () => clock.now,
    keep: keepNothing,
    log: openLog({ clock: () => clock.now, sink: () => {}, level: "info" }),
    jwksUri: `${ISSUER}/jwks`,
  });
  assert(await find(former.kid) !== undefined);
  await statementKeys.renew(JSON.stringify({ keys: [former, next] }));
  clock.now += 60_000;
  assert(await find(next.kid) !== undefined, "an unknown kid is fetched for");
  assert(await find(former.kid) !== undefined);
});

Deno.test("directory-keys makes, rotates and retires keys that a running directory takes on SIGHUP [E2]", async () => {
  await using fixture = await openDirectoryFixture();
  const process = await fixture.start();
  try {
    await process.ready;
    const published = async (): Promise<string[]> =>
      (await bodyOf<StatementKeySet>(fetch(`${fixture.url}/jwks`))).keys.map(({ kid }) => kid);
    const [first] = await published();
    await fixture.keys("rotate --lead 1h");
    await assertRejects(() => fixture.keys("rotate"), Error, "A next key waits already");
    const reloaded = (): Promise<unknown> => process.logged("directory.keys_renewed");
    process.kill("SIGHUP");
    await reloaded();
    const both = await published();
    assertEquals([both.length, both[0]], [2, first]);
    const shown = await fixture.keys("show");
    assert(
      shown.includes(`${first}  signs, published until `) && shown.includes(`${both[1]}  signs from `),
      shown,
    );
    await assertRejects(
      () => fixture.keys(`retire --kid ${first}`),
      Error,
      "has no key whose nbf has passed",
    );
    await assertRejects(() => fixture.keys("retire"), Error, "No key's time has passed.");
    await assertRejects(() => fixture.keys("make"), Error, "exists already");
    assertEquals(((await Deno.stat(`${fixture.own}/signing-keys.json`)).mode ?? 0) & 0o777, 0o600);
    const stored = await Deno.readTextFile(`${fixture.own}/signing-keys.json`);
    const rejected = async (why: string): Promise<void> => {
      process.kill("SIGHUP");
      await process.logged("directory.keys_not_renewed", (line) => String(line["why"]).includes(why));
      assertEquals((await published()).length, 2, "the keys before are still in use");
    };
    const { keys: [one] } = JSON.parse(stored) as KeyFile;
    const ofSandbox = JSON.stringify({ environment: "sandbox", keys: [one] });
    await Deno.writeTextFile(`${fixture.own}/signing-keys.json`, ofSandbox);
    await rejected("sandbox keys");
    await Deno.chmod(`${fixture.own}/signing-keys.json`, 0o644);
    await rejected("chmod 600");
    const said = shown + JSON.stringify(process.lines);
    for (const { d, p } of (JSON.parse(stored) as KeyFile).keys) {
      assert(!said.includes(d ?? "?") && !said.includes(p ?? "?"));
    }
  } finally {
    process.kill("SIGTERM");
    assertEquals((await process.ended).code, 0);
  }
});

Deno.test("directory-keys rejects what it does not know, in one sentence [E2]", async () => {
  const folder = await Deno.makeTempDir();
  const rejected: readonly [string, string][] = [
    ["frobnicate", "There is no command frobnicate"],
    ["make", "--file is missing; --help lists the options."],
    [`make --file ${folder}/keys.json --bits 1024`, "--bits must be"],
    ["make --file keys.json --lead 1h", "Unknown option '--lead'"],
    ["rotate --file /nowhere/keys.json --lead soon", "cannot be"],
    ["show --file /nowhere/keys.json", "cannot be read"],
    [`make --file ${folder}/keys.json --from /nowhere/key.pem`, "cannot be read"],
  ];
  for (const [line, words] of rejected) await assertRejects(() => runKeys(line.split(" ")), Error, words);
  await Deno.remove(folder, { recursive: true });
});
