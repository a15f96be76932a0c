/**
 * Headers that choose, contain or refer to a key, or that ask for other processing, at every place that accepts a JWT.
 */
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
import type { JwtPlace } from "support/jwt_place.ts";
import { thumbprint } from "testing/jwts.ts";
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

function swapped(kid: string): string {
  return [...kid].map((letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()
  ).join("");
}
