/**
 * Headers that choose, contain or refer to a key, or that ask for other processing, at every place that accepts a JWT.
 */
import { assertEquals } from "@std/assert";
import { dpopProof } from "testing/jwts.ts";
import { testKey } from "testing/keys.ts";
import {
  type Attack,
  attack,
  forged,
  header,
  INVALID,
  MALFORMED,
  pss,
  rejectedEverywhere,
  type Sign,
  takenEverywhere,
  wrong,
} from "support/jwt_attacks.ts";
import { jwtPlaces, proofPlaces } from "support/jwt_places.ts";
import { type JwtPlace } from "support/jwt_place.ts";
import { call, clientToken, good, push, requestToken } from "testing/flows.ts";
import { redeem } from "testing/authorization_flow.ts";
import { thumbprint } from "testing/jwts.ts";
import { awaitingConsent, issueCode } from "testing/oauth_requests.ts";
import { assertChallenge, unchanged } from "testing/resource_answers.ts";
import { openEnvironment } from "testing/environment.ts";

const ODD_KIDS: Readonly<Record<string, unknown>> = {
  "unknown": "A".repeat(27),
  "10 kB": "k".repeat(10_000),
  "1,000 characters": "k".repeat(1000),
  "a path": "../../etc/passwd",
  "SQL": "' OR 1=1 --",
  "a URL": "https://evil.example/key",
  "with NUL": "a\0b",
  "__proto__": "__proto__",
  "constructor": "constructor",
  "hasOwnProperty": "hasOwnProperty",
  "empty": "",
  "a number": 7,
  "null": null,
  "a list": ["A".repeat(27)],
  "an object": { kid: "A".repeat(27) },
  "a boolean": true,
};
const NO_TEXT = ["empty", "a number", "null", "a list", "an object", "a boolean", "10 kB"];

Deno.test("a kid names a signing key of the sender's own or the JWT is rejected [J6] [RP7] [RP-N4] [JWS-06] [JWS-12] [CA-N7] [CA6] [DC-N8] [DC5] [DC17] [BR-N5]", async (t) => {
  await using env = await openEnvironment();
  const places = await jwtPlaces(env);
  const platformKid = await thumbprint(await testKey(12));
  const named = (name: string, kid: unknown): Attack => ({
    ...header(`kid ${name}`, { kid }, name === "10 kB" ? MALFORMED : wrong("kid")),
    notAt: ["proof"],
  });
  const foreign = (name: string, by: (place: JwtPlace) => { kid: string; sign?: Sign }): Attack => ({
    name,
    forge: (parts, place) => {
      const { kid, sign } = by(place);
      return forged(parts, { header: { kid }, ...(sign === undefined ? {} : { sign }) });
    },
    fault: wrong("kid"),
    notAt: ["proof"],
  });
  await rejectedEverywhere(t, env, places, [
    { ...header("kid missing", { kid: undefined }, ["Signature.MissingClaim", "kid"]), notAt: ["proof"] },
    ...Object.entries(ODD_KIDS).map(([name, kid]) => named(name, kid)),
    foreign("kid of another participant", () => ({ kid: env.otherTpp.signing.kid })),
    foreign("kid of another participant, who signs", () => ({
      kid: env.otherTpp.signing.kid,
      sign: pss(env.otherTpp.signing.key),
    })),
    foreign("kid of the sender's own transport key, which signs", ({ who }) => ({
      kid: who.transport.kid,
      sign: pss(who.transport.key),
    })),
    foreign("kid of the sender's encryption key, which signs", ({ who: { encryption, transport } }) => ({
      kid: (encryption ?? transport).kid,
      sign: pss((encryption ?? transport).key),
    })),
    foreign("kid of the platform", () => ({ kid: platformKid })),
    {
      name: "the good kid, signed by the sender's transport key",
      forge: (parts, { who }) => forged(parts, { sign: pss(who.transport.key) }),
      fault: INVALID,
      notAt: ["proof"],
    },
    foreign("kid in other case", ({ who }) => ({ kid: swapped(who.signing.kid) })),
  ]);
  await takenEverywhere(t, places);
});

Deno.test("a DPoP proof's kid says nothing, whatever it is [J6]", async (t) => {
  await using env = await openEnvironment();
  for (const place of await proofPlaces(env)) {
    if (place.name.startsWith("code")) continue; // a code is accepted once
    for (const name of NO_TEXT.filter((name) => name !== "10 kB")) {
      await t.step(`${place.name}: kid ${name}`, async () => {
        const token = await forged(await place.parts(), { header: { kid: ODD_KIDS[name] } });
        await place.takes(await place.present(token));
      });
    }
  }
});

Deno.test("a key in the header verifies nothing but a DPoP proof, and jwk is rejected elsewhere [J9] [CA7] [DC-N6]", async (t) => {
  await using env = await openEnvironment();
  const evil = await testKey(15);
  const notAt = ["proof"] as const;
  const jwk = (name: string, change: Readonly<Record<string, unknown>>, sign?: Sign): Attack => ({
    ...attack(name, { header: change, ...(sign === undefined ? {} : { sign }) }, wrong("jwk")),
    notAt,
  });
  await rejectedEverywhere(t, env, await jwtPlaces(env), [
    jwk("jwk of the attacker, who signs", { jwk: evil.publicJwk }, pss(evil)),
    {
      ...jwk(
        "jwk of the attacker, who signs, without kid",
        { jwk: evil.publicJwk, kid: undefined },
        pss(evil),
      ),
      fault: ["Signature.MissingClaim", "kid"],
    },
    jwk("jwk of the attacker, beside the good signature", { jwk: evil.publicJwk }),
    jwk("jwk null", { jwk: null }),
    jwk("jwk with an oct key", { jwk: { kty: "oct", k: "AAAA" } }),
    {
      name: "jwk of the good key",
      forge: (parts) => forged(parts, { header: { jwk: parts.key.publicJwk } }),
      fault: wrong("jwk"),
      notAt,
    },
  ]);
});

Deno.test("an attacker's own DPoP key opens nothing that is bound to another [J9]", async () => {
  await using env = await openEnvironment();
  const evil = await testKey(15);
  const bound = await clientToken(env, env.tpp);
  const consentId = await awaitingConsent(env);
  const stolen = { token: bound.token, key: evil };
  const path = `/BANKA/domestic-payment-consents/v1/${consentId}`;
  await assertChallenge(
    await unchanged(env, () => call(env, env.tpp, stolen, path)),
    401,
    'DPoP error="invalid_token", algs="PS256"',
  );
  const flow = await issueCode(env, { form: { dpop_jkt: await thumbprint(bound.key) } });
  const redeemed = await redeem(env, flow, { key: evil });
  assertEquals([redeemed.status, (await redeemed.json()).error], [400, "invalid_dpop_proof"]);
  const target = { method: "POST", url: "https://api.platform.example/BANKA/par.oauth2/v1" };
  const mixed = await push(env, consentId, {
    form: { dpop_jkt: await thumbprint(bound.key) },
    headers: { dpop: await dpopProof(env, evil, target) },
  });
  assertEquals([mixed.status, (await mixed.json()).error], [400, "invalid_request"]);
  await good(requestToken(env, env.tpp), 200);
});

Deno.test("no address in a JWT is ever called: jku, x5u [J10] [CA7] [DC-N6]", async (t) => {
  await using env = await openEnvironment();
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  let connections = 0;
  const accepting = (async () => {
    for await (const connection of listener) {
      connections += 1;
      connection.close();
    }
  })().catch(() => {}); // the listener is closed at the end
  const places = await jwtPlaces(env);
  const evil = await testKey(15);
  const own = `http://127.0.0.1:${listener.addr.port}/jwks`;
  const urls = [
    own,
    "https://evil.example/jwks",
    "http://169.254.169.254/latest/meta-data/",
    "https://directory.example/jwks",
    "file:///etc/passwd",
  ];
  const before = [...env.fetched];
  await rejectedEverywhere(
    t,
    env,
    places,
    urls.flatMap((url) =>
      ["jku", "x5u"].flatMap((member) => [
        header(`${member} ${url}, the good signature`, { [member]: url }, wrong(member)),
        attack(
          `${member} ${url}, the attacker signs`,
          { header: { [member]: url }, sign: pss(evil) },
          wrong(member),
        ),
      ])
    ),
  );
  assertEquals(env.fetched, before);
  assertEquals(connections, 0);
  listener.close();
  await accepting;
});

Deno.test("a certificate in the header, or the thumbprint of one, proves nothing [J11] [CA7]", async (t) => {
  await using env = await openEnvironment();
  const evil = env.otherTpp.signing;
  const notAt = ["proof"] as const;
  await rejectedEverywhere(t, env, await jwtPlaces(env), [
    attack("x5c of the attacker, who signs", {
      header: { x5c: [evil.certificate] },
      sign: pss(evil.key),
    }, wrong("x5c")),
    header("x5c of the attacker", { x5c: [evil.certificate] }, wrong("x5c")),
    header("x5c empty", { x5c: [] }, wrong("x5c")),
    {
      ...attack("x5c of the attacker, without kid", {
        header: { x5c: [evil.certificate], kid: undefined },
        sign: pss(evil.key),
      }, ["Signature.MissingClaim", "kid"]),
      notAt,
    },
    {
      name: "x5t of the victim, the attacker's kid and signature",
      forge: (parts, { who }) =>
        forged(parts, { header: { x5t: who.signing.kid, kid: evil.kid }, sign: pss(evil.key) }),
      fault: wrong("x5t"),
      notAt,
    },
    {
      name: "kid and x5t of the victim, the attacker's signature",
      forge: (parts, { who }) => forged(parts, { header: { x5t: who.signing.kid }, sign: pss(evil.key) }),
      fault: wrong("x5t"),
      notAt,
    },
    { ...attack("the victim's kid, the attacker's signature", { sign: pss(evil.key) }, INVALID), notAt },
  ]);
});

function swapped(kid: string): string {
  return [...kid].map((letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()
  ).join("");
}
