/** The platform's keys change while payments run: SIGHUP, no restart, and no bank notices (Decision A11). */
import { assertEquals } from "@std/assert";
import { compactDecrypt, createLocalJWKSet, type JSONWebKeySet, jwtVerify } from "jose";
import { bodyOf } from "testing/answers.ts";
import { IN_FILE } from "../../../../scripts/operators/platform_keys/making.ts";
import { platformKeys } from "../../../../scripts/operators/platform_keys/main.ts";
import { clientToken, createConsent, good, pay, push } from "testing/flows.ts";
import {
  authorised,
  authorize,
  Browser,
  type HandoverClaims,
  putAccounts,
  returnPath,
  toBank,
} from "testing/authorization_flow.ts";
import type { Participant } from "testing/participants.ts";
import { openServedEnvironment, type ServedEnvironment } from "testing/served_environment.ts";
import { AUTH_URL } from "testing/environment.ts";

Deno.test("key rotation loses no payment, and suits banks that have read the keys before", async (t) => {
  const RATE_LIMITS = ["authorization", "consents", "payments", "reads", "back_channel"].map((group) =>
    `${group}=1000/2000`
  );
  await using env = await openServedEnvironment({ PLATFORM_RATE_LIMITS: RATE_LIMITS.join(",") });
  const before = await published(env);
  const [oldSig = "", oldEnc = ""] = before.keys.map(({ kid }) => kid ?? "");
  const traffic = keepPaying(env);

  await command(env, "rotate", "--lead", "6s", "--keep", "1h");
  await renew(env, 1);
  const during = await published(env);
  const [newSig = "", newEnc = ""] = during.keys.slice(2).map(({ kid }) => kid ?? "");
  await t.step("the next keys are published after those in use, which still sign", async () => {
    assertEquals(during.keys.map(({ kid, use }) => [use, kid]), [
      ["sig", oldSig],
      ["enc", oldEnc],
      ["sig", newSig],
      ["enc", newEnc],
    ]);
    assertEquals(await handoverKid(env, env.bankA, before), oldSig);
  });

  while ((await published(env)).keys[0]?.kid !== newSig) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await t.step(
    "after the lead the new ones are used: a bank with the keys of the lead verifies",
    async () => {
      assertEquals((await published(env)).keys.map(({ kid }) => kid), [newSig, newEnc, oldSig, oldEnc]);
      for (const bank of [env.bankA, env.bankB]) assertEquals(await handoverKid(env, bank, during), newSig);
    },
  );
  await t.step("a bank that still seals to the old key returns", async () => {
    const flow = await toBank(env);
    await good(putAccounts(env, flow.bank, flow.consentId), 200);
    assertEquals((await flow.browser.open(await returnSealedTo(env, flow, before))).status, 303);
  });
  await t.step("every payment meanwhile was taken", async () => {
    await traffic.stop();
    assertEquals(env.process.lines.filter(({ status }) => Number(status) >= 400), []);
  });
  await t.step("a key that is retired at once opens nothing more", async () => {
    const flow = await toBank(env);
    await good(putAccounts(env, flow.bank, flow.consentId), 200);
    await command(env, "retire", "--kid", oldEnc);
    await renew(env, 2);
    assertEquals((await flow.browser.open(await returnSealedTo(env, flow, before))).status, 400);
    assertEquals((await flow.browser.open(await returnSealedTo(env, flow, during, 3))).status, 303);
  });
});

Deno.test("SIGHUP with keys that cannot be used keeps the old ones and says why", async () => {
  await using env = await openServedEnvironment();
  const file = env.fixture.env["PLATFORM_KEYS"] ?? "";
  const sound = await Deno.readTextFile(file);
  const before = await published(env);
  const sandbox = JSON.stringify({ environment: "sandbox", ...JSON.parse(sound) as JSONWebKeySet });
  for (const [count, text] of ["no JSON", '{"keys":[]}', sandbox].entries()) {
    await Deno.writeTextFile(file, text);
    env.process.kill("SIGHUP");
    while (loggedLines(env, "platform_keys.not_renewed").length <= count) {
      await env.browser(probe()).then(drain);
    }
    assertEquals(await published(env), before);
  }
  await Deno.writeTextFile(file, sound);
  await Deno.chmod(file, 0o644);
  env.process.kill("SIGHUP");
  while (loggedLines(env, "platform_keys.not_renewed").length <= 3) await env.browser(probe()).then(drain);
  assertEquals(
    loggedLines(env, "platform_keys.not_renewed").map(({ why }) => String(why).split(/[;\n]/)[0]),
    [
      "is not JSON",
      "is not a private JWK set with sig (kid, x5c, x5t, x5t#S256) and enc keys",
      "The configuration is not usable:",
      `others may open ${file}`,
    ],
  );
  await Deno.chmod(file, 0o600);
  await Deno.writeTextFile(env.fixture.env["PLATFORM_WRAPPING_KEYS"] ?? "", "no keys\n");
  env.process.kill("SIGHUP");
  while (loggedLines(env, "wrapping_keys.not_renewed").length === 0) await env.browser(probe()).then(drain);
  assertEquals(loggedLines(env, "platform_keys.not_renewed").length, 4, "each file has its own line");
  assertEquals((await pay(env, await authorised(env))).status, 201);
});

/** So many payments at least, however slow the computer is. */
const FEWEST = 5;

/** Pays one payment after the other. `stop` rejects with what one was answered that was not taken. */
function keepPaying(env: ServedEnvironment): { stop(): Promise<void> } {
  let stopping = false;
  const paying = (async () => {
    let count = 0;
    for (; !stopping || count < FEWEST; count++) await good(pay(env, await authorised(env)), 201);
  })();
  paying.catch(() => {}); // thrown by stop
  return {
    stop(): Promise<void> {
      stopping = true;
      return paying;
    },
  };
}

async function command(env: ServedEnvironment, verb: string, ...options: string[]): Promise<void> {
  const file = env.fixture.env["PLATFORM_KEYS"] ?? "";
  await platformKeys([verb, "--file", file, ...options], {
    print: () => {},
    now: Date.now(),
    custody: IN_FILE,
  });
}

async function renew(env: ServedEnvironment, times: number): Promise<void> {
  env.process.kill("SIGHUP");
  while (loggedLines(env, "platform_keys.renewed").length < times) await env.browser(probe()).then(drain);
}

function loggedLines(env: ServedEnvironment, event: string): ServedEnvironment["process"]["lines"] {
  return env.process.lines.filter((line) => line["event"] === event);
}

async function published(env: ServedEnvironment): Promise<JSONWebKeySet> {
  return await bodyOf<JSONWebKeySet>(env.browser(new Request(`${AUTH_URL}/jwks`)));
}

/** A handover JWT to the bank, verified with a copy of the platform's keys; gives the kid that signed it. */
async function handoverKid(
  env: ServedEnvironment,
  bank: Participant,
  keys: JSONWebKeySet,
): Promise<string | undefined> {
  const bound = await clientToken(env, env.tpp, bank.orgId);
  const consentId = (await createConsent(env, bound, undefined, bank.orgId)).Data.ConsentId;
  const { request_uri: uri } = await good(push(env, consentId, { bank: bank.orgId }), 201);
  const departure = await authorize(new Browser(env), env.tpp, uri, bank.orgId);
  const sealed = new URL(departure.headers.get("location") ?? "").searchParams.get("oAuthUrl") ?? "";
  const recipient = bank.encryption ?? bank.transport;
  const { plaintext } = await compactDecrypt(sealed, await recipient.key.privateKey("decrypt"));
  const { protectedHeader, payload } = await jwtVerify(plaintext, createLocalJWKSet(keys), {
    algorithms: ["PS256"],
  });
  assertEquals(payload["ref_id"], consentId);
  return protectedHeader.kid;
}

/** The bank's return, sealed to the encryption key at a place in a copy of the platform's keys. */
function returnSealedTo(
  env: ServedEnvironment,
  flow: { bank: Participant; handover: HandoverClaims },
  keys: JSONWebKeySet,
  place = 1,
): Promise<string> {
  const copy = { keys: [keys.keys[place]] };
  const reading = { ...env, now: env.now, browser: () => Promise.resolve(Response.json(copy)) };
  return returnPath(reading, flow.bank, flow.handover);
}

function probe(): Request {
  return new Request(`${AUTH_URL}/health/live`);
}

async function drain(response: Response): Promise<void> {
  await response.body?.cancel();
}
