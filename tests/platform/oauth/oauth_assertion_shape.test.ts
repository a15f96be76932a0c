/** Client assertions at the token endpoint (both grants) and PAR: header, kind and spelling of the JWT. */
import { assertEquals } from "@std/assert";
import {
  asAssertion,
  assertionClaims,
  claiming,
  headed,
  type WithAssertion,
} from "../../support/assertions.ts";
import { clientAssertion, type JsonObject } from "../../../scripts/testing/jwts.ts";
import {
  acceptedEverywhere,
  type Case,
  rejectedEverywhere,
} from "../../../scripts/testing/oauth_requests.ts";
import { registrationClaims } from "../../../scripts/testing/participants.ts";
import { openEnvironment } from "../../../scripts/testing/environment.ts";
import { rawJws, strayBits } from "../../../scripts/testing/raw_jws.ts";

const UNAUTHENTICATED = [401, "invalid_client"] as const;

Deno.test("POST token, par reject header members that bring keys or processing rules [CA7]", async (t) => {
  await using env = await openEnvironment();
  const { key, kid } = env.tpp.signing;
  const evil = env.otherTpp.signing;
  const members = {
    jwk: key.publicJwk,
    jku: "https://evil.example/jwks",
    x5u: "https://evil.example/cert",
    x5c: [env.tpp.signing.certificate],
    crit: ["exp"],
    b64: false,
    zip: "DEF",
    enc: "A256GCM",
    epk: { kty: "EC" },
    p2c: 1,
  };
  const fetched = [...env.fetched];
  await rejectedEverywhere(t, env, UNAUTHENTICATED, {
    ...Object.fromEntries(
      Object.entries(members).map(([name, value]): [string, Case] => [
        name,
        () => headed(env, key, { alg: "PS256", kid, [name]: value }),
      ]),
    ),
    "b64 with crit": () => headed(env, key, { alg: "PS256", kid, b64: false, crit: ["b64"] }),
    "empty crit": () => headed(env, key, { alg: "PS256", kid, crit: [] }),
    "jwk of the attacker who signs": () =>
      headed(env, evil.key, { alg: "PS256", kid, jwk: evil.key.publicJwk }),
    "jku of the attacker who signs": () =>
      headed(env, evil.key, { alg: "PS256", kid, jku: "https://evil.example/jwks" }),
  });
  assertEquals(env.fetched.filter((url) => url.includes("evil")), []);
  assertEquals(env.fetched, fetched);
});

Deno.test("POST token, par reject other spellings of a good assertion [CA-N18]", async (t) => {
  await using env = await openEnvironment();
  const respelled = (change: (assertion: string) => string): Case => async () =>
    asAssertion(change(await clientAssertion(env, env.tpp, "BANKA")));
  const spoilt = (index: number, change: (part: string) => string) => (assertion: string): string =>
    assertion.split(".").map((part, at) => at === index ? change(part) : part).join(".");
  await rejectedEverywhere(t, env, UNAUTHENTICATED, {
    "space behind": respelled((text) => `${text} `),
    "space before": respelled((text) => ` ${text}`),
    "newline behind": respelled((text) => `${text}\n`),
    "tab inside": respelled((text) => text.replace(".", "\t.")),
    "== behind": respelled((text) => `${text}==`),
    "= behind the header": respelled(spoilt(0, (part) => `${part}=`)),
    "stray bits in the signature": respelled(spoilt(2, strayBits)),
    "base64 in place of base64url": respelled(spoilt(2, (part) => `${part.slice(0, -4)}+/${part.slice(-2)}`)),
    "a fourth segment": respelled((text) => `${text}.x`),
    "an empty fourth segment": respelled((text) => `${text}.`),
    "two assertions": respelled((text) => `${text},${text}`),
    "JSON serialisation": respelled((text) => {
      const [header, payload, signature] = text.split(".");
      return JSON.stringify({ protected: header, payload, signature });
    }),
    "9 kB": () => claiming(env, { padding: "x".repeat(6200) }),
  });
});

Deno.test("POST token, par accept unknown claims and the two names of the type [CA-N20] [FAPI-D19]", async (t) => {
  await using env = await openEnvironment();
  const typed = (typ: string): Case => async () =>
    asAssertion(await clientAssertion(env, env.tpp, "BANKA", { header: { typ } }));
  await acceptedEverywhere(t, env, {
    "extra claims": () =>
      claiming(env, { tx_id: 1, scope: "x", "https://example.com/a": [null], client_id: "x" }),
    "extra header": async () =>
      asAssertion(await clientAssertion(env, env.tpp, "BANKA", { header: { tx_id: "1" } })),
    "typ JWT": typed("JWT"),
    "typ jwt": typed("jwt"),
    "typ client-authentication+jwt": typed("client-authentication+jwt"),
    "typ application/client-authentication+jwt": typed("application/client-authentication+jwt"),
  });
});

Deno.test("POST token, par reject an assertion that says it is something else [CA-N21]", async (t) => {
  await using env = await openEnvironment();
  const { key, kid } = env.tpp.signing;
  const typed = (typ: unknown): Case => () => headed(env, key, { alg: "PS256", kid, typ });
  await rejectedEverywhere(t, env, UNAUTHENTICATED, {
    "dpop+jwt": typed("dpop+jwt"),
    "JOSE": typed("JOSE"),
    "at+jwt": typed("at+jwt"),
    "JWS": typed("JWS"),
    "empty": typed(""),
    "null": typed(null),
    "array": typed(["JWT"]),
  });
});

Deno.test("POST token, par reject other kinds of JWT as an assertion [CA-N22]", async (t) => {
  await using env = await openEnvironment();
  const { tpp } = env;
  const disguised = (kind: JsonObject): Case => () => claiming(env, kind);
  const sign = async (claims: JsonObject): Promise<WithAssertion> =>
    asAssertion(
      await rawJws(await tpp.signing.key.privateKey("sign"), {
        alg: "PS256",
        kid: tpp.signing.kid,
        typ: "JWT",
      }, claims),
    );
  await rejectedEverywhere(t, env, UNAUTHENTICATED, {
    "the software statement": () => asAssertion(tpp.statement),
    "a registration JWT": () => sign(registrationClaims(env, tpp)),
    "a registration JWT for this audience": () =>
      sign({ ...registrationClaims(env, tpp), ...assertionClaims(env) }),
    "a DPoP proof's claims": disguised({
      htm: "POST",
      htu: "https://api.platform.example/BANKA/token.oauth2/v1",
    }),
    "a bank's handover JWT": disguised({ correlation_id: crypto.randomUUID(), bank_id: "BANKA" }),
  });
});

Deno.test("POST token, par reject a header or claims that are not one plain JSON object [CA5, CA8]", async (t) => {
  await using env = await openEnvironment();
  const { key, kid } = env.tpp.signing;
  const text = JSON.stringify(assertionClaims(env)).slice(1);
  const payload = (part: string | Uint8Array): Case => async () =>
    asAssertion(await rawJws(await key.privateKey("sign"), { alg: "PS256", kid }, part));
  const header = (part: string): Case => async () =>
    asAssertion(await rawJws(await key.privateKey("sign"), part, assertionClaims(env)));
  await rejectedEverywhere(t, env, UNAUTHENTICATED, {
    "claims: array": payload(`[${JSON.stringify(assertionClaims(env))}]`),
    "claims: text": payload(JSON.stringify("x")),
    "claims: null": payload("null"),
    "claims: no JSON": payload("x"),
    "claims: empty object": payload("{}"),
    "claims: duplicate iss": payload(`{"iss":"evil",${text}`),
    "claims: duplicate iss, escaped": payload(`{"\\u0069ss":"evil",${text}`),
    "claims: BOM": payload(`\ufeff{${text}`),
    "claims: NUL behind": payload(`{${text}\0`),
    "claims: not UTF-8": payload(new Uint8Array([...new TextEncoder().encode(`{"x":"`), 0xff, 0x22, 0x7d])),
    "header: array": header(JSON.stringify([{ alg: "PS256", kid }])),
    "header: duplicate alg": header(`{"alg":"none",${JSON.stringify({ alg: "PS256", kid }).slice(1)}`),
    "header: no JSON": header("x"),
  });
});
