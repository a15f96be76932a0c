/** `POST /register/v1`: what a participant may not register (contract DC8-DC10, DC13, DC-N11 to DC-N17). */
import { assertEquals } from "@std/assert";
import {
  assertRejected,
  claiming,
  type MakeRegistration,
  MANY_REGISTRATIONS,
  postRegistration,
  rejectAll,
  statementWith,
} from "testing/registration.ts";
import { openEnvironment, START } from "testing/environment.ts";

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
