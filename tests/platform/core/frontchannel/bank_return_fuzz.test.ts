import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { IMPLICIT, returnTo, sealedReturn, sealedUnderHeader, signedReturn } from "testing/bank_return.ts";
import { returnClaims, toBank } from "testing/authorization_flow.ts";
import { assertCodeAnswer, codesIssued, headingOf, PAGE } from "testing/front_channel.ts";
import { sealToPlatform } from "testing/jwts.ts";
import { openEnvironment } from "testing/environment.ts";
import { rawJws } from "testing/raw_jws.ts";

const RUNS = 150;

Deno.test("GET authorization.sca.oauth2: no mutation of a good return is a code, moves anything, or is a failure of ours [BR17] [J24] [J38]", async (t) => {
  await using env = await openEnvironment();
  const flow = await toBank(env, { body: IMPLICIT });
  const jws = await signedReturn(env, flow);
  const sealed = await sealToPlatform(env, jws);
  const key = await env.bankA.signing.key.privateKey("sign");
  const header = { alg: "PS256", typ: "JWT", kid: env.bankA.signing.kid };
  const claims = returnClaims(env, env.bankA, flow.handover);
  const rejected = async (path: string): Promise<void> => {
    const answer = await flow.browser.open(path);
    assertEquals([answer.status, headingOf(await answer.text())], [400, PAGE.not_authentic]);
  };
  const run = (name: string, property: fc.IAsyncProperty<unknown>): Promise<boolean> =>
    t.step(name, () => fc.assert(property, { numRuns: RUNS, seed: 4711 }));

  await run(
    "a character of the sealed token",
    fc.asyncProperty(
      fc.nat(sealed.length - 1),
      fc.string({ minLength: 1, maxLength: 1 }),
      async (at, other) => {
        fc.pre(sealed[at] !== other && !isUnusedBits(sealed, at));
        await rejected(returnTo("BANKA", sealed.slice(0, at) + other + sealed.slice(at + 1)));
      },
    ),
  );
  await run(
    "a character of the signed token",
    fc.asyncProperty(fc.nat(jws.length - 1), fc.string({ minLength: 1, maxLength: 1 }), async (at, other) => {
      fc.pre(jws[at] !== other);
      await rejected(await sealedReturn(env, "BANKA", jws.slice(0, at) + other + jws.slice(at + 1)));
    }),
  );
  await run(
    "any member of the outer header",
    fc.asyncProperty(
      fc.constantFrom("alg", "enc", "kid", "cty", "zip", "x"),
      fc.jsonValue(),
      async (name, value) => {
        fc.pre(name !== "cty" || String(value).toUpperCase() !== "JWT");
        await rejected(returnTo("BANKA", await sealedUnderHeader(env, jws, { [name]: value })));
      },
    ),
  );
  await run(
    "any member of the inner header",
    fc.asyncProperty(
      fc.constantFrom("alg", "kid", "typ", "crit", "b64", "jwk"),
      fc.jsonValue(),
      async (name, value) => {
        await rejected(
          await sealedReturn(env, "BANKA", await rawJws(key, { ...header, [name]: value }, claims)),
        );
      },
    ),
  );
  const judged = ["iss", "aud", "jti", "correlation_id", "bank_id"] as const;
  await run(
    "any claim that names who answers whom",
    fc.asyncProperty(fc.constantFrom(...judged), fc.jsonValue(), async (name, value) => {
      fc.pre(name !== "jti" || typeof value !== "string" || value === "");
      await rejected(
        await sealedReturn(env, "BANKA", await rawJws(key, header, { ...claims, [name]: value })),
      );
    }),
  );
  await run(
    "any claim that dates it or names its consent: back to the TPP with an error, as the bank signed it for this browser [G1]",
    fc.asyncProperty(fc.constantFrom("exp", "iat", "nbf", "ref_id"), fc.jsonValue(), async (name, value) => {
      fc.pre(name === "ref_id" ? typeof value === "string" && value !== "" : typeof value !== "number");
      const changed = await rawJws(key, header, { ...claims, [name]: value });
      const answer = await flow.browser.open(await sealedReturn(env, "BANKA", changed));
      assertEquals(new URL(answer.headers.get("location") ?? "").searchParams.get("error"), "server_error");
    }),
  );
  await t.step("and the good one is good still", async () => {
    assertEquals(await codesIssued(env), 0);
    await assertCodeAnswer(await flow.browser.open(returnTo("BANKA", sealed)));
  });
});

/** The last character of a segment may contain unused bits. */
function isUnusedBits(token: string, at: number): boolean {
  return at === token.length - 1 || token[at + 1] === ".";
}
