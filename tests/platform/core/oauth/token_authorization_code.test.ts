/** `POST /{BANK}/token.oauth2/v1`, authorization code: what a code is good for, how long, once, and for whom. */
import { assertEquals, assertMatch } from "@std/assert";
import { Place } from "../../../../src/base/http/fair_lane.ts";
import { bodyOf, type TokenAnswer } from "testing/answers.ts";
import { clientToken, consentBody, dpopKey, good, pay } from "testing/flows.ts";
import { redeem } from "testing/authorization_flow.ts";
import { historyOf } from "testing/histories.ts";
import { dpopProof, thumbprint } from "testing/jwts.ts";
import {
  assertAccepted,
  assertApiError,
  assertRejected,
  codeGrant,
  issueCode,
  type IssuedCode,
} from "testing/oauth_requests.ts";
import { adminCall } from "testing/participants.ts";
import { BASE_URL, type Environment } from "testing/environment.ts";
import { assertChallenge } from "testing/resource_answers.ts";
import { test } from "support/environment_test.ts";
import { sha256 } from "../../../../src/base/kernel/identifiers.ts";

const INVALID_GRANT = [400, "invalid_grant"] as const;

test("POST token redeems a code for a token that is bound to its consent, bank, client and key [TA6, TA10, TA11, DP13]", async ({ env }) => {
  const flow = await issueCode(env);
  const response = await redeem(env, flow);
  const { access_token: token, ...rest } = await bodyOf(response);
  assertEquals(response.status, 200);
  assertEquals(rest, { token_type: "DPoP", expires_in: 3600, scope: "payments" });
  assertMatch(token, /^[A-Za-z0-9_-]{43}$/);
  assertEquals(response.headers.get("cache-control"), "no-store");
  assertEquals((await env.store.get(["access_token", await sha256(token)]))?.value, {
    clientId: env.tpp.clientId,
    registration: 1,
    bank: "BANKA",
    scope: "payments",
    grant: "authorization_code",
    consentId: flow.consentId,
    jkt: await thumbprint(await dpopKey()),
    expiresAt: env.now + 3_600_000,
    v: 1,
  });
  assertEquals((await payWith(env, flow, token)).status, 201);
});

test("POST token keeps the urgency of a request with a code, and makes every other an ordinary one", async ({ env }) => {
  const flow = await issueCode(env);
  const { demote } = Place.prototype;
  let demoted = 0;
  Place.prototype.demote = async function (): Promise<boolean> {
    demoted += 1;
    return await demote.call(this);
  };
  try {
    await clientToken(env, env.tpp);
    assertEquals(demoted, 1);
    assertEquals([(await redeem(env, flow)).status, demoted], [200, 1]);
  } finally {
    Place.prototype.demote = demote;
  }
});

test("POST token keeps codes hashed [FAPI-G21]", async ({ env }) => {
  const { code } = await issueCode(env);
  assertMatch(code, /^[A-Za-z0-9_-]{43}$/);
  const traces = JSON.stringify([await env.store.list({ prefix: [], limit: 1000 }), env.logged]);
  assertEquals(traces.includes(code), false);
});

test("POST token rejects a request without code [TA-N2]", async ({ env }) => {
  const flow = await issueCode(env);
  for (const code of [undefined, ""]) {
    await assertRejected(env, [400, "invalid_request"], () => redeem(env, flow, { form: { code } }));
  }
});

test("POST token rejects unknown codes [TA-N3]", async ({ env, t }) => {
  const flow = await issueCode(env);
  const { token } = await clientToken(env, env.tpp);
  const codes = {
    "random": "A".repeat(43),
    "cut": flow.code.slice(0, -1),
    "longer": `${flow.code}A`,
    "newline behind": `${flow.code}\n`,
    "in upper case": flow.code.toUpperCase(),
    "a token": token,
    "a request_uri": flow.requestUri,
    "20 kB": "A".repeat(20_000),
    "the store's key of it": await sha256(flow.code),
  };
  for (const [name, code] of Object.entries(codes)) {
    await t.step(name, () => assertRejected(env, INVALID_GRANT, () => redeem(env, flow, { form: { code } })));
  }
  const rejected = env.logged.filter((line) => line.includes('"event":"request.rejected"'));
  assertEquals(rejected.filter((line) => !line.includes('"detail":"unknown code"')), []);
});

test("POST token redeems a code for 60 seconds [TA-N4, LT9, J32, AUT-14]", async ({ env, t }) => {
  for (
    const [milliseconds, status] of [[0, 200], [59_000, 200], [59_999, 200], [60_000, 400], [62_000, 400]]
  ) {
    await t.step(`after ${milliseconds} ms`, async () => {
      const flow = await issueCode(env);
      env.now += milliseconds ?? 0;
      if (status === 200) await assertAccepted(codeGrant(env), await redeem(env, flow));
      else await assertRejected(env, INVALID_GRANT, () => redeem(env, flow));
    });
  }
});

test("POST token rejects a code's second use and revokes the first one's token [TA-N5, TA9, FAPI-D12, AUT-14]", async ({ env }) => {
  const flow = await issueCode(env);
  const token = await tokenOf(redeem(env, flow));
  env.now += 1000;
  await assertRejectedReuse(env, flow);
  await assertDead(env, flow, token);
  await assertRejectedReuse(env, flow); // and again, when all tokens are revoked already
  const reuses = env.logged.filter((line) => line.includes('"event":"security.code_reuse"'));
  assertEquals(reuses.length, 2);
  const history = await historyOf(env.store, flow.consentId);
  const [issued, revoked, ...more] = history.map(({ event, issued }) => [event, issued?.token]).slice(-2);
  assertEquals([issued?.[0], revoked, more], [
    "consent.token_issued",
    ["consent.token_revoked", issued?.[1]],
    [],
  ]);
});

test("POST token notices a second use for as long as the token may live [TA-N5, 2.2]", async ({ env }) => {
  const flow = await issueCode(env);
  const token = await tokenOf(redeem(env, flow));
  env.now += 3_599_000;
  assertEquals((await env.store.get(["access_token", await sha256(token)])) === null, false);
  await assertRejectedReuse(env, flow);
  await assertDead(env, flow, token);
});

test("POST token leaves the token alone where the second use is wrong in itself [TA-N6, FAPI-D12]", async ({ env, t }) => {
  const wrong: Record<string, (flow: IssuedCode) => Promise<Response>> = {
    "bad verifier": (flow) => redeem(env, flow, { form: { code_verifier: "x".repeat(43) } }),
    "no verifier": (flow) => redeem(env, flow, { form: { code_verifier: undefined } }),
    "other redirect_uri": (flow) =>
      redeem(env, flow, { form: { redirect_uri: "https://shop.example/other" } }),
    "other client": (flow) =>
      redeem(env, flow, { client: env.otherTpp, form: { redirect_uri: env.tpp.redirectUris[0] } }),
    "other bank": (flow) => redeem(env, flow, { bank: "BANKB" }),
  };
  for (const [name, reuse] of Object.entries(wrong)) {
    await t.step(name, async () => {
      const flow = await issueCode(env);
      const token = await tokenOf(redeem(env, flow));
      await assertRejected(env, INVALID_GRANT, () => reuse(flow));
      assertEquals((await payWith(env, flow, token)).status, 201);
    });
  }
});

test("POST token takes a copy of the whole redemption for a replayed assertion, and leaves the token alone [TA-N6, CA-N17]", async ({ env }) => {
  const grant = codeGrant(env);
  await grant.ready();
  const request = await grant.request();
  const copy = request.clone();
  const token = await tokenOf(env.api(request, env.tpp));
  await assertRejected(env, [401, "invalid_client"], () => env.api(copy, env.tpp));
  assertEquals((await env.store.get(["access_token", await sha256(token)])) === null, false);
});

test("POST token leaves the token alone where a second use comes by another key than PAR's [TA-N6, TA-N12]", async ({ env }) => {
  const flow = await issueCode(env, { form: { dpop_jkt: await thumbprint(await dpopKey()) } });
  const token = await tokenOf(redeem(env, flow));
  const key = env.otherTpp.signing.key;
  await assertRejected(env, [400, "invalid_dpop_proof"], () => redeem(env, flow, { key }));
  assertEquals((await payWith(env, flow, token)).status, 201);
});

test("POST token ignores a scope with a code [TA-N16]", async ({ env, t }) => {
  for (const scope of ["payments", "payments bank admin", "openid"]) {
    await t.step(scope, async () => {
      const flow = await issueCode(env);
      await assertAccepted(codeGrant(env), await redeem(env, flow, { form: { scope } }));
    });
  }
});

test("POST token rejects a code whose consent is no longer Authorized [TA-N17, TA12]", async ({ env, t }) => {
  for (const status of ["Rejected", "Consumed", "AwaitingAuthorisation"]) {
    await t.step(status, async () => {
      const flow = await issueCode(env);
      const key = ["consent", flow.consentId];
      const consent = await env.store.get<object>(key);
      await env.store.commit({
        checks: [],
        writes: [{ kind: "set", key, value: { ...consent?.value, status } }],
      });
      await assertRejected(env, INVALID_GRANT, () => redeem(env, flow));
    });
  }
});

test("POST token rejects a code of a client that is no longer active [TA12, CA-N23]", async ({ env }) => {
  env.now += 290_000; // the platform's copy of the keys is that old
  const flow = await issueCode(env);
  const status = { status: "Inactive", reason: "test" };
  await adminCall(env, "PUT", `/participants/${env.tpp.orgId}/software/status`, status);
  env.now += 15_000; // the status list says it by then
  await assertRejected(env, [401, "invalid_client"], () => redeem(env, flow));
});

test("POST token takes the key that PAR was given, by dpop_jkt or by proof [TA-N18, TA6]", async ({ env, t }) => {
  const key = await dpopKey();
  const parProof = (): Promise<string> =>
    dpopProof(env, key, { method: "POST", url: `${BASE_URL}/BANKA/par.oauth2/v1` });
  const options = {
    "dpop_jkt alone": { form: { dpop_jkt: await thumbprint(key) } },
    "DPoP header alone": { headers: { dpop: await parProof() } },
    "both": { form: { dpop_jkt: await thumbprint(key) }, headers: { dpop: await parProof() } },
  };
  for (const [name, option] of Object.entries(options)) {
    await t.step(name, async () => {
      const flow = await issueCode(env, option);
      await assertAccepted(codeGrant(env), await redeem(env, flow, { key }));
    });
  }
});

/** Redeems a code again with an otherwise valid request. Asserts that only codes, tokens and the history change. */
async function assertRejectedReuse(env: Environment, flow: IssuedCode): Promise<void> {
  const others = async (): Promise<unknown> =>
    (await env.snapshot()).filter(({ key }) =>
      !["authorization_code", "access_token", "audit", "consent", "log_waiting"].includes(key[0] ?? "")
    );
  const before = await others();
  await assertApiError(await redeem(env, flow), INVALID_GRANT);
  assertEquals(await others(), before);
}

async function assertDead(env: Environment, flow: IssuedCode, token: string): Promise<void> {
  const response = await payWith(env, flow, token);
  await assertChallenge(response, 401, 'DPoP error="invalid_token", algs="PS256"');
  assertEquals(await env.store.get(["access_token", await sha256(token)]), null);
}

async function payWith(env: Environment, flow: IssuedCode, token: string): Promise<Response> {
  return await pay(env, { ...flow, body: consentBody(), payment: { token, key: await dpopKey() } });
}

async function tokenOf(answer: Promise<Response>): Promise<string> {
  return (await good<TokenAnswer>(answer, 200)).access_token;
}
