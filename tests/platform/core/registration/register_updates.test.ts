/** `POST /register/v1` again: newer statements take effect, older ones and replays do not (Decision B6; contract FAPI-D17). */
import { assertEquals } from "@std/assert";
import { decodeJwt } from "jose";
import { bodyOf, present, rejectionOf } from "testing/answers.ts";
import { clientToken, createConsent, push } from "testing/flows.ts";
import { openGatedStore } from "support/gated_store.ts";
import { onboardOnly } from "testing/participants.ts";
import {
  assertRejected,
  MANY_REGISTRATIONS,
  NEWCOMER,
  postRegistration,
  registrationJwt,
  renewedStatement,
  statementWith,
} from "testing/registration.ts";
import { openEnvironment, SHOP_REDIRECTS, START } from "testing/environment.ts";
import { steps } from "support/steps.ts";

Deno.test("POST register updates the same client by a newer statement [FAPI-D17] [B6]", async () => {
  await using env = await openEnvironment(MANY_REGISTRATIONS);
  env.now += 60_000;
  const redirect_uris = ["https://shop.example/new"];
  const statement = await renewedStatement(env, env.tpp, { redirect_uris, client_name: "Better Shop" });
  const response = await postRegistration(env, env.tpp, { statement, claims: { redirect_uris } });
  assertEquals(response.status, 201);
  const body = await bodyOf(response);
  assertEquals(body.client_id, env.tpp.clientId);
  assertEquals(body.client_id_issued_at, START / 1000); // when the client id was first registered
  assertEquals([body.client_name, body.redirect_uris], ["Better Shop", redirect_uris]);
  assertEquals(body.software_statement, statement);
});

Deno.test("POST register rejects an older or the same statement and keeps what was registered [DC-N23] [FAPI-D17]", async (t) => {
  await using env = await openEnvironment(MANY_REGISTRATIONS);
  const { tpp } = env;
  const [kept = ""] = SHOP_REDIRECTS;
  const statement = await renewedStatement(env, tpp, { redirect_uris: [kept] });
  const claims = { redirect_uris: [kept] };
  assertEquals((await postRegistration(env, tpp, { statement, claims })).status, 201);
  await t.step("the first statement, with the since-removed redirect", async () => {
    await assertRejected(env, () => postRegistration(env, tpp), 400, "invalid_software_statement");
  });
  await t.step("the same statement", async () => {
    const attempt = (): Promise<Response> => postRegistration(env, tpp, { statement, claims });
    await assertRejected(env, attempt, 400, "invalid_software_statement");
  });
  await t.step("a statement of the same second", async () => {
    const twin = await statementWith({ ...tpp, statement }, { claims: { jti: "twin" } });
    const attempt = (): Promise<Response> => postRegistration(env, tpp, { statement: twin, claims });
    await assertRejected(env, attempt, 400, "invalid_software_statement");
  });
  await t.step("the removed redirect stays removed", async () => {
    const bound = await clientToken(env, tpp);
    const { ConsentId } = (await createConsent(env, bound)).Data;
    assertEquals((await push(env, ConsentId, { form: { redirect_uri: SHOP_REDIRECTS[1] } })).status, 400);
    assertEquals((await push(env, ConsentId, { form: { redirect_uri: kept } })).status, 201);
  });
});

Deno.test("POST register rejects a newer statement about other software or another role under the client id [FAPI-D17]", async (t) => {
  await using env = await openEnvironment(MANY_REGISTRATIONS);
  const changes = {
    "of another organisation": { org_id: "outsider" },
    "of another role": { software_roles: ["ASPSP"], software_redirect_uris: [SHOP_REDIRECTS[0]] },
  };
  await steps(t, changes, async (changed, name) => {
    const statement = await statementWith(env.tpp, { claims: { ...changed, iat: START / 1000 + 20 } });
    const claims = name === "of another role"
      ? { scope: "bank", grant_types: ["authorization_code"], redirect_uris: [SHOP_REDIRECTS[0]] }
      : {};
    const attempt = (): Promise<Response> => postRegistration(env, env.tpp, { statement, claims });
    await assertRejected(env, attempt, 400, "invalid_software_statement");
  });
});

Deno.test("POST register rejects a registration JWT a second time [DC-N10]", async (t) => {
  await using env = await openEnvironment(MANY_REGISTRATIONS);
  const newcomer = await onboardOnly(env, NEWCOMER);
  const body = await registrationJwt(env, newcomer);
  assertEquals((await postRegistration(env, newcomer, { body })).status, 201);
  await t.step("at once", async () => {
    const attempt = (): Promise<Response> => postRegistration(env, newcomer, { body });
    await assertRejected(env, attempt, 400, "invalid_client_metadata");
  });
  await t.step("its jti with a newer statement", async () => {
    const statement = await renewedStatement(env, newcomer);
    const changes = { statement, claims: { jti: decodeJwt(body).jti } };
    const attempt = (): Promise<Response> => postRegistration(env, newcomer, changes);
    await assertRejected(env, attempt, 400, "invalid_client_metadata");
    assertEquals((await postRegistration(env, newcomer, { statement })).status, 201);
  });
  await t.step("until it could not be used any more", async () => {
    env.now = START + 329_000; // exp + 29 s
    const attempt = (): Promise<Response> => postRegistration(env, newcomer, { body });
    await assertRejected(env, attempt, 400, "invalid_client_metadata");
  });
});

Deno.test("POST register keeps one record of two parallel registrations [DC-N25]", async (t) => {
  const cases = {
    "two JWTs": async (make: () => Promise<string>) => [await make(), await make()],
    "the same JWT twice": async (make: () => Promise<string>) => {
      const jwt = await make();
      return [jwt, jwt];
    },
  };
  await steps(t, cases, async (make, name) => {
    const store = await openGatedStore();
    await using env = await openEnvironment({ ...MANY_REGISTRATIONS, store });
    const newcomer = await onboardOnly(env, NEWCOMER);
    const bodies = await make(() => registrationJwt(env, newcomer));
    store.gather(2);
    const answers = await Promise.all(bodies.map((body) => postRegistration(env, newcomer, { body })));
    assertEquals(answers.map(({ status }) => status).toSorted(), [201, 400]);
    const rejected = answers.find(({ status }) => status === 400);
    const error = name === "two JWTs" ? "invalid_software_statement" : "invalid_client_metadata";
    assertEquals((await rejectionOf(present(rejected))).error, error);
    const records = await env.store.list({ prefix: ["client"], limit: 100 });
    assertEquals(records.filter(({ key }) => key[1] === newcomer.clientId).length, 1);
    const history = await env.store.list({ prefix: ["audit", newcomer.clientId], limit: 100 });
    assertEquals(history.length, 1);
  });
});

Deno.test("POST register keeps one bank of two parallel registrations under one code [DC-N25] [A4]", async () => {
  const store = await openGatedStore();
  await using env = await openEnvironment({ ...MANY_REGISTRATIONS, store });
  const bank = await onboardOnly(env, {
    name: "Bank C plc",
    role: "ASPSP",
    orgId: "BANKC",
    keys: [10, 11],
    redirectUris: ["https://bank-c.example/sca"],
  });
  const twin = "SC-5b3c9e0e-7d0b-4a53-9d53-0c6f1b2a7c11";
  const statement = await statementWith(bank, { claims: { software_client_id: twin, software_id: twin } });
  store.gather(2);
  const answers = await Promise.all([
    postRegistration(env, bank),
    postRegistration(env, bank, { statement, claims: { software_id: twin } }),
  ]);
  assertEquals(answers.map(({ status }) => status).toSorted(), [201, 400]);
  const records = await env.store.list<{ orgId: string }>({ prefix: ["client"], limit: 100 });
  assertEquals(records.filter(({ value }) => value.orgId === "BANKC").length, 1);
});
