/** Data that the platform writes before a signature is verified: rate limit counters, and visits of pushed links. */
import { assert, assertEquals } from "@std/assert";
import { asAssertion } from "support/assertions.ts";
import { sealedReturn, signedReturn } from "testing/bank_return.ts";
import { call, clientToken, consentBody, createConsent, good, push, requestToken } from "testing/flows.ts";
import { authorize, Browser, toBank } from "testing/authorization_flow.ts";
import { reportAccounts } from "testing/front_channel.ts";
import { clientAssertion, dpopProof, payloadSignature, signJwt } from "testing/jwts.ts";
import { register, registrationClaims } from "testing/participants.ts";
import { AUTH_URL, BASE_URL, type Environment, openEnvironment } from "testing/environment.ts";
import { steps } from "support/steps.ts";

const CONSENTS = "/BANKA/domestic-payment-consents/v1";

/** The kinds of entries that `act` added, changed or removed. */
async function written(env: Environment, act: () => Promise<unknown>): Promise<readonly string[]> {
  const read = async (): Promise<Map<string, string>> =>
    new Map(
      (await env.store.list({ prefix: [], limit: 10_000 })).map((
        { key, version },
      ) => [JSON.stringify(key), version]),
    );
  const before = await read();
  await act();
  const after = await read();
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter((key) =>
    before.get(key) !== after.get(key)
  );
  return [...new Set(changed.map((key) => JSON.parse(key)[0]))].sort();
}

/** The same JWT with another signature. */
function forged(jwt: string): string {
  const [head, body, signature = ""] = jwt.split(".");
  return `${head}.${body}.${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`;
}

type Attempt = (env: Environment) => Promise<Response>;

const ATTEMPTS: Readonly<Record<string, Attempt>> = {
  "a token by a forged assertion": async (env) =>
    await requestToken(
      env,
      env.tpp,
      "BANKA",
      asAssertion(forged(await clientAssertion(env, env.tpp, "BANKA"))),
    ),
  "a pushed request by a forged assertion": async (env) => {
    const { form } = asAssertion(forged(await clientAssertion(env, env.tpp, "BANKA")));
    return await push(env, crypto.randomUUID(), { form });
  },
  "a registration that another key signed": async (env) =>
    await register(
      env,
      env.tpp,
      await signJwt({ ...env.tpp.signing, key: env.otherTpp.signing.key }, registrationClaims(env, env.tpp)),
    ),
  "a consent by a forged proof": async (env) => {
    const bound = { token: "A".repeat(43), key: env.tpp.signing.key };
    const proof = forged(await dpopProof(env, bound.key, { method: "POST", url: `${BASE_URL}${CONSENTS}` }));
    return await call(env, env.tpp, bound, CONSENTS, { body: JSON.stringify(consentBody()), proof });
  },
  "a link that nobody pushed": async (env) =>
    await authorize(new Browser(env), env.tpp, `urn:ietf:params:oauth:request_uri:${"A".repeat(43)}`),
  "a bank's return that nobody signed": async (env) =>
    await new Browser(env).open(await sealedReturn(env, "BANKA", "not a JWS")),
  "an operation without the operator's token": async (env) =>
    await env.browser(
      new Request(`${AUTH_URL}/operations/payment-orders/${crypto.randomUUID()}/redrive`, { method: "POST" }),
    ),
};

Deno.test("Before a signature is proven, nothing is written but counters of rate limits", async (t) => {
  await using env = await openEnvironment();
  await steps(t, ATTEMPTS, async (attempt, name) => {
    const kinds = await written(env, async () => {
      const answer = await attempt(env);
      await answer.body?.cancel();
      assert(answer.status >= 400, `${name}: ${answer.status}`);
    });
    assertEquals(kinds.filter((kind) => kind !== "rate_bucket"), []);
  });
});

Deno.test("A forged return in the right browser, and a forged payload of a proven caller, write no effect", async () => {
  await using env = await openEnvironment();
  const flow = await toBank(env);
  await reportAccounts(env, flow);
  const path = await sealedReturn(env, "BANKA", forged(await signedReturn(env, flow)));
  assertEquals(await written(env, () => flow.browser.open(path)), []);
  const bound = await clientToken(env, env.tpp);
  const body = JSON.stringify(consentBody());
  const signature = await payloadSignature(env, env.otherTpp, body);
  const kinds = await written(env, async () => {
    assertEquals((await call(env, env.tpp, bound, CONSENTS, { body, signature })).status, 400);
  });
  assertEquals(kinds.filter((kind) => kind !== "rate_bucket"), ["spent_jwt"]); // the proof was good: it is used up
});

Deno.test("Who opens a pushed link, with no signature, begins one authorization session, which ends by itself", async () => {
  await using env = await openEnvironment();
  const bound = await clientToken(env, env.tpp);
  const { Data } = await createConsent(env, bound);
  const pushed = await good(push(env, Data.ConsentId), 201);
  const kinds = await written(env, async () => {
    assertEquals((await authorize(new Browser(env), env.tpp, pushed.request_uri)).status, 303);
  });
  assert(kinds.includes("interaction"), kinds.join());
  assertEquals(
    kinds.filter((kind) => !["interaction", "open_flow", "pushed_request", "rate_bucket"].includes(kind)),
    [],
  );
  const consent = await env.store.get<{ status: string }>(["consent", Data.ConsentId]);
  assertEquals(consent?.value.status, "AwaitingAuthorisation");
});
