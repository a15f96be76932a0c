/** `POST /register/v1`: what a participant may not register (contract DC8-DC10, DC13, DC-N11 to DC-N17). */
import { assertEquals } from "@std/assert";
import {
  assertRejected,
  claiming,
  directorySigner,
  type MakeRegistration,
  MANY_REGISTRATIONS,
  postRegistration,
  rejectAll,
  statementWith,
} from "testing/registration.ts";
import { DIRECTORY_URL, type Environment, openEnvironment, START } from "testing/environment.ts";
import { bodyOf } from "testing/answers.ts";
import { clientToken, requestToken } from "testing/flows.ts";
import { adminCall, onboardOnly } from "testing/participants.ts";
import { steps } from "support/steps.ts";
import { NEWCOMER } from "./newcomer.ts";

const NOW = START / 1000;

Deno.test("POST register rejects redirect_uris that the statement does not have [DC-N11] [DC9]", async (t) => {
  await rejectAll(t, "invalid_redirect_uri", {
    "another host": claiming({ redirect_uris: ["https://evil.example/callback"] }),
    "a path below": claiming({ redirect_uris: ["https://new.example/callback/more"] }),
    "with a slash": claiming({ redirect_uris: ["https://new.example/callback/"] }),
    "with a query": claiming({ redirect_uris: ["https://new.example/callback?a=1"] }),
    "in other case": claiming({ redirect_uris: ["https://NEW.example/callback"] }),
    "with the default port": claiming({ redirect_uris: ["https://new.example:443/callback"] }),
    "a good one and another": claiming({
      redirect_uris: ["https://new.example/callback", "https://evil.example/callback"],
    }),
  });
});

Deno.test("POST register rejects redirect_uris that are missing, empty or no list [DC-N12]", async (t) => {
  await rejectAll(t, "invalid_redirect_uri", {
    "missing": claiming({ redirect_uris: undefined }),
    "empty": claiming({ redirect_uris: [] }),
    "null": claiming({ redirect_uris: null }),
    "a string": claiming({ redirect_uris: "https://new.example/callback" }),
    "numbers": claiming({ redirect_uris: [1] }),
    "the same twice": claiming({
      redirect_uris: ["https://new.example/callback", "https://new.example/callback"],
    }),
  });
});

Deno.test("POST register rejects redirect_uris of bad form even where the statement has them [DC-N12] [DC9]", async (t) => {
  const stated = (redirect_uris: readonly string[]): MakeRegistration => async (newcomer) => ({
    statement: await statementWith(newcomer, { claims: { software_redirect_uris: redirect_uris } }),
    claims: { redirect_uris },
  });
  await rejectAll(t, "invalid_redirect_uri", {
    "five for a TPP": stated([1, 2, 3, 4, 5].map((n) => `https://new.example/${n}`)),
    "http": stated(["http://new.example/callback"]),
    "http on this computer": stated(["http://localhost:8080/callback"]),
    "a fragment": stated(["https://new.example/callback#top"]),
    "an empty fragment": stated(["https://new.example/callback#"]),
    "a wildcard": stated(["https://*.new.example/callback"]),
    "a user name": stated(["https://user@new.example/callback"]),
    "a user name and password": stated(["https://user:secret@new.example/callback"]),
    "javascript": stated(["javascript:alert(1)"]),
    "an app's own scheme": stated(["newshop://callback"]),
    "no URL": stated(["callback"]),
    "a parameter of the answer": stated(["https://new.example/callback?code=1"]),
    "several parameters of the answer": stated(["https://new.example/callback?from=bank&state=2&iss=3"]),
    "an escaped parameter of the answer": stated(["https://new.example/callback?%65rror=x"]),
    "the parameter of a signed answer": stated(["https://new.example/callback?response"]),
  });
});

Deno.test("POST register rejects two redirect_uris of a bank [DC-N12]", async () => {
  await using env = await openEnvironment(MANY_REGISTRATIONS);
  const redirect_uris = ["https://bank-a.example/sca", "https://bank-a.example/sca2"];
  const statement = await statementWith(env.bankA, {
    claims: { software_redirect_uris: redirect_uris, iat: NOW + 20 },
  });
  const attempt = (): Promise<Response> =>
    postRegistration(env, env.bankA, { statement, claims: { redirect_uris } });
  await assertRejected(env, attempt, 400, "invalid_redirect_uri");
});

Deno.test("POST register rejects other ways of client authentication [DC-N13] [DC8]", async (t) => {
  const methods = [
    "none",
    "client_secret_basic",
    "client_secret_post",
    "client_secret_jwt",
    "tls_client_auth",
    "self_signed_tls_client_auth",
    "PRIVATE_KEY_JWT",
    "",
  ];
  await rejectAll(
    t,
    "invalid_client_metadata",
    Object.fromEntries(
      methods.map((method) => [`"${method}"`, claiming({ token_endpoint_auth_method: method })]),
    ),
  );
});

Deno.test("POST register rejects other response types [DC-N14] [DC8]", async (t) => {
  const types = [["id_token", "token"], ["code", "token"], ["code id_token"], ["code", "code"], [], "token"];
  await rejectAll(
    t,
    "invalid_client_metadata",
    Object.fromEntries(types.map((type) => [JSON.stringify(type), claiming({ response_types: type })])),
  );
});

Deno.test("POST register rejects grants and scopes that are not the role's [DC-N15] [DC8]", async (t) => {
  const both = ["client_credentials", "authorization_code"];
  await rejectAll(t, "invalid_client_metadata", {
    "implicit": claiming({ grant_types: [...both, "implicit"] }),
    "password": claiming({ grant_types: [...both, "password"] }),
    "refresh_token": claiming({ grant_types: [...both, "refresh_token"] }),
    "a TPP without authorization_code": claiming({ grant_types: ["client_credentials"] }),
    "a TPP without client_credentials": claiming({ grant_types: ["authorization_code"] }),
    "a grant twice": claiming({ grant_types: [...both, "client_credentials"] }),
    "no grant": claiming({ grant_types: [] }),
    "a string": claiming({ grant_types: "client_credentials authorization_code" }),
    "the scope bank for a TPP": claiming({ scope: "bank" }),
    "both scopes": claiming({ scope: "payments bank" }),
    "openid": claiming({ scope: "payments openid" }),
    "no scope": claiming({ scope: "" }),
    "a native application": claiming({ application_type: "native" }),
  });
});

Deno.test("POST register rejects a bank with a TPP's scope or without authorization_code [DC-N15] [DC8]", async (t) => {
  await using env = await openEnvironment(MANY_REGISTRATIONS);
  const statement = await statementWith(env.bankA, { claims: { iat: NOW + 20 } });
  for (
    const [name, claims] of Object.entries({
      "scope payments": { scope: "payments" },
      "client_credentials alone": { grant_types: ["client_credentials"] },
      "implicit": { grant_types: ["authorization_code", "implicit"] },
    })
  ) {
    await t.step(name, async () => {
      const attempt = (): Promise<Response> => postRegistration(env, env.bankA, { statement, claims });
      await assertRejected(env, attempt, 400, "invalid_client_metadata");
    });
  }
  await t.step("and takes it with both grants [B1]", async () => {
    const claims = { grant_types: ["authorization_code", "client_credentials"] };
    assertEquals((await postRegistration(env, env.bankA, { statement, claims })).status, 201);
  });
});

Deno.test("POST register rejects a software_id unlike the statement's [DC-N16] [DC10]", async (t) => {
  await rejectAll(t, "invalid_client_metadata", {
    "another participant's": (_, env) => ({ claims: { software_id: env.tpp.clientId } }),
    "in other case": (newcomer) => ({ claims: { software_id: newcomer.clientId.toLowerCase() } }),
    "empty": claiming({ software_id: "" }),
    "a number": claiming({ software_id: 7 }),
  });
});

Deno.test("POST register rejects other algorithms than PS256 [DC-N17] [DC8]", async (t) => {
  const members = [
    "request_object_signing_alg",
    "token_endpoint_auth_signing_alg",
    "id_token_signed_response_alg",
  ];
  await rejectAll(
    t,
    "invalid_client_metadata",
    Object.fromEntries(
      members.flatMap((member) =>
        ["RS256", "none", "ES256", ""].map((alg) => [`${member} "${alg}"`, claiming({ [member]: alg })])
      ),
    ),
  );
});

Deno.test("POST register rejects jwks and jwks_uri together [DC13]", async (t) => {
  await rejectAll(t, "invalid_client_metadata", {
    "both": claiming({ jwks: { keys: [] }, jwks_uri: "https://new.example/jwks" }),
  });
});

Deno.test("POST register lets the statement's values win and ignores unknown metadata [DC10] [DC13]", async () => {
  await using env = await openEnvironment(MANY_REGISTRATIONS);
  const newcomer = await onboardOnly(env, NEWCOMER);
  const response = await postRegistration(env, newcomer, {
    claims: {
      client_name: "Trusted Bank",
      software_client_name: "Trusted Bank",
      org_id: "BANKA",
      software_roles: ["ASPSP"],
      consent_managedby_bank: true,
      policy_uri: "https://evil.example/policy",
      x_unheard_of: { a: [1] },
    },
  });
  assertEquals(response.status, 201);
  const body = await bodyOf(response);
  assertEquals([body.client_name, body.scope], ["New Shop Ltd app", "payments"]);
  assertEquals(["policy_uri", "x_unheard_of", "org_id", "software_roles"].filter((name) => name in body), []);
});

Deno.test("POST register fetches the directory's URLs and no other, whatever the registration names [DC-N20] [DC13] [DC16]", async (t) => {
  const hosts = (env: Environment): string[] => [...new Set(env.fetched.map((url) => new URL(url).origin))];
  const elsewhere: Readonly<Record<string, unknown>> = {
    "another host": "https://evil.example/jwks",
    "this computer": "http://127.0.0.1:8080/jwks",
    "a path of the directory that redirects": `${DIRECTORY_URL}/redirect`,
  };
  for (const [name, jwks_uri] of Object.entries(elsewhere)) {
    await t.step(`jwks_uri is ${name}`, async () => {
      await using env = await openEnvironment(MANY_REGISTRATIONS);
      const newcomer = await onboardOnly(env, NEWCOMER);
      env.fetched.length = 0;
      assertEquals((await postRegistration(env, newcomer, { claims: { jwks_uri } })).status, 201);
      assertEquals(env.fetched.toSorted(), [
        `${DIRECTORY_URL}/participants/${newcomer.orgId}/jwks`,
        `${DIRECTORY_URL}/participants/${newcomer.orgId}/jwks/revoked`,
        `${DIRECTORY_URL}/status`,
      ]);
    });
  }
  await t.step("jwks with a key of one's own is not used", async () => {
    await using env = await openEnvironment(MANY_REGISTRATIONS);
    const newcomer = await onboardOnly(env, NEWCOMER);
    const outsider = await directorySigner();
    const jwks = { keys: [{ ...outsider.key.publicJwk, kid: "mine", use: "sig" }] };
    assertEquals((await postRegistration(env, newcomer, { claims: { jwks } })).status, 201);
    const forged = { ...newcomer, signing: { ...newcomer.signing, key: outsider.key, kid: "mine" } };
    assertEquals((await requestToken(env, forged)).status, 401);
  });
  await t.step("the logo and home page of the software", async () => {
    await using env = await openEnvironment(MANY_REGISTRATIONS);
    const newcomer = await onboardOnly(env, NEWCOMER);
    assertEquals((await postRegistration(env, newcomer)).status, 201);
    await clientToken(env, newcomer);
    assertEquals(hosts(env), [DIRECTORY_URL]);
  });
});

Deno.test("POST register takes four redirect_uris of a TPP, with queries of their own [DC9]", async () => {
  await using env = await openEnvironment(MANY_REGISTRATIONS);
  const redirectUris = [1, 2, 3, 4].map((n) => `https://new.example/${n}?n=${n}`);
  const newcomer = await onboardOnly(env, { ...NEWCOMER, redirectUris });
  const response = await postRegistration(env, newcomer);
  assertEquals([response.status, (await bodyOf(response)).redirect_uris], [201, redirectUris]);
});

Deno.test("POST register takes a statement until its expiry, and one of up to two years [DC2]", async (t) => {
  const now = START / 1000;
  const good = {
    "iat 30 s ahead": { iat: now + 30 },
    "exp 29 s ago": { exp: now - 29 },
    "exp in two years": { exp: now + 2 * 365 * 86_400 },
    "software_id unlike the client id": { software_id: "another-name" },
  };
  await steps(t, good, async (claims) => {
    await using env = await openEnvironment(MANY_REGISTRATIONS);
    const newcomer = await onboardOnly(env, NEWCOMER);
    const statement = await statementWith(newcomer, { claims });
    const changes = { statement, claims: { software_id: undefined } };
    assertEquals((await postRegistration(env, newcomer, changes)).status, 201);
  });
});

Deno.test("POST register takes a participant's keys again once its software is Active again [DC3]", async () => {
  await using env = await openEnvironment(MANY_REGISTRATIONS);
  const newcomer = await onboardOnly(env, NEWCOMER);
  const path = `/participants/${newcomer.orgId}/software/status`;
  assertEquals((await adminCall(env, "PUT", path, { status: "Inactive", reason: "pause" })).status, 200);
  assertEquals((await postRegistration(env, newcomer)).status, 400); // no key is published
  assertEquals((await adminCall(env, "PUT", path, { status: "Active", reason: "back" })).status, 200);
  env.now += 30_000; // an unknown kid is asked for again
  assertEquals((await postRegistration(env, newcomer)).status, 201);
});
