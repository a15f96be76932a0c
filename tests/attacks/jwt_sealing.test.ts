/**
 * Nested JWTs: JWS and JWE layers that are missing, doubled or wrong, above all at the bank's return (contract J1 to
 * J38).
 */
import {
  assertNotAuthentic,
  IMPLICIT,
  returnTo,
  sealedUnderHeader,
  signedReturn,
} from "testing/bank_return.ts";
import { type AtBank, returnClaims, toBank } from "testing/authorization_flow.ts";
import { assertCodeAnswer } from "testing/front_channel.ts";
import { type Attack, forged, rejectedEverywhere, takenEverywhere } from "support/jwt_attacks.ts";
import { jwtPlaces } from "support/jwt_places.ts";
import { type JsonObject, sealToPlatform, signBytes, signJwt } from "testing/jwts.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { segment } from "testing/raw_jws.ts";
import { notAuthentic, OFF_CURVE, PASSWORD, unopened } from "./unopened.ts";
import { stepsOf } from "support/steps.ts";

Deno.test("a handover JWT is claims in a JWS in a JWE, and nothing in fewer or more layers [J19] [BR-N4] [BR-N16] [BR3]", async (t) => {
  const sealed =
    (make: (env: Environment, flow: AtBank) => string | Promise<string>) =>
    async (env: Environment, flow: AtBank): Promise<string> =>
      await sealToPlatform(env, await make(env, flow));
  const again = (env: Environment, token: string): Promise<string> => sealToPlatform(env, token);
  const claims = (env: Environment, flow: AtBank): JsonObject => returnClaims(env, env.bankA, flow.handover);
  const around = (make: (env: Environment, flow: AtBank) => Promise<string>, cty?: string) =>
    sealed(async (env, flow) => {
      const { key, kid } = env.bankA.signing;
      const payload = new TextEncoder().encode(await make(env, flow));
      return await signBytes(key, payload, { typ: "JWT", kid, ...(cty === undefined ? {} : { cty }) });
    });
  const inner = (env: Environment, flow: AtBank): Promise<string> => signedReturn(env, flow);
  const envelope = async (env: Environment, flow: AtBank): Promise<string> =>
    again(env, await inner(env, flow));
  const cty = (value: unknown) => async (env: Environment, flow: AtBank): Promise<string> =>
    sealedUnderHeader(env, await inner(env, flow), { cty: value });
  await notAuthentic(t, {
    "bare claims": sealed((env, flow) => JSON.stringify(claims(env, flow))),
    "an unsigned JWS": sealed((env, flow) => `${segment({ alg: "none" })}.${segment(claims(env, flow))}.`),
    "a JWS without its signature": sealed(async (env, flow) =>
      (await inner(env, flow)).replace(/[^.]+$/, "")
    ),
    "a JWE in a JWE": sealed(envelope),
    "a JWE in a JWE in a JWE": sealed(async (env, flow) => again(env, await envelope(env, flow))),
    "a JWS around a JWE": around(envelope, "JWT"),
    "a JWS around a JWE, unnamed": around(envelope),
    "a JWS around the JWS": around(inner, "JWT"),
    "the JWS twice": sealed(async (env, flow) => `${await inner(env, flow)}\n${await inner(env, flow)}`),
    "the JWS and a line end": sealed(async (env, flow) => `${await inner(env, flow)}\n`),
    "the JWS as a JSON text": sealed(async (env, flow) => JSON.stringify(await inner(env, flow))),
    "the JWS behind a byte order mark": sealed(async (env, flow) => `\ufeff${await inner(env, flow)}`),
    "the JWS, padded": sealed(async (env, flow) => `${await inner(env, flow)}==`),
    "the JWS without its payload": sealed(async (env, flow) =>
      (await inner(env, flow)).replace(/\..*\./, "..")
    ),
    "nothing": sealed(() => ""),
    "the platform's own claims, signed by the bank": sealed((env, flow) =>
      signJwt(env.bankA.signing, flow.handover)
    ),
    "an access token": sealed((_, flow) => flow.bound.token),
    "cty application/jwt": cty("application/jwt"),
    "cty JSON": cty("json"),
    "cty application/json": cty("application/json"),
    "cty a number": cty(1),
    "cty empty": cty(""),
    "cty null": cty(null),
    "cty a list": cty(["JWT"]),
  });
});

Deno.test("the envelope's cty may be JWT, jwt or absent [J19] [BR2]", async (t) => {
  await using env = await openEnvironment();
  await stepsOf(t, ["JWT", "jwt", undefined], (cty) => String(cty), async (cty) => {
    const flow = await toBank(env, { body: IMPLICIT });
    const sealed = await sealToPlatform(env, await signedReturn(env, flow), { cty });
    await assertCodeAnswer(await flow.browser.open(returnTo("BANKA", sealed)));
  });
});

Deno.test("a JWE is no JWS and a JWS is no JWE, at every place [J20] [J21] [J25]", async (t) => {
  await using env = await openEnvironment();
  const places = await jwtPlaces(env);
  const relabelled = (name: string, header: JsonObject): Attack => ({
    name,
    forge: async (good) =>
      [segment(header), ...(await sealToPlatform(env, await forged(good))).split(".").slice(1)].join("."),
  });
  await rejectedEverywhere(t, env, places, [
    { name: "the good token in a JWE", forge: async (good) => sealToPlatform(env, await forged(good)) },
    { name: "a JWE of the good claims", forge: (good) => sealToPlatform(env, JSON.stringify(good.payload)) },
    relabelled("a JWE by a password with 2^31-1 rounds", { ...PASSWORD, p2c: 2 ** 31 - 1 }),
    relabelled("a JWE by agreement on an invalid point", { alg: "ECDH-ES", enc: "A256GCM", epk: OFF_CURVE }),
    relabelled("a JWE whose header names PS256", { alg: "PS256", typ: "JWT", enc: "A256GCM" }),
  ]);
  await t.step("a bare JWS at the bank's return", async () => {
    const flow = await toBank(env, { body: IMPLICIT });
    const bare = await signedReturn(env, flow);
    await unopened(() => assertNotAuthentic(env, flow.browser, returnTo("BANKA", bare)));
  });
  await takenEverywhere(t, places);
});
