/**
 * Tokens that are too large, ambiguous or encoded in a second way, at every place that accepts a JWT (contract J1 to
 * J38).
 */
import { assertEquals } from "@std/assert";
import { costOf } from "support/crypto_meter.ts";
import { call, clientToken, consentBody } from "testing/flows.ts";
import { type Attack, claims, forged, MALFORMED, rejectedEverywhere } from "support/jwt_attacks.ts";
import { jwtPlaces } from "support/jwt_places.ts";
import type { JwsParts, JwtPlace, PlacedKind } from "support/jwt_place.ts";
import { assertApiError } from "testing/oauth_requests.ts";
import { assertFaults } from "testing/resource_answers.ts";
import { openEnvironment } from "testing/environment.ts";
import { concat } from "testing/raw_jws.ts";
import { steps } from "support/steps.ts";
import { unchanged } from "testing/store_contents.ts";

const NO_CLAIMS_OF_ITS_OWN = { notAt: ["signature"] } as const;

Deno.test("oversized tokens are rejected before any of their cryptography [J14]", async (t) => {
  await using env = await openEnvironment();
  const members = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`c${index}`, index]));
  const oversized: Readonly<Record<string, (good: JwsParts) => Promise<string>>> = {
    "1 MB of nothing": () => Promise.resolve("A".repeat(1_000_000)),
    "1 MB in the signature": async (good) => `${await forged(good)}${"A".repeat(1_000_000)}`,
    "a header of 100 kB": (good) => forged(good, { header: { x: "x".repeat(100_000) } }),
    "a header of 10,000 members": (good) => forged(good, { header: members }),
    "10,000 segments": () => Promise.resolve("AAAA.".repeat(20_000)),
    "a jti of 100 kB": (good) => forged(good, { claims: { jti: "j".repeat(100_000) } }),
    "10,000 claims": (good) => forged(good, { claims: members }),
  };
  for (const place of await jwtPlaces(env)) {
    for (const [name, make] of Object.entries(oversized)) {
      if (place.kind === "signature" && /jti|claims/.test(name)) continue;
      await t.step(`${place.name}: ${name}`, async () => {
        const token = await make(await place.parts());
        const { result, cost } = await costOf(() => unchanged(env, () => place.present(token)));
        assertEquals([cost.verified, cost.decrypted], [checkedBefore(place), 0]);
        if (place.carrier === "header" || place.kind === "return") await place.rejects(result, MALFORMED);
        else await assertApiError(result, [413, "invalid_request"]);
      });
    }
  }
});

/** Number of signatures that are checked first: the client's, or the proof's. */
function checkedBefore({ kind, name }: JwtPlace): number {
  if (kind === "signature") return 1;
  return kind === "proof" && !/^(GET|POST) /.test(name) ? 1 : 0;
}

Deno.test("a token with a member twice has two readings, and is rejected for it [J15] [JWS-04] [CA8]", async (t) => {
  await using env = await openEnvironment();
  const doubled = (name: string, prefix: string, of: "header" | "claims"): Attack => ({
    name: `${of}: ${name}`,
    forge: (good) => forged(good, { [of]: prefixed(good, prefix, of) }),
    notAt: of === "claims" ? ["signature"] : [],
  });
  const appended = (name: string, suffix: string, of: "header" | "claims"): Attack => ({
    name: `${of}: ${name}`,
    forge: (good) => forged(good, { [of]: segmentText(good, of).replace(/\}$/, `,${suffix}}`) }),
    notAt: of === "claims" ? ["signature"] : [],
  });
  await rejectedEverywhere(t, env, await jwtPlaces(env), [
    doubled("alg none, then PS256", '"alg":"none"', "header"),
    doubled("alg escaped, then as it is", '"\\u0061lg":"none"', "header"),
    appended("PS256, then alg none", '"alg":"none"', "header"),
    appended("PS256 twice", '"alg":"PS256"', "header"),
    doubled("an unknown member twice", '"x":1,"x":1', "header"),
    doubled("a member of a member twice", '"x":{"y":1,"y":2}', "header"),
    doubled("iss of another, then its own", '"iss":"evil","iss":"evil"', "claims"),
    doubled("jti twice, escaped", '"\\u006ati":"x"', "claims"),
    appended("jti again", '"jti":"x"', "claims"),
    doubled("an unknown member twice", '"x":1,"\\u0078":2', "claims"),
    doubled("a member of a member twice", '"x":{"y":[{"z":1,"z":1}]}', "claims"),
  ]);
});

Deno.test("a body with a member twice is rejected although its signature is good [J15] [RP-N10]", async (t) => {
  await using env = await openEnvironment();
  const bound = await clientToken(env, env.tpp);
  const good = JSON.stringify(consentBody());
  const bodies = {
    "Amount twice": good.replace('"Amount":"165.88"', '"Amount":"1.00","Amount":"165.88"'),
    "Amount twice, escaped": good.replace('"Amount":"165.88"', '"Amount":"1.00","\\u0041mount":"165.88"'),
    "Risk twice": good.replace(/\}$/, ',"Risk":{}}'),
  };
  await steps(t, bodies, async (body) => {
    const path = "/BANKA/domestic-payment-consents/v1";
    const answer = await unchanged(env, () => call(env, env.tpp, bound, path, { body }));
    await assertFaults(answer, 400, [["Resource.InvalidFormat"]]);
  });
});

Deno.test("a token is one plain JSON object in UTF-8 with finite numbers, twice over [J16] [CA5] [CA8]", async (t) => {
  await using env = await openEnvironment();
  const places = await jwtPlaces(env);
  const odd = (name: string, change: (json: string) => string | Uint8Array): readonly Attack[] => [
    {
      name: `header: ${name}`,
      forge: (good) => forged(good, { header: change(segmentText(good, "header")) }),
    },
    {
      name: `claims: ${name}`,
      forge: (good) => forged(good, { claims: change(segmentText(good, "claims")) }),
      ...NO_CLAIMS_OF_ITS_OWN,
    },
  ];
  await rejectedEverywhere(t, env, places, [
    ...odd("a byte order mark before it", (json) => `\ufeff${json}`),
    ...odd("NUL behind it", (json) => `${json}\0`),
    ...odd("two of them", (json) => json + json),
    ...odd("a list of it", (json) => `[${json}]`),
    ...odd("a text of it", (json) => JSON.stringify(json)),
    ...odd("null", () => "null"),
    ...odd("UTF-16", (json) => new Uint8Array([...json].flatMap((letter) => [0, letter.charCodeAt(0)]))),
    ...odd("no UTF-8", (json) => concat(json.slice(0, -1), ',"x":"', new Uint8Array([0xff]), '"}')),
    ...odd(
      "an overlong NUL",
      (json) => concat(json.slice(0, -1), ',"x":"', new Uint8Array([0xc0, 0x80]), '"}'),
    ),
    ...odd("half a surrogate pair", (json) => json.replace(/\}$/, ',"x":"\\ud800"}')),
    ...odd("an infinite number", (json) => json.replace(/\}$/, ',"x":1e999}')),
    ...odd("20 levels", (json) => json.replace(/\}$/, `,"x":${"[".repeat(20)}${"]".repeat(20)}}`)),
    ...odd("a comment", (json) => `/**/${json}`),
    ...odd("no JSON", () => "x"),
    ...odd("nothing", () => ""),
    claims("an empty object", "{}"),
  ]);
  await t.step("but fractions of a second, and members named __proto__, are harmless", async (t) => {
    for (const place of places.filter(({ kind }) => kind !== "signature")) {
      await t.step(place.name, async () => {
        const good = await place.parts();
        const at = timeOf(good, place.kind);
        const fraction = withTime(good, place.kind, `${at}.5`).replace(/^\{/, '{"__proto__":{"admin":true},');
        await place.takes(await place.present(await forged(good, { claims: fraction })));
      });
    }
  });
});

function segmentText(good: JwsParts, of: "header" | "claims"): string {
  const part = of === "header" ? good.header : good.payload;
  return typeof part === "string" ? part : JSON.stringify(part);
}

function prefixed(good: JwsParts, members: string, of: "header" | "claims"): string {
  return segmentText(good, of).replace(/^\{/, `{${members},`);
}

function timeName(kind: PlacedKind): string {
  return kind === "proof" ? "iat" : "exp";
}

function timeOf({ payload }: JwsParts, kind: PlacedKind): number {
  return typeof payload === "string" ? NaN : Number(payload[timeName(kind)]);
}

function withTime(good: JwsParts, kind: PlacedKind, json: string): string {
  return segmentText(good, "claims").replace(
    RegExp(`"${timeName(kind)}":\\d+`),
    `"${timeName(kind)}":${json}`,
  );
}
