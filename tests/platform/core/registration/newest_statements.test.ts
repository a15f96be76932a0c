/**
 * A newer statement at the directory takes effect here within 15 s without a new registration. An older one never does.
 */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type LogLine, rejectionOf } from "testing/answers.ts";
import { historyOf } from "testing/histories.ts";
import type { Client } from "../../../../src/platform/core/registration/client.ts";
import { forUrls, serving } from "support/directory_network.ts";
import type { JsonObject } from "testing/jwts.ts";
import { clientToken, createConsent, good, push, requestToken } from "testing/flows.ts";
import { authorise, authorize, Browser, toBank } from "testing/authorization_flow.ts";
import type { Participant } from "testing/participants.ts";
import {
  MANY_REGISTRATIONS,
  postRegistration,
  renewedStatement,
  statementWith,
} from "testing/registration.ts";
import { anotherProcess } from "support/processes.ts";
import { BOUND_MS } from "support/standing.ts";
import { testWith } from "support/environment_test.ts";
import { openTestStore } from "testing/test_store.ts";
import type { Store } from "../../../../src/base/store/store.ts";
import {
  DIRECTORY_URL,
  type Environment,
  openEnvironment,
  SHOP_REDIRECTS,
  START,
} from "testing/environment.ts";
import { unchanged } from "testing/store_contents.ts";

const test = testWith(() => openEnvironment({ registersItself: true }));

const [KEPT = "", REMOVED = ""] = SHOP_REDIRECTS;
const NEW = "https://shop.example/new";

async function stored(env: Environment, { clientId }: Participant): Promise<Client> {
  const entry = await env.store.get<Client>(["client", clientId]);
  if (entry === null) throw new Error("no client");
  return entry.value;
}

/** The status of a pushed request with this redirect URI. */
async function pushTo(env: Environment, redirectUri: string): Promise<number> {
  const bound = await clientToken(env, env.tpp);
  const { ConsentId } = (await createConsent(env, bound)).Data;
  const answer = await push(env, ConsentId, { form: { redirect_uri: redirectUri } });
  await answer.body?.cancel();
  return answer.status;
}

/** A renewed statement whose `iat` is another second's; gives it. */
async function restate(env: Environment, who: Participant, changes: JsonObject): Promise<string> {
  env.now += 1000;
  return await renewedStatement(env, who, changes);
}

/** The directory's answer about the newest statement of the shop, replaced. */
function stating(env: Environment, statement: string): void {
  const path = `/participants/${env.tpp.orgId}/statement`;
  env.network = forUrls(
    env,
    ({ pathname }) => pathname === path,
    serving(JSON.stringify({ software_statement: statement })),
  );
}

Deno.test("PAR rejects a redirect URI 15 s after the directory has removed it; a new one needs a registration [G5]", async (t) => {
  await using env = await openEnvironment({ ...MANY_REGISTRATIONS, registersItself: true });
  assertEquals(await pushTo(env, REMOVED), 201);
  const statement = await restate(env, env.tpp, { redirect_uris: [KEPT, NEW] });
  env.now += BOUND_MS;
  await t.step("removed, kept, new", async () => {
    assertEquals([await pushTo(env, REMOVED), await pushTo(env, KEPT), await pushTo(env, NEW)], [
      400,
      201,
      400,
    ]);
  });
  await t.step(
    "the record, its statement and its history are those of the directory's newest word",
    async () => {
      const client = await stored(env, env.tpp);
      assertEquals([client.redirectUris, client.statementIssuedAt], [[KEPT], START / 1000 + 1]);
      const kept = await env.store.get<string>(["software_statement", env.tpp.clientId]);
      assertMatch(kept?.value ?? "", /^ey/);
      const history = await historyOf(env.store, env.tpp.clientId);
      assertEquals(history.map(({ event, actor }) => `${event} by ${actor}`), [
        `client.registered by ${env.tpp.clientId}`,
        "client.updated by directory",
      ]);
    },
  );
  await t.step("the same statement registers the new one, once", async () => {
    const changes = { statement, claims: { redirect_uris: [KEPT, NEW] } };
    assertEquals((await postRegistration(env, env.tpp, changes)).status, 201);
    assertEquals(await pushTo(env, NEW), 201);
    assertEquals((await postRegistration(env, env.tpp, changes)).status, 400);
  });
});

test("a link of before does not lead to a redirect URI that the directory has removed [G5]", async ({ env }) => {
  const bound = await clientToken(env, env.tpp);
  const { ConsentId } = (await createConsent(env, bound)).Data;
  const pushed = await good(push(env, ConsentId, { form: { redirect_uri: REMOVED } }), 201);
  await restate(env, env.tpp, { redirect_uris: [KEPT] });
  env.now += BOUND_MS;
  const answer = await authorize(new Browser(env), env.tpp, pushed.request_uri);
  assertEquals([answer.status, answer.headers.get("location")], [400, null]);
});

test("a customer at the bank does not return to a redirect URI that the directory has removed meanwhile [G5]", async ({ env }) => {
  const flow = await toBank(env, { form: { redirect_uri: REMOVED } });
  await restate(env, env.tpp, { redirect_uris: [KEPT] });
  env.now += BOUND_MS;
  const answer = await authorise(env, flow);
  assertEquals([answer.status, answer.headers.get("location")], [400, null]);
});

test("customers go to the bank's new SCA URL, and decide where its newest statement says [G5] [A5]", async ({ env }) => {
  const sca = "https://new.bank-a.example/login";
  await restate(env, env.bankA, { redirect_uris: [sca], consent_managedby_bank: true });
  env.now += BOUND_MS;
  const bound = await clientToken(env, env.tpp);
  const pushed = await good(push(env, (await createConsent(env, bound)).Data.ConsentId), 201);
  const departure = await authorize(new Browser(env), env.tpp, pushed.request_uri);
  assertStringIncludes(departure.headers.get("location") ?? "", `${sca}?oAuthUrl=`);
  const answer = await authorise(env, await toBank(env)); // by the bank's own screen now
  assertMatch(answer.headers.get("location") ?? "", /^https:\/\/shop\.example\/.*[?&]code=/);
});

test("background work applies a statement before anybody asks for its client [G5]", async ({ env }) => {
  await requestToken(env, env.tpp); // the list is known
  await restate(env, env.tpp, { redirect_uris: [KEPT], client_name: "Better Shop" });
  assertEquals(await env.platform.followDirectory(), 0); // asked a moment ago
  env.now += 10_000;
  assertEquals(await env.platform.followDirectory(), 1);
  const { redirectUris, softwareName } = await stored(env, env.tpp);
  assertEquals([redirectUris, softwareName], [[KEPT], "Better Shop"]);
  const { at: _, ...line } = JSON.parse(env.logged.at(-1) ?? "{}") as LogLine;
  assertEquals(line, {
    level: "info",
    event: "client.statement_applied",
    clientId: env.tpp.clientId,
    issuedAt: START / 1000 + 1,
  });
  await restate(env, env.tpp, { client_name: "Best Shop" });
  env.now += BOUND_MS;
  await requestToken(env, env.otherTpp); // fetches the list before background work does
  assertEquals(await env.platform.followDirectory(), 1);
  assertEquals((await stored(env, env.tpp)).softwareName, "Best Shop");
});

test("twenty parallel requests apply a statement once [G5]", async ({ env }) => {
  await restate(env, env.tpp, { redirect_uris: [KEPT] });
  env.now += BOUND_MS;
  env.fetched.length = 0;
  const answers = await Promise.all(Array.from({ length: 20 }, () => requestToken(env, env.tpp)));
  assertEquals(new Set(answers.map(({ status }) => status)), new Set([200]));
  const url = `${DIRECTORY_URL}/participants/${env.tpp.orgId}/statement`;
  assertEquals(env.fetched.filter((fetched) => fetched === url).length, 1);
  assertEquals((await historyOf(env.store, env.tpp.clientId)).length, 2);
});

Deno.test("a request that has read its client before a statement was applied gets the client of after [G5]", async () => {
  const store = await openTestStore();
  let hold: (() => Promise<void>) | undefined;
  const getMany: Store["getMany"] = async (keys) => {
    const read = await store.getMany(keys);
    if (keys.some(([name]) => name === "client")) await hold?.();
    return read as never;
  };
  await using env = await openEnvironment({
    registersItself: true,
    store: { ...store, getMany, get: async (key) => (await getMany([key]))[0] as never },
  });
  const { ConsentId } = (await createConsent(env, await clientToken(env, env.tpp))).Data;
  await restate(env, env.tpp, { redirect_uris: [KEPT] });
  env.now += BOUND_MS;
  const [hasRead, mayGoOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  hold = () => {
    hold = undefined;
    hasRead.resolve();
    return mayGoOn.promise;
  };
  const late = push(env, ConsentId, { form: { redirect_uri: REMOVED } });
  await hasRead.promise;
  assertEquals((await requestToken(env, env.tpp)).status, 200);
  mayGoOn.resolve();
  assertEquals((await late).status, 400);
});

test("three processes that hear of a statement at once apply it once, and none of them reports a failure [G5, M1]", async ({ env }) => {
  const all = [env.platform, await anotherProcess(env), await anotherProcess(env)];
  await Promise.all(all.map((platform) => platform.followDirectory())); // the list is known
  await restate(env, env.tpp, { redirect_uris: [KEPT] });
  env.now += BOUND_MS;
  env.logged.length = 0;
  assertEquals(await Promise.all(all.map((platform) => platform.followDirectory())), [1, 1, 1]);
  assertEquals((await historyOf(env.store, env.tpp.clientId)).length, 2);
  assertEquals(env.logged.filter((line) => (JSON.parse(line) as LogLine).level === "error"), []);
  await Promise.all(all.slice(1).map((platform) => platform.stop()));
});

const UNUSABLE: Readonly<Record<string, (env: Environment) => Promise<string>>> = {
  "one that the directory did not sign": async (env) =>
    await statementWith(env.tpp, {
      claims: { iat: START / 1000 + 1, software_redirect_uris: ["https://evil.example/"] },
      signer: env.tpp.signing,
    }),
  "an older one": (env) => Promise.resolve(env.tpp.statement),
  "one about another client": (env) => Promise.resolve(env.otherTpp.statement),
  "one about another client of this second": (env) =>
    statementWith(env.otherTpp, { claims: { iat: START / 1000 + 1 } }),
  "one about another organisation": (env) =>
    statementWith(env.tpp, { claims: { iat: START / 1000 + 1, org_id: "OTHER" } }),
  "one with another role": (env) =>
    statementWith(env.tpp, { claims: { iat: START / 1000 + 1, software_roles: ["ASPSP"] } }),
  "one for another environment": (env) =>
    statementWith(env.tpp, { claims: { iat: START / 1000 + 1, software_environment: "Sandbox" } }),
  "an expired one": (env) =>
    statementWith(env.tpp, { claims: { iat: START / 1000 + 1, exp: START / 1000 - 3600 } }),
  "no JWT": () => Promise.resolve("no JWT"),
};

for (const [name, make] of Object.entries(UNUSABLE)) {
  test(`in place of the newest statement, ${name} changes nothing, and is tried again [G5]`, async ({ env }) => {
    await restate(env, env.tpp, { redirect_uris: [KEPT] });
    const { network } = env;
    stating(env, await make(env));
    const before = await stored(env, env.tpp);
    env.now += BOUND_MS;
    assertEquals(await pushTo(env, REMOVED), 201); // by what is in force
    assertEquals(await stored(env, env.tpp), before);
    const [line = "{}"] = env.logged.filter((text) => text.includes("client.statement_not_applied"));
    const { clientId, why } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    assertEquals([clientId, typeof why], [env.tpp.clientId, "string"]);
    env.network = network;
    env.now += 10_000;
    assertEquals(await pushTo(env, REMOVED), 400);
  });
}

test("what the directory has replaced is in force for 900 s at most while its newest statement cannot be had [G5] [A9]", async ({ env }) => {
  await restate(env, env.tpp, { redirect_uris: [KEPT] });
  const { network } = env;
  env.network = forUrls(
    env,
    ({ pathname }) => pathname.endsWith("/statement"),
    () => Promise.resolve(new Response("{}", { status: 500 })),
  );
  env.now += BOUND_MS;
  assertEquals((await requestToken(env, env.tpp)).status, 200);
  env.now += 899_999;
  assertEquals((await requestToken(env, env.tpp)).status, 200);
  env.now += 1;
  const answer = await requestToken(env, env.tpp);
  assertEquals([answer.status, answer.headers.get("retry-after")], [503, "10"]);
  assertEquals((await requestToken(env, env.otherTpp)).status, 200);
  env.network = network;
  env.now += 10_000;
  assertEquals((await requestToken(env, env.tpp)).status, 200);
});

Deno.test("POST register rejects a statement older than the directory's newest [DC-N23] [FAPI-D17] [G5]", async () => {
  await using env = await openEnvironment({ ...MANY_REGISTRATIONS, registersItself: true });
  const second = await restate(env, env.tpp, { redirect_uris: [KEPT, REMOVED, NEW] });
  await restate(env, env.tpp, { redirect_uris: [KEPT] });
  env.now += BOUND_MS;
  const request = { statement: second, claims: { redirect_uris: [NEW] } };
  const answer = await unchanged(env, () => postRegistration(env, env.tpp, request));
  assertEquals([answer.status, (await rejectionOf(answer)).error], [400, "invalid_software_statement"]);
});
