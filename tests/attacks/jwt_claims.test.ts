/**
 * Claims for another audience, kind, bank or time, keys in unusual encodings, and names that pollute prototypes
 * (contract J1 to J38).
 */
import { assertEquals } from "@std/assert";
import { call, clientToken, consentBody, postForm, requestToken } from "../../scripts/testing/flows.ts";
import {
  type Attack,
  claims,
  forged,
  header,
  rejectedEverywhere,
  takenEverywhere,
} from "../support/jwt_attacks.ts";
import { assertionOf, jwtPlaces, proofPlaces } from "../support/jwt_places.ts";
import { type JsonObject, signJwt } from "../../scripts/testing/jwts.ts";
import { largeTestKey, smallTestKey } from "../../scripts/testing/keys.ts";
import { assertApiError } from "../../scripts/testing/oauth_requests.ts";
import { onboardOnly, registrationClaims } from "../../scripts/testing/participants.ts";
import { NEWCOMER, postRegistration, registrationJwt } from "../../scripts/testing/registration.ts";
import { assertFaults, unchanged } from "../../scripts/testing/resource_answers.ts";
import {
  AUTH_URL,
  DIRECTORY_URL,
  openEnvironment,
  REGISTRATION_AUDIENCE,
} from "../../scripts/testing/environment.ts";

Deno.test("a client assertion proves no key, and a DPoP proof authenticates nobody [J27]", async (t) => {
  await using env = await openEnvironment();
  const { signing } = env.tpp;
  const target = { htm: "POST", htu: "https://api.platform.example/BANKA/token.oauth2/v1" };
  const proof = { ...target, iat: env.now / 1000, jti: crypto.randomUUID() };
  const key = { kid: undefined, jwk: signing.key.publicJwk };
  const asAssertions: Readonly<Record<string, () => Promise<string>>> = {
    "a proof by the client's signing key": () => signJwt(signing, proof, { ...key, typ: "dpop+jwt" }),
    "a proof with the claims of an assertion": () =>
      signJwt(signing, { ...assertionOf(env, env.tpp), ...target }, { ...key, typ: "dpop+jwt" }),
    "an assertion with the claims of a proof": () =>
      signJwt(signing, { ...assertionOf(env, env.tpp), ...target }),
    "an assertion of the type of a proof": () =>
      signJwt(signing, assertionOf(env, env.tpp), { typ: "dpop+jwt" }),
  };
  for (const [name, make] of Object.entries(asAssertions)) {
    await t.step(`${name}, as the assertion`, async () => {
      const token = await make();
      const send = () => requestToken(env, env.tpp, "BANKA", { form: { client_assertion: token } });
      await assertApiError(await unchanged(env, send), [401, "invalid_client"]);
    });
  }
  const asProofs: Readonly<Record<string, () => Promise<string>>> = {
    "an assertion": () => signJwt(signing, assertionOf(env, env.tpp), { typ: undefined }),
    "an assertion with its key and the claims of a proof": () =>
      signJwt(signing, { ...assertionOf(env, env.tpp), ...target }, { ...key, typ: "JWT" }),
    "an assertion of the type of a proof, without its key": () =>
      signJwt(signing, { ...assertionOf(env, env.tpp), ...target }, { typ: "dpop+jwt" }),
  };
  for (const [name, make] of Object.entries(asProofs)) {
    await t.step(`${name}, as the proof`, async () => {
      const token = await make();
      const send = () => requestToken(env, env.tpp, "BANKA", { proof: token });
      await assertApiError(await unchanged(env, send), [400, "invalid_dpop_proof"]);
    });
  }
});

Deno.test("a software statement registers nobody by itself, and a registration JWT is no statement [J28]", async (t) => {
  await using env = await openEnvironment();
  const newcomer = await onboardOnly(env, NEWCOMER);
  const own = registrationClaims(env, newcomer);
  const rejected = (name: string, body: () => Promise<string>, error: string): Promise<boolean> =>
    t.step(name, async () => {
      const token = await body();
      const answer = await unchanged(env, () => postRegistration(env, newcomer, { body: token }));
      await assertApiError(answer, [400, error]);
    });
  await rejected(
    "the statement by itself",
    () => Promise.resolve(newcomer.statement),
    "invalid_client_metadata",
  );
  await rejected(
    "another registration JWT as the statement",
    async () => registrationJwt(env, newcomer, { statement: await registrationJwt(env, newcomer) }),
    "unapproved_software_statement",
  );
  await rejected(
    "another registration JWT, of the directory by its word",
    async () =>
      registrationJwt(env, newcomer, {
        statement: await registrationJwt(env, newcomer, { claims: { iss: DIRECTORY_URL } }),
      }),
    "invalid_software_statement",
  );
  await rejected(
    "the statement's claims in the participant's hand",
    async () => registrationJwt(env, newcomer, { statement: await signJwt(newcomer.signing, own) }),
    "unapproved_software_statement",
  );
  await rejected(
    "a list of statements",
    () => registrationJwt(env, newcomer, { claims: { software_statement: [newcomer.statement] } }),
    "invalid_software_statement",
  );
  await rejected(
    "the claims of both in one",
    () =>
      signJwt(newcomer.signing, {
        ...own,
        software_statement: undefined,
        software_client_id: newcomer.clientId,
      }),
    "invalid_software_statement",
  );
});

Deno.test("an audience is one text: a list with the right one in it is rejected [J30]", async (t) => {
  await using env = await openEnvironment();
  const places = await jwtPlaces(env);
  const audiences = { assertion: `${AUTH_URL}/BANKA`, registration: REGISTRATION_AUDIENCE, return: AUTH_URL };
  const listed = (name: string, make: (aud: string) => unknown): Attack => ({
    name,
    forge: (good, { kind }) =>
      forged(good, { claims: { aud: make(new Map(Object.entries(audiences)).get(kind) ?? "") } }),
  });
  await rejectedEverywhere(t, env, places.filter(({ kind }) => kind in audiences), [
    listed("a list of it alone", (aud) => [aud]),
    listed("a list of it and an evil one", (aud) => [aud, "https://evil.example"]),
    listed("a list of an evil one and it", (aud) => ["https://evil.example", aud]),
    listed("a list in a list", (aud) => [[aud]]),
    listed("two in one text", (aud) => `${aud} https://evil.example`),
    listed("it with a slash", (aud) => `${aud}/`),
    listed("an object", (aud) => ({ aud })),
    listed("missing", () => undefined),
    listed("that of the next kind", () => DIRECTORY_URL),
  ]);
});

Deno.test("an assertion for one bank is worth nothing at another, and is not used up there [J31]", async () => {
  await using env = await openEnvironment();
  const assertion = await signJwt(env.tpp.signing, assertionOf(env, env.tpp));
  const form = { client_assertion: assertion };
  for (
    const send of [
      () => requestToken(env, env.tpp, "BANKB", { form }),
      () =>
        postForm(
          env,
          "/BANKB/par.oauth2/v1",
          { ...form, client_id: env.tpp.clientId, ...TYPE },
          env.tpp,
        ),
    ]
  ) {
    await assertApiError(await unchanged(env, send), [401, "invalid_client"]);
  }
  assertEquals((await requestToken(env, env.tpp, "BANKA", { form })).status, 200);
});

const TYPE = { client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" };

Deno.test("a DPoP key with any private member is rejected, also without d [J33]", async (t) => {
  await using env = await openEnvironment();
  const places = await proofPlaces(env);
  const withMembers = (...names: ("d" | "p" | "q" | "dp" | "dq" | "qi")[]): Attack => ({
    name: `jwk with ${names.join(", ")}`,
    forge: (good) => {
      const members = Object.fromEntries(names.map((name) => [name, good.key.privateJwk[name]]));
      return forged(good, { header: { jwk: { ...good.key.publicJwk, ...members } } });
    },
  });
  const shown = (name: string, members: JsonObject): Attack => ({
    name,
    forge: (good) => forged(good, { header: { jwk: { ...good.key.publicJwk, ...members } } }),
  });
  await rejectedEverywhere(t, env, places, [
    withMembers("p", "q"),
    withMembers("p", "q", "dp", "dq", "qi"),
    ...(["d", "p", "q", "dp", "dq", "qi"] as const).map((name) => withMembers(name)),
    shown("jwk with oth", { oth: [] }),
    shown("jwk with k", { k: "AAAA" }),
    shown("jwk with an empty d", { d: "" }),
    shown("jwk with d null", { d: null }),
  ]);
});

Deno.test("a DPoP key has one spelling and a sound size [J34] [J5]", async (t) => {
  await using env = await openEnvironment();
  const places = await proofPlaces(env);
  const { n: small } = (await smallTestKey()).publicJwk;
  const spelled = (name: string, change: (n: string) => JsonObject): Attack => ({
    name,
    forge: (good) =>
      forged(good, { header: { jwk: { ...good.key.publicJwk, ...change(good.key.publicJwk.n) } } }),
  });
  const octets = (change: (n: Uint8Array) => Uint8Array) => (n: string): JsonObject => {
    const bytes = Uint8Array.fromBase64(n, { alphabet: "base64url" });
    return { n: change(bytes).toBase64({ alphabet: "base64url", omitPadding: true }) };
  };
  await rejectedEverywhere(t, env, places, [
    spelled("n with a leading zero octet", octets((n) => new Uint8Array([0, ...n]))),
    spelled("n with two leading zero octets", octets((n) => new Uint8Array([0, 0, ...n]))),
    spelled("n padded", (n) => ({ n: `${n}==` })),
    spelled("n even", octets((n) => n.with(-1, (n.at(-1) ?? 0) & 0xfe))),
    spelled("n a power of two", octets((n) => new Uint8Array(n.length).with(0, 0x80))),
    spelled("n zero", octets((n) => new Uint8Array(n.length))),
    spelled("n empty", () => ({ n: "" })),
    spelled("n a number", () => ({ n: 5 })),
    spelled("n a list", (n) => ({ n: [n] })),
    spelled("n of 1024 bits", () => ({ n: small })),
    spelled("n of 2047 bits", octets((n) => n.with(0, 0x7f))),
    spelled("n of 4097 bits", octets(() => new Uint8Array(513).fill(0xff).with(0, 1))),
    spelled("n of 8 kB", octets(() => new Uint8Array(5000).fill(0xff))),
    ...["AAEAAQ", "AAAAAQAB", "AQABAA", "Aw", "AQ", "AA", "", "AQAB=", "AQAC", "/////w"].map((e) =>
      spelled(`e ${e === "" ? "empty" : e}`, () => ({ e }))
    ),
    spelled("e a number", () => ({ e: 65537 })),
    spelled("kty in lower case", () => ({ kty: "rsa" })),
    spelled("kty EC", () => ({ kty: "EC", crv: "P-256", x: "AA", y: "AA" })),
    spelled("kty missing", () => ({ kty: undefined })),
    ...[null, "key", [], {}, 7, true].map((jwk) => header(`jwk ${JSON.stringify(jwk)}`, { jwk })),
  ]);
  await t.step("a key of 3072 bits is fine", async () => {
    assertEquals((await requestToken(env, env.tpp, "BANKA", { key: await largeTestKey() })).status, 200);
  });
  await takenEverywhere(t, places);
});

Deno.test("names of Object.prototype in headers, claims, forms and bodies change nothing [J37]", async (t) => {
  await using env = await openEnvironment();
  const before = Object.getOwnPropertyNames(Object.prototype).sort();
  const places = await jwtPlaces(env);
  const pollution =
    '"__proto__":{"admin":true,"kid":"x","alg":"PS256"},"constructor":{"prototype":{"admin":true}}';
  await rejectedEverywhere(t, env, places, [
    { ...claims("claims of names of Object.prototype alone", `{${pollution}}`) },
    header("a header of names of Object.prototype alone", `{${pollution}}`, [
      "Signature.MissingClaim",
      "alg",
    ]),
    claims(
      "claims with the good ones one level down",
      '{"__proto__":{"iss":"x","sub":"x","exp":9999999999}}',
    ),
  ]);
  await t.step("a form with such parameters is taken", async () => {
    const names = ["__proto__", "constructor", "__proto__[admin]", "toString"];
    const form = Object.fromEntries(names.map((name) => [name, "1"]));
    assertEquals((await requestToken(env, env.tpp, "BANKA", { form })).status, 200);
  });
  for (const name of ["__proto__", "constructor", "toString"]) {
    await t.step(`a body with ${name} is rejected`, async () => {
      const bound = await clientToken(env, env.tpp);
      const body = JSON.stringify(consentBody()).replace(/^\{/, `{"${name}":{"admin":true},`);
      const path = "/BANKA/domestic-payment-consents/v1";
      const answer = await unchanged(env, () => call(env, env.tpp, bound, path, { body }));
      await assertFaults(answer, 400, [["Field.Unexpected", name]]);
    });
  }
  await t.step("and JWTs with such claims beside the good ones are taken", async (t) => {
    for (const place of places.filter(({ kind }) => kind !== "signature")) {
      await t.step(place.name, async () => {
        const good = await place.parts();
        const json = JSON.stringify(good.payload).replace(/^\{/, `{${pollution},`);
        await place.takes(await place.present(await forged(good, { claims: json })));
      });
    }
  });
  assertEquals(Object.getOwnPropertyNames(Object.prototype).sort(), before);
  assertEquals(Reflect.get({}, "admin"), undefined);
});
