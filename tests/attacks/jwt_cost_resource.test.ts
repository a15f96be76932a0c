import { IMPLICIT, returnTo, sealedReturn, sealedUnderHeader, signedReturn } from "testing/bank_return.ts";
import type { Cost } from "support/crypto_meter.ts";
import { call, type CallOptions, clientToken, consentBody } from "testing/flows.ts";
import { toBank } from "testing/authorization_flow.ts";
import { signJwt } from "testing/jwts.ts";
import { onboardOnly } from "testing/participants.ts";
import { prepared } from "support/prepared_requests.ts";
import { NEWCOMER, postRegistration, registrationJwt, statementWith } from "testing/registration.ts";
import { openEnvironment } from "testing/environment.ts";
import { assertCosts, type Case } from "./jwt_costs.ts";

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
