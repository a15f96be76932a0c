/** Expensive work comes last: a request that cheap checks reject costs no RSA operation (contract J14). */
import { IMPLICIT, sealedReturn, signedReturn } from "testing/bank_return.ts";
import {
  call,
  clientToken,
  consentBody,
  createConsent,
  dpopKey,
  good,
  push,
  requestToken,
} from "testing/flows.ts";
import { authorize, Browser, toBank } from "testing/authorization_flow.ts";
import { clientAssertion, dpopProof } from "testing/jwts.ts";
import { clientCredentials, codeGrant, pushing } from "testing/oauth_requests.ts";
import { onboardOnly } from "testing/participants.ts";
import { prepared } from "support/prepared_requests.ts";
import { NEWCOMER, postRegistration, registrationJwt } from "testing/registration.ts";
import { BASE_URL, type Environment, openEnvironment } from "testing/environment.ts";
import { assertCosts, type Case } from "./jwt_costs.ts";

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
