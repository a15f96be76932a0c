/** `POST /register/v1`: registration JWTs that must not be believed (checklist DC5-DC10, DC-N8 to DC-N17, DC-N27). */
import { assertEquals } from "@std/assert";
import { clientAssertion, dpopProof, type JsonObject, withChanges } from "../support/jwts.ts";
import { smallTestKey, testKey } from "../support/keys.ts";
import { hmacJws, rs256Jws } from "../support/odd_jws.ts";
import { onboardOnly, type Participant, registrationClaims } from "../support/participants.ts";
import {
  assertRefused,
  MANY_REGISTRATIONS,
  postRegistration,
  type RegistrationChanges,
  statementWith,
} from "../support/registration.ts";
import { AUTH_URL, BASE_URL, openWorld, REGISTRATION_AUDIENCE, START, type World } from "../support/world.ts";
import { rawJws, segment } from "../unit/jose/raw_jws.ts";

const NEWCOMER = {
  name: "New Shop Ltd",
  role: "PISP",
  keys: [10, 11],
  redirectUris: ["https://new.example/callback"],
} as const;
const NOW = START / 1000;

type Make = (newcomer: Participant, world: World) => Promise<RegistrationChanges> | RegistrationChanges;

async function refuseAll(
  t: Deno.TestContext,
  error: string,
  registrations: Readonly<Record<string, Make>>,
): Promise<void> {
  await using world = await openWorld(MANY_REGISTRATIONS);
  const newcomer = await onboardOnly(world, NEWCOMER);
  for (const [name, make] of Object.entries(registrations)) {
    await t.step(name, async () => {
      const changes = await make(newcomer, world);
      await assertRefused(world, () => postRegistration(world, newcomer, changes), 400, error);
    });
  }
  await t.step("and nothing else was wrong with it", async () => {
    assertEquals((await postRegistration(world, newcomer)).status, 201);
  });
}

function claiming(claims: JsonObject): Make {
  return () => ({ claims });
}

function headed(header: JsonObject): Make {
  return () => ({ header });
}

Deno.test("POST register refuses a JWT that no current signing key of the participant signed [DC-N8] [DC5] [DC17]", async (t) => {
  const header = (newcomer: Participant): JsonObject => ({
    alg: "PS256",
    typ: "JWT",
    kid: newcomer.signing.kid,
  });
  await refuseAll(t, "invalid_client_metadata", {
    "the signature of another JWT": async (newcomer, world) => {
      const key = await newcomer.signing.key.privateKey("sign");
      const [good, other] = await Promise.all([
        rawJws(key, header(newcomer), registrationClaims(world, newcomer)),
        rawJws(key, header(newcomer), registrationClaims(world, newcomer)),
      ]);
      return { body: good.replace(/[^.]+$/, "") + other.split(".")[2] };
    },
    "a stranger's signature under the participant's kid": async (newcomer) => ({
      signer: { key: await testKey(15), kid: newcomer.signing.kid },
    }),
    "kid unknown": headed({ kid: "unknown" }),
    "kid missing": headed({ kid: undefined }),
    "kid empty": headed({ kid: "" }),
    "kid no string": headed({ kid: 7 }),
    "kid of another participant's key": (_, world) => ({ signer: world.otherTpp.signing }),
    "the participant's own tls key": (newcomer) => ({ signer: newcomer.transport }),
    "a key of 1024 bits under the participant's kid": async (newcomer, world) => ({
      body: await rawJws(
        await (await smallTestKey()).privateKey("sign"),
        header(newcomer),
        registrationClaims(world, newcomer),
      ),
    }),
    "alg none": (newcomer, world) => ({
      body: `${segment({ ...header(newcomer), alg: "none" })}.${
        segment(registrationClaims(world, newcomer))
      }.`,
    }),
    "alg RS256 by the right key": async (newcomer, world) => ({
      body: await rs256Jws(
        newcomer.signing.key,
        { ...header(newcomer), alg: "RS256" },
        registrationClaims(world, newcomer),
      ),
    }),
    "alg HS256 keyed with the public key": async (newcomer, world) => ({
      body: await hmacJws(
        newcomer.signing.key,
        { ...header(newcomer), alg: "HS256" },
        registrationClaims(world, newcomer),
      ),
    }),
    "jwk in the header": async () => ({ header: { jwk: (await testKey(15)).publicJwk } }),
    "jku in the header": headed({ jku: "https://evil.example/jwks" }),
    "x5c in the header": (newcomer) => ({ header: { x5c: [newcomer.signing.certificate] } }),
    "typ missing": headed({ typ: undefined }),
    "typ at+jwt": headed({ typ: "at+jwt" }),
    "no JWT": () => ({ body: "register me" }),
    "an empty body": () => ({ body: "" }),
    "JSON": () => ({ body: '{"redirect_uris":["https://new.example/callback"]}' }),
    "two line breaks behind the JWT [DC1]": async (newcomer, world) => ({
      body: `${await signed(world, newcomer)}\r\n\r\n`,
    }),
    "a space before the JWT [DC1]": async (newcomer, world) => ({
      body: ` ${await signed(world, newcomer)}`,
    }),
    "two JWTs [DC1]": async (newcomer, world) => {
      const jwt = await signed(world, newcomer);
      return { body: `${jwt}\n${jwt}` };
    },
    "padding in the JWT [DC1]": async (newcomer, world) => ({ body: `${await signed(world, newcomer)}==` }),
    "claims with a duplicate member": async (newcomer, world) => {
      const text = JSON.stringify(registrationClaims(world, newcomer));
      const twice = `{"aud":"https://evil.example",${text.slice(1)}`;
      const key = await newcomer.signing.key.privateKey("sign");
      return { body: await rawJws(key, header(newcomer), twice) };
    },
  });

  async function signed(world: World, newcomer: Participant): Promise<string> {
    const key = await newcomer.signing.key.privateKey("sign");
    return await rawJws(key, header(newcomer), registrationClaims(world, newcomer));
  }
});

Deno.test("POST register refuses a JWT that lacks a required claim [DC6]", async (t) => {
  const names = [
    "iss",
    "iat",
    "exp",
    "aud",
    "jti",
    "token_endpoint_auth_method",
    "grant_types",
    "scope",
    "application_type",
  ];
  await refuseAll(
    t,
    "invalid_client_metadata",
    Object.fromEntries(names.map((name) => [name, claiming({ [name]: undefined })])),
  );
});

Deno.test("POST register refuses times, audience, issuer and jti that are not right [DC-N9] [DC6] [DC7]", async (t) => {
  await refuseAll(t, "invalid_client_metadata", {
    "exp 30 s ago": claiming({ iat: NOW - 60, exp: NOW - 30 }),
    "exp in milliseconds": claiming({ exp: START + 300_000 }),
    "exp as a string": claiming({ exp: String(NOW + 300) }),
    "exp beyond all numbers": async (newcomer, world) => {
      const text = JSON.stringify(registrationClaims(world, newcomer)).replace(/"exp":\d+/, '"exp":1e999');
      const key = await newcomer.signing.key.privateKey("sign");
      return { body: await rawJws(key, { alg: "PS256", typ: "JWT", kid: newcomer.signing.kid }, text) };
    },
    "a life of more than an hour": claiming({ exp: NOW + 3601 }),
    "iat 31 s ahead": claiming({ iat: NOW + 31, exp: NOW + 300 }),
    "iat more than an hour ago": claiming({ iat: NOW - 3601, exp: NOW - 1 }),
    "nbf 31 s ahead": claiming({ nbf: NOW + 31 }),
    "aud is the API": claiming({ aud: BASE_URL }),
    "aud is an issuer": claiming({ aud: `${AUTH_URL}/BANKA` }),
    "aud is the audience with a slash": claiming({ aud: `${REGISTRATION_AUDIENCE}/` }),
    "aud is an array of the audience": claiming({ aud: [REGISTRATION_AUDIENCE] }),
    "aud is an array with more": claiming({ aud: [REGISTRATION_AUDIENCE, BASE_URL] }),
    "aud empty": claiming({ aud: "" }),
    "iss is another participant": claiming({ iss: "Other Shop Ltd" }),
    "iss is the client id": (newcomer) => ({ claims: { iss: newcomer.clientId } }),
    "iss empty": claiming({ iss: "" }),
    "iss of 10,000 characters": claiming({ iss: "New Shop Ltd".padEnd(10_000, " ") }),
    "jti empty": claiming({ jti: "" }),
    "jti a number": claiming({ jti: 7 }),
    "jti of 257 characters": claiming({ jti: "j".repeat(257) }),
  });
});

Deno.test("POST register refuses redirect_uris that the statement does not have [DC-N11] [DC9]", async (t) => {
  await refuseAll(t, "invalid_redirect_uri", {
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

Deno.test("POST register refuses redirect_uris that are missing, empty or no list [DC-N12]", async (t) => {
  await refuseAll(t, "invalid_redirect_uri", {
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

Deno.test("POST register refuses redirect_uris of bad form even where the statement has them [DC-N12] [DC9]", async (t) => {
  const stated = (redirect_uris: readonly string[]): Make => async (newcomer) => ({
    statement: await statementWith(newcomer, { claims: { software_redirect_uris: redirect_uris } }),
    claims: { redirect_uris },
  });
  await refuseAll(t, "invalid_redirect_uri", {
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
  });
});

Deno.test("POST register refuses two redirect_uris of a bank [DC-N12]", async () => {
  await using world = await openWorld(MANY_REGISTRATIONS);
  const redirect_uris = ["https://bank-a.example/sca", "https://bank-a.example/sca2"];
  const statement = await statementWith(world.bankA, {
    claims: { software_redirect_uris: redirect_uris, iat: NOW + 20 },
  });
  const attempt = (): Promise<Response> =>
    postRegistration(world, world.bankA, { statement, claims: { redirect_uris } });
  await assertRefused(world, attempt, 400, "invalid_redirect_uri");
});

Deno.test("POST register refuses other ways of client authentication [DC-N13] [DC8]", async (t) => {
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
  await refuseAll(
    t,
    "invalid_client_metadata",
    Object.fromEntries(
      methods.map((method) => [`"${method}"`, claiming({ token_endpoint_auth_method: method })]),
    ),
  );
});

Deno.test("POST register refuses other response types [DC-N14] [DC8]", async (t) => {
  const types = [["id_token", "token"], ["code", "token"], ["code id_token"], ["code", "code"], [], "token"];
  await refuseAll(
    t,
    "invalid_client_metadata",
    Object.fromEntries(types.map((type) => [JSON.stringify(type), claiming({ response_types: type })])),
  );
});

Deno.test("POST register refuses grants and scopes that are not the role's [DC-N15] [DC8]", async (t) => {
  const both = ["client_credentials", "authorization_code"];
  await refuseAll(t, "invalid_client_metadata", {
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

Deno.test("POST register refuses a bank with a TPP's scope or without authorization_code [DC-N15] [DC8]", async (t) => {
  await using world = await openWorld(MANY_REGISTRATIONS);
  const statement = await statementWith(world.bankA, { claims: { iat: NOW + 20 } });
  for (
    const [name, claims] of Object.entries({
      "scope payments": { scope: "payments" },
      "client_credentials alone": { grant_types: ["client_credentials"] },
      "implicit": { grant_types: ["authorization_code", "implicit"] },
    })
  ) {
    await t.step(name, async () => {
      const attempt = (): Promise<Response> => postRegistration(world, world.bankA, { statement, claims });
      await assertRefused(world, attempt, 400, "invalid_client_metadata");
    });
  }
  await t.step("and takes it with both grants [B1]", async () => {
    const claims = { grant_types: ["authorization_code", "client_credentials"] };
    assertEquals((await postRegistration(world, world.bankA, { statement, claims })).status, 201);
  });
});

Deno.test("POST register refuses a software_id unlike the statement's [DC-N16] [DC10]", async (t) => {
  await refuseAll(t, "invalid_client_metadata", {
    "another participant's": (_, world) => ({ claims: { software_id: world.tpp.clientId } }),
    "in other case": (newcomer) => ({ claims: { software_id: newcomer.clientId.toLowerCase() } }),
    "empty": claiming({ software_id: "" }),
    "a number": claiming({ software_id: 7 }),
  });
});

Deno.test("POST register refuses other algorithms than PS256 [DC-N17] [DC8]", async (t) => {
  const members = [
    "request_object_signing_alg",
    "token_endpoint_auth_signing_alg",
    "id_token_signed_response_alg",
  ];
  await refuseAll(
    t,
    "invalid_client_metadata",
    Object.fromEntries(
      members.flatMap((member) =>
        ["RS256", "none", "ES256", ""].map((alg) => [`${member} "${alg}"`, claiming({ [member]: alg })])
      ),
    ),
  );
});

Deno.test("POST register refuses jwks and jwks_uri together [DC13]", async (t) => {
  await refuseAll(t, "invalid_client_metadata", {
    "both": claiming({ jwks: { keys: [] }, jwks_uri: "https://new.example/jwks" }),
  });
});

Deno.test("POST register refuses JWTs that were made for something else [DC-N27]", async (t) => {
  const proofTarget = { method: "POST", url: `${BASE_URL}/register/v1` };
  await refuseAll(t, "invalid_client_metadata", {
    "a client assertion": async (newcomer, world) => ({
      body: await clientAssertion(world, newcomer, "BANKA"),
    }),
    "a client assertion with typ JWT for the registration": async (newcomer, world) => ({
      body: await clientAssertion(world, newcomer, "BANKA", {
        header: { typ: "JWT" },
        claims: { aud: REGISTRATION_AUDIENCE },
      }),
    }),
    "a client assertion with everything of a registration": (newcomer) => ({
      claims: { sub: newcomer.clientId },
    }),
    "a DPoP proof": async (newcomer, world) => ({
      body: await dpopProof(world, newcomer.signing.key, proofTarget),
    }),
    "a registration JWT as a DPoP proof": async (newcomer, world) => ({
      body: await dpopProof(world, newcomer.signing.key, proofTarget, {
        header: { kid: newcomer.signing.kid },
        claims: withChanges(registrationClaims(world, newcomer)),
      }),
    }),
    "the software statement itself": (newcomer) => ({ body: newcomer.statement }),
  });
});
