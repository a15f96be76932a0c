/** Expensive work comes last: a request that cheap checks reject costs no RSA operation (contract J14). */
import { assertEquals } from "@std/assert";
import { IMPLICIT, returnTo, sealedReturn, sealedUnderHeader, signedReturn } from "testing/bank_return.ts";
import { type Cost, costOf, FREE } from "support/crypto_meter.ts";
import {
  call,
  type CallOptions,
  clientToken,
  consentBody,
  createConsent,
  dpopKey,
  good,
  push,
  requestToken,
} from "testing/flows.ts";
import { authorize, Browser, toBank } from "testing/authorization_flow.ts";
import { clientAssertion, dpopProof, signJwt } from "testing/jwts.ts";
import { clientCredentials, codeGrant, pushing } from "testing/oauth_requests.ts";
import { onboardOnly } from "testing/participants.ts";
import { prepared } from "support/prepared_requests.ts";
import { NEWCOMER, postRegistration, registrationJwt, statementWith } from "testing/registration.ts";
import { BASE_URL, type Environment, openEnvironment } from "testing/environment.ts";

/** A request that is built first and measured when sent, with its expected cost and response. */
type Case = readonly [
  name: string,
  status: number,
  cost: Partial<Cost>,
  make: () => Promise<() => Promise<Response>>,
];

async function assertCosts(t: Deno.TestContext, cases: readonly Case[]): Promise<void> {
  for (const [name, status, expected, make] of cases) {
    await t.step(name, async () => {
      const send = await make();
      const { result, cost } = await costOf(send);
      assertEquals([result.status, cost], [status, { ...FREE, ...expected }]);
      await result.body?.cancel();
    });
  }
}

Deno.test("a good request costs its signatures, once each [J14]", async (t) => {
  await using env = await openEnvironment();
  const [code, par] = [codeGrant(env), await pushing(env)];
  await code.ready();
  const bound = await clientToken(env, env.tpp);
  const consentId = (await createConsent(env, bound)).Data.ConsentId;
  const consents = "/BANKA/domestic-payment-consents/v1";
  const newcomer = await onboardOnly(env, NEWCOMER);
  const sent = (act: (env: Environment) => Promise<unknown>) => async () => (await prepared(env, act)).send;
  const flow = await toBank(env, { body: IMPLICIT });
  await assertCosts(t, [
    ["token by client credentials", 200, { verified: 2 }, sent((w) => requestToken(w, w.tpp))],
    ["token by code", 200, { verified: 2 }, async () => {
      const request = await code.request();
      return () => env.api(request, env.tpp);
    }],
    ["PAR", 201, { verified: 1 }, sent((w) => push(w, consentId))],
    ["PAR with DPoP", 201, { verified: 2 }, async () => {
      const request = await par.request({ key: await dpopKey() });
      return () => env.api(request, env.tpp);
    }],
    [
      "GET consent",
      200,
      { verified: 1, signed: 1 },
      sent((w) => call(w, w.tpp, bound, `${consents}/${consentId}`)),
    ],
    [
      "POST consent",
      201,
      { verified: 2, signed: 1 },
      sent((w) => call(w, w.tpp, bound, consents, { body: JSON.stringify(consentBody()) })),
    ],
    ["registration", 201, { verified: 2 }, async () => {
      const body = await registrationJwt(env, newcomer);
      return () => postRegistration(env, newcomer, { body });
    }],
    ["authorize", 303, { signed: 1 }, async () => {
      const { request_uri } = await good(push(env, consentId), 201);
      return () => authorize(new Browser(env), env.tpp, request_uri);
    }],
    ["bank return", 303, { verified: 1, decrypted: 1 }, async () => {
      const path = await sealedReturn(env, "BANKA", await signedReturn(env, flow));
      return () => flow.browser.open(path);
    }],
  ]);
});

Deno.test("the token endpoint checks no signature of a request that it can reject without [J14]", async (t) => {
  await using env = await openEnvironment();
  const { tpp } = env;
  type Deviation = Parameters<typeof requestToken>[3];
  const free = (name: string, status: number, deviation: Deviation, bank = "BANKA", verified = 0): Case => [
    name,
    status,
    { verified },
    async () => (await prepared(env, (w) => requestToken(w, tpp, bank, deviation))).send,
  ];
  const assertion = async (header: Readonly<Record<string, unknown>>): Promise<Deviation> => ({
    form: { client_assertion: await clientAssertion(env, tpp, "BANKA", { header }) },
  });
  const proof = async (header: Readonly<Record<string, unknown>>): Promise<Deviation> => {
    const target = { method: "POST", url: `${BASE_URL}/BANKA/token.oauth2/v1` };
    return { proof: await dpopProof(env, await dpopKey(), target, { header }) };
  };
  const outsider = `SC-${crypto.randomUUID()}`;
  await assertCosts(t, [
    ["no certificate", 401, {}, async () => {
      const request = await clientCredentials(env).request();
      return () => env.api(request);
    }],
    free("unknown bank", 404, {}, "BANKX"),
    free("another media type", 400, { headers: { "content-type": "application/json" } }),
    free("70 kB", 413, { form: { padding: "x".repeat(70_000) } }),
    free("a second mechanism", 400, { headers: { authorization: "Basic eDp5" } }),
    free("no assertion", 401, { form: { client_assertion: undefined } }),
    free("another type of assertion", 400, { form: { client_assertion_type: "jwt" } }),
    free("no client_id", 400, { form: { client_id: undefined } }),
    free("a malformed client_id", 401, { form: { client_id: "SC-1" } }),
    free("an unknown client_id", 401, { form: { client_id: outsider } }),
    free("an oversize assertion", 401, await assertion({ x: "x".repeat(9000) })),
    free("no compact JWS", 401, { form: { client_assertion: "a.b" } }),
    free("another typ", 401, await assertion({ typ: "JOSE" })),
    free("no kid", 401, await assertion({ kid: undefined })),
    free("an unknown kid", 401, await assertion({ kid: "A".repeat(27) })),
    free("another's kid", 401, await assertion({ kid: env.otherTpp.signing.kid })),
    free("jku", 401, await assertion({ jku: "https://evil.example" })),
    free("no proof, behind a good assertion", 400, { proof: "" }, "BANKA", 1),
    free("an oversize proof, behind a good assertion", 400, await proof({ x: "x".repeat(9000) }), "BANKA", 1),
    free("a proof of another typ, behind a good assertion", 400, await proof({ typ: "JWT" }), "BANKA", 1),
    free(
      "a proof without its key, behind a good assertion",
      400,
      await proof({ jwk: undefined }),
      "BANKA",
      1,
    ),
    free("another grant, behind a good assertion", 400, { form: { grant_type: "password" } }, "BANKA", 1),
  ]);
});

Deno.test("resource endpoints check no signature for a token that is not there, and no bad proof either [J14] [RS9]", async (t) => {
  await using env = await openEnvironment();
  const { tpp } = env;
  const bound = await clientToken(env, tpp);
  const consents = "/BANKA/domestic-payment-consents/v1";
  const path = `${consents}/${crypto.randomUUID()}`;
  const made = (
    name: string,
    status: number,
    cost: Partial<Cost>,
    options: CallOptions,
    token = bound,
    where = path,
  ): Case => [
    name,
    status,
    cost,
    async () => (await prepared(env, (w) => call(w, tpp, token, where, options))).send,
  ];
  const unknown = { ...bound, token: "A".repeat(43) };
  const body = JSON.stringify(consentBody());
  const signed = (name: string, status: number, options: CallOptions): Case =>
    made(`POST: ${name}`, status, { verified: 1, signed: 1 }, { body, ...options }, bound, consents);
  await assertCosts(t, [
    made("no certificate", 401, {}, { as: null }),
    made("no Authorization", 401, {}, { headers: { authorization: undefined } }),
    made("another scheme", 401, {}, { headers: { authorization: `Bearer ${bound.token}` } }),
    made("an unknown token with a good proof", 401, {}, {}, unknown),
    made("a token of another bank with a good proof", 401, {}, {}, await clientToken(env, tpp, "BANKB")),
    made("an unknown bank", 404, {}, {}, bound, path.replace("BANKA", "BANKX")),
    made("another method", 405, {}, { method: "DELETE" }),
    made("no proof", 401, {}, { proof: null }),
    made("an oversize proof", 401, {}, { proofChanges: { header: { x: "x".repeat(9000) } } }),
    made("a proof of another typ", 401, {}, { proofChanges: { header: { typ: "JWT" } } }),
    made("a proof with a private key", 401, {}, { proofChanges: { header: { jwk: bound.key.privateJwk } } }),
    made("a token of another's, with its proof", 401, { verified: 1 }, { as: env.otherTpp }),
    signed("no signature", 400, { signature: null }),
    signed("an attached signature", 400, { signature: "a.b.c" }),
    signed("an oversize signature", 400, { signature: `e30..${"A".repeat(9000)}` }),
    signed("a signature by an unknown kid", 400, {
      signature: `${btoa('{"alg":"PS256","kid":"x"}').replaceAll("=", "")}..AAAA`,
    }),
    signed("a body of another type", 415, { headers: { "content-type": "text/plain" } }),
    signed("a body of 70 kB", 413, { body: " ".repeat(70_000) }),
  ]);
});

Deno.test("registration checks no signature of what names no key of the directory, and the outer one last [J14]", async (t) => {
  await using env = await openEnvironment();
  const newcomer = await onboardOnly(env, NEWCOMER);
  const posted = (
    name: string,
    status: number,
    verified: number,
    changes: Parameters<typeof postRegistration>[2],
  ): Case => [name, status, { verified }, async () => {
    const body = changes?.body ?? await registrationJwt(env, newcomer, changes);
    return () => postRegistration(env, newcomer, { ...changes, body });
  }];
  const claims = { iss: "https://directory.evil.example" };
  await assertCosts(t, [
    posted("no certificate", 401, 0, { as: null }),
    posted("another media type", 415, 0, { contentType: "application/json" }),
    posted("33 kB", 413, 0, { body: "A".repeat(33_000) }),
    posted("no compact JWS", 400, 0, { body: "a.b" }),
    posted("no statement", 400, 0, { claims: { software_statement: undefined } }),
    posted("a statement of another directory", 400, 0, {
      statement: await statementWith(newcomer, { claims }),
    }),
    posted("a statement by an unknown kid", 400, 0, {
      statement: await statementWith(newcomer, { header: { kid: "x" } }),
    }),
    posted("a statement by the participant", 400, 0, {
      statement: await statementWith(newcomer, { signer: newcomer.signing }),
    }),
    posted("a good statement, an unknown kid outside", 400, 1, { header: { kid: "x" } }),
    posted("a good statement, no kid outside", 400, 1, { header: { kid: undefined } }),
  ]);
});

Deno.test("the browser host opens no envelope that it can reject from outside, and signs for good links alone [J14]", async (t) => {
  await using env = await openEnvironment();
  const flow = await toBank(env, { body: IMPLICIT });
  const jws = await signedReturn(env, flow);
  const returned = (name: string, cost: Partial<Cost>, make: () => Promise<string> | string): Case => [
    name,
    400,
    cost,
    async () => {
      const path = await make();
      return () => flow.browser.open(path);
    },
  ];
  const under = (header: Readonly<Record<string, unknown>>) => async (): Promise<string> =>
    returnTo("BANKA", await sealedUnderHeader(env, jws, header));
  const unknownKid = { key: env.bankA.signing.key, kid: "A".repeat(27) };
  await assertCosts(t, [
    returned("no token", {}, () => "/BANKA/authorization.sca.oauth2"),
    returned("a signed token, not sealed", {}, () => returnTo("BANKA", jws)),
    returned("an oversize token", {}, () => returnTo("BANKA", `${"A".repeat(9000)}.A.A.A.A`)),
    returned("an envelope to another key", {}, under({ kid: "x" })),
    returned("an envelope by another algorithm", {}, under({ alg: "RSA1_5" })),
    returned("an envelope that is compressed", {}, under({ zip: "DEF" })),
    returned("an envelope around no JWS", { decrypted: 1 }, () => sealedReturn(env, "BANKA", "{}")),
    returned(
      "an envelope around a JWS by an unknown kid",
      { decrypted: 1 },
      async () => sealedReturn(env, "BANKA", await signJwt(unknownKid, {})),
    ),
    returned("an unknown link", {}, () => {
      const query = new URLSearchParams({ client_id: env.tpp.clientId, request_uri: "urn:x" });
      return `/BANKA/authorization.oauth2?${query}`;
    }),
  ]);
});
