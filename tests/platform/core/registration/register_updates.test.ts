/**
 * `POST /register/v1` again: newer statements take effect, older ones and replays do not (Decision B6; contract
 * FAPI-D17).
 */
import { assertEquals } from "@std/assert";
import { decodeJwt } from "jose";
import { bodyOf, present, rejectionOf } from "testing/answers.ts";
import { clientToken, createConsent, good, push, requestToken } from "testing/flows.ts";
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
import { testWith } from "support/environment_test.ts";
import {
  authorise,
  authorize,
  Browser,
  openHandover,
  putAccounts,
  returnPath,
  toBank,
} from "testing/authorization_flow.ts";
import { unchanged } from "testing/store_contents.ts";

const test = testWith(() => openEnvironment(MANY_REGISTRATIONS));

test("POST register updates the same client by a newer statement [FAPI-D17] [B6]", async ({ env }) => {
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

test("POST register rejects an older or the same statement and keeps what was registered [DC-N23] [FAPI-D17]", async ({ env, t }) => {
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

test("POST register rejects the newer statement of a TPP that an operator has blocked, and takes it when the block ends [OP4, G5]", async ({ env }) => {
  const statement = await renewedStatement(env, env.tpp);
  const order = (verb: "block" | "unblock"): Promise<Response> =>
    env.asOperator(`/operations/software/${env.tpp.clientId}/${verb}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ Data: { Reason: "Fraud is suspected." } }),
    });
  const attempt = (): Promise<Response> => postRegistration(env, env.tpp, { statement });
  await good(order("block"), 200);
  await assertRejected(env, attempt, 400, "unapproved_software_statement");
  await good(order("unblock"), 200);
  assertEquals((await attempt()).status, 201);
});

test("POST register rejects a newer statement about other software or another role under the client id [FAPI-D17]", async ({ env, t }) => {
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

test("POST register rejects a registration JWT a second time [DC-N10]", async ({ env, t }) => {
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
    const answers = await store.together(
      bodies.map((body) => () => postRegistration(env, newcomer, { body })),
    );
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
  const answers = await store.together([
    () => postRegistration(env, bank),
    () => postRegistration(env, bank, { statement, claims: { software_id: twin } }),
  ]);
  assertEquals(answers.map(({ status }) => status).toSorted(), [201, 400]);
  const records = await env.store.list<{ orgId: string }>({ prefix: ["client"], limit: 100 });
  assertEquals(records.filter(({ value }) => value.orgId === "BANKC").length, 1);
});

test("POST register: new redirect_uris count at the next authorization, removed ones no more [FAPI-D17] [RFC 9126 §7.4]", async ({ env }) => {
  const { tpp } = env;
  const bound = await clientToken(env, tpp);
  const before = (await createConsent(env, bound)).Data.ConsentId;
  const pushed = await good(push(env, before), 201);
  const redirect_uris = ["https://shop.example/new"];
  const statement = await renewedStatement(env, tpp, { redirect_uris });
  const after = (await createConsent(env, bound)).Data.ConsentId;
  assertEquals((await push(env, after, { form: { redirect_uri: redirect_uris[0] } })).status, 400);
  assertEquals((await postRegistration(env, tpp, { statement, claims: { redirect_uris } })).status, 201);
  assertEquals((await push(env, after, { form: { redirect_uri: SHOP_REDIRECTS[0] } })).status, 400);
  assertEquals((await push(env, after, { form: { redirect_uri: redirect_uris[0] } })).status, 201);
  const departure = await unchanged(env, () => authorize(new Browser(env), tpp, pushed.request_uri));
  assertEquals([departure.status, departure.headers.get("location")], [400, null]);
});

test("POST register: consent_managedby_bank counts at the next authorization [FAPI-D17]", async ({ env }) => {
  const { bankA } = env;
  const atPlatform = await authorise(env, await toBank(env));
  assertEquals(atPlatform.status, 303);
  const statement = await renewedStatement(env, bankA, { consent_managedby_bank: true });
  const before = await toBank(env); // the statement has no effect until it is registered
  const return1 = await returned(before);
  assertEquals(new URL(return1).pathname, "/BANKA/authorization.consent.oauth2");
  assertEquals((await postRegistration(env, bankA, { statement })).status, 201);
  const flow = await toBank(env);
  const one = { SchemeName: "UK.OBIE.IBAN", Identification: "GB33BUKB20201555555555" };
  const two = { SchemeName: "UK.OBIE.IBAN", Identification: "GB29NWBK60161331926819" };
  assertEquals((await putAccounts(env, bankA, flow.consentId, [one, two])).status, 400);
  const return2 = await returned(flow);
  assertEquals(new URL(return2).origin, "https://shop.example");

  async function returned(started: Awaited<ReturnType<typeof toBank>>): Promise<string> {
    await good(putAccounts(env, bankA, started.consentId), 200);
    const path = await returnPath(env, bankA, started.handover);
    return (await started.browser.open(path)).headers.get("location") ?? "";
  }
});

test("POST register: a bank's new redirect URL is where the next customer is sent [FAPI-D17] [A5]", async ({ env }) => {
  const { bankA, tpp } = env;
  const redirect_uris = ["https://bank-a.example/new-sca?from=platform"];
  const statement = await renewedStatement(env, bankA, { redirect_uris });
  const changes = { statement, claims: { redirect_uris } };
  assertEquals((await postRegistration(env, bankA, changes)).status, 201);
  const bound = await clientToken(env, tpp);
  const pushed = await good(push(env, (await createConsent(env, bound)).Data.ConsentId), 201);
  const departure = await authorize(new Browser(env), tpp, pushed.request_uri);
  const location = departure.headers.get("location") ?? "";
  assertEquals(location.startsWith("https://bank-a.example/new-sca?from=platform&oAuthUrl="), true, location);
  assertEquals((await openHandover(bankA, departure)).claims.aud, "BANKA");
});

test("POST register: tokens and consents outlive an update [FAPI-D17]", async ({ env }) => {
  const { tpp } = env;
  const bound = await clientToken(env, tpp);
  const statement = await renewedStatement(env, tpp, { description: "Another text" });
  assertEquals((await postRegistration(env, tpp, { statement })).status, 201);
  assertEquals((await createConsent(env, bound)).Data.Status, "AwaitingAuthorisation");
  assertEquals((await requestToken(env, tpp)).status, 200);
});
