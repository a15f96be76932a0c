/** Data that the platform writes before a signature is verified: rate limit counters, and visits of pushed links. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { asAssertion } from "support/assertions.ts";
import { rejectionOf } from "testing/answers.ts";
import { sealedReturn, signedReturn } from "testing/bank_return.ts";
import {
  call,
  clientToken,
  consentBody,
  createConsent,
  dpopKey,
  good,
  pay,
  push,
  requestToken,
} from "testing/flows.ts";
import { authorise, authorize, Browser, codeOf, redeem, toBank } from "testing/authorization_flow.ts";
import { reportAccounts } from "testing/front_channel.ts";
import { clientAssertion, dpopProof, payloadSignature, signJwt } from "testing/jwts.ts";
import { register, registrationClaims } from "testing/participants.ts";
import { AUTH_URL, BASE_URL, type Environment } from "testing/environment.ts";
import { testTemplate } from "testing/test_store.ts";
import { steps } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import type { Key } from "../../../../src/base/store/store.ts";

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
  return [...new Set(changed.map((key) => String((JSON.parse(key) as Key)[0])))].sort();
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

test("Before a signature is proven, nothing is written but counters of rate limits", async ({ env, t }) => {
  await steps(t, ATTEMPTS, async (attempt, name) => {
    const kinds = await written(env, async () => {
      const answer = await attempt(env);
      await answer.body?.cancel();
      assert(answer.status >= 400, `${name}: ${answer.status}`);
    });
    assertEquals(kinds.filter((kind) => kind !== "rate_bucket"), []);
  });
});

test("A forged return in the right browser, and a forged payload of a proven caller, write no effect", async ({ env }) => {
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
  const spent = testTemplate() === undefined ? "spent_jwts" : "spent_jwt"; // a file has those of a transaction in one row
  assertEquals(kinds.filter((kind) => kind !== "rate_bucket"), [spent]); // the proof was good: it is used up
});

test("Who opens a pushed link, with no signature, begins one authorization session, which ends by itself and is recorded", async ({ env }) => {
  const bound = await clientToken(env, env.tpp);
  const { Data } = await createConsent(env, bound);
  const pushed = await good(push(env, Data.ConsentId), 201);
  const temporary = ["authorization_session", "pushed_request", "rate_bucket"];
  const kinds = await written(env, async () => {
    assertEquals((await authorize(new Browser(env), env.tpp, pushed.request_uri)).status, 303);
  });
  assert(kinds.includes("authorization_session"), kinds.join());
  const recorded = kinds.filter((kind) => !temporary.includes(kind));
  assertEquals(recorded, ["audit", "consent", "evidence_document", "log_waiting"]);
  const consent = await env.store.get<{ status: string }>(["consent", Data.ConsentId]);
  assertEquals(consent?.value.status, "AwaitingAuthorisation");
});

test("A TPP and a browser cannot make a case file grow without bound: PAR and then the links of a consent end, and its payment is still made", async ({ env }) => {
  const flow = await toBank(env);
  const pushed = await good(push(env, flow.consentId), 201);
  await setSteps(env, flow.consentId, 199);
  await good(push(env, flow.consentId), 201);
  const rejected = await push(env, flow.consentId);
  const { error, error_description } = await rejectionOf(rejected);
  assertEquals([rejected.status, error], [400, "invalid_request"]);
  assertStringIncludes(
    error_description,
    "consent_id must be of a consent with fewer than 200 recorded steps",
  );
  assertEquals((await authorize(new Browser(env), env.tpp, pushed.request_uri)).status, 303);
  await setSteps(env, flow.consentId, 300);
  const late = await authorize(new Browser(env), env.tpp, pushed.request_uri);
  assertStringIncludes(late.headers.get("location") ?? "", "error=");
  const code = codeOf(await authorise(env, flow));
  const token = await good(redeem(env, { consentId: flow.consentId, code }), 200);
  const payment = { token: token.access_token, key: await dpopKey() };
  await good(pay(env, { ...flow, payment, body: consentBody() }), 201);
});

/** Sets the number of entries that the consent's history has. */
async function setSteps(env: Environment, consentId: string, sequence: number): Promise<void> {
  const entry = await env.store.get<object>(["consent", consentId]);
  if (entry === null) throw new Error("no consent");
  const value = { ...entry.value, sequence };
  await env.store.commit({ checks: [], writes: [{ kind: "set", key: entry.key, value }] });
}
