/** Single use under real concurrency: 40 requests whose commits start together, and exactly one of them counts. */
import { assertEquals } from "@std/assert";
import { claiming } from "support/assertions.ts";
import { authentication, dpopKey } from "testing/flows.ts";
import { dpopProof } from "testing/jwts.ts";
import { type GatedStore, openGatedStore } from "support/gated_store.ts";
import {
  assertAccepted,
  assertApiError,
  clientCredentials,
  codeForm,
  codeGrant,
  type Expected,
  issueCode,
  oauthEndpoints,
  pushing,
} from "testing/oauth_requests.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { stepsOf } from "support/steps.ts";

const REPLAYED_ASSERTION = [401, "invalid_client"] as const;
const REPLAYED_PROOF = [400, "invalid_dpop_proof"] as const;

Deno.test("POST token, par answer one of 40 parallel requests with one assertion [CA-N19]", async (t) => {
  await using race = await openRace();
  const { env } = race;
  await stepsOf(t, await oauthEndpoints(env), (endpoint) => endpoint.name, async (endpoint) => {
    await endpoint.ready();
    const assertion = await claiming(env, {});
    await exactlyOne(race, await forty(() => endpoint.request(assertion)), REPLAYED_ASSERTION);
  });
  await t.step("token and PAR at once", async () => {
    const [token, par] = [clientCredentials(env), await pushing(env)];
    const assertion = await claiming(env, {});
    const requests = await forty((index) => (index % 2 === 0 ? token : par).request(assertion));
    await exactlyOne(race, requests, REPLAYED_ASSERTION);
  });
});

Deno.test("POST token, par answer one of 40 parallel requests with one DPoP proof [DP-N14, DP11]", async (t) => {
  await using race = await openRace();
  const { env } = race;
  for (const endpoint of [clientCredentials(env), await pushing(env)]) {
    await t.step(endpoint.name, async () => {
      const proof = await dpopProof(env, await dpopKey(), endpoint.target);
      await exactlyOne(race, await forty(() => endpoint.request({ proof })), REPLAYED_PROOF);
    });
  }
});

Deno.test("POST token, par answer one of 40 parallel requests whose jti was used long ago [CA-N19]", async (t) => {
  await using race = await openRace();
  const { env } = race;
  for (const endpoint of [clientCredentials(env), await pushing(env)]) {
    await t.step(`${endpoint.name}: assertion`, async () => {
      const jti = crypto.randomUUID();
      await assertAccepted(endpoint, await endpoint.send(await claiming(env, { jti })));
      env.now += 91_000;
      const assertion = await claiming(env, { jti });
      await exactlyOne(race, await forty(() => endpoint.request(assertion)), REPLAYED_ASSERTION);
    });
    await t.step(`${endpoint.name}: DPoP proof`, async () => {
      const jti = crypto.randomUUID();
      const made = async (): Promise<string> =>
        await dpopProof(env, await dpopKey(), endpoint.target, { claims: { jti } });
      await assertAccepted(endpoint, await endpoint.send({ proof: await made() }));
      env.now += 121_000;
      const proof = await made();
      await exactlyOne(race, await forty(() => endpoint.request({ proof })), REPLAYED_PROOF);
    });
  }
});

Deno.test("POST token redeems a code once of 40 parallel times [TA-N15, TA7]", async () => {
  await using race = await openRace();
  const { env } = race;
  const grant = codeGrant(env);
  await grant.ready();
  await exactlyOne(race, await forty(() => grant.request()), [400, "invalid_grant"], 0);
  const tokens = (await env.snapshot()).filter(({ value }) =>
    (value as { grant?: string }).grant === "authorization_code"
  );
  assertEquals(tokens, []); // a second right redemption revokes the first one's token (contract FAPI-D12)
});

Deno.test("POST token answers one of 40 copies of a redemption, and its token lives [TA-N15, CA-N19]", async () => {
  await using race = await openRace();
  const { env } = race;
  const grant = codeGrant(env);
  await grant.ready();
  const request = await grant.request({ key: await dpopKey() });
  await exactlyOne(race, await forty(() => Promise.resolve(request.clone())), REPLAYED_ASSERTION);
  const tokens = await env.store.list<{ grant: string }>({ prefix: ["access_token"], limit: 100 });
  assertEquals(tokens.filter(({ value }) => value.grant === "authorization_code").length, 1);
});

Deno.test("POST token counts at most five of 40 parallel wrong redemptions, then the code is void [TA8]", async () => {
  await using race = await openRace();
  const { env, store } = race;
  const flow = await issueCode(env);
  const wrong = { ...await codeForm(env, flow), code_verifier: "x".repeat(43) };
  const token = clientCredentials(env);
  const requests = await forty(async () =>
    token.request({ form: { ...wrong, ...await authentication(env, env.tpp, "BANKA"), scope: undefined } })
  );
  const responses = await store.together(requests.map((request) => () => env.api(request, env.tpp)));
  for (const response of responses) await assertApiError(response, [400, "invalid_grant"]);
  const right = await token.send({ form: await codeForm(env, flow) });
  await assertApiError(right, [400, "invalid_grant"]);
  const [code] = await env.store.list<{ failures: number }>({ prefix: ["authorization_code"], limit: 2 });
  assertEquals(code?.value.failures, 5);
});

interface Race extends AsyncDisposable {
  readonly env: Environment;
  readonly store: GatedStore;
}

async function openRace(): Promise<Race> {
  const store = await openGatedStore();
  const env = await openEnvironment({ store });
  return { env, store, [Symbol.asyncDispose]: () => env[Symbol.asyncDispose]() };
}

/** The number of stored entries, without the history of the consent and its evidence. */
async function entriesOf(env: Environment): Promise<number> {
  const history = ["audit", "evidence", "log_waiting"];
  return (await env.snapshot()).filter(({ key }) => !history.includes(key[0] ?? "")).length;
}

/** Sends them together; one succeeds, the others are rejected like this, and `made` entries came into being. */
async function exactlyOne(
  { env, store }: Race,
  requests: readonly Request[],
  rejection: Expected,
  made = 1,
): Promise<void> {
  const before = await entriesOf(env);
  const responses = await store.together(requests.map((request) => () => env.api(request, env.tpp)));
  const [won, ...more] = responses.filter(({ ok }) => ok);
  assertEquals([won === undefined, more.length], [false, 0]);
  for (const response of responses.filter(({ ok }) => !ok)) await assertApiError(response, rejection);
  await won?.body?.cancel();
  assertEquals(await entriesOf(env), before + made);
  assertEquals(env.logged.filter((line) => line.includes("request.failed")), []); // no loser is taken for a bug
}

function forty<T>(make: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: 40 }, (_, index) => make(index)));
}
