import { assertEquals } from "@std/assert";
import { call, clientToken, consentBody, requestToken } from "testing/flows.ts";
import { type Attack, claims, forged, header, rejectedEverywhere, valued } from "support/jwt_attacks.ts";
import { jwtPlaces } from "support/jwt_places.ts";
import { assertFaults } from "testing/resource_answers.ts";
import { AUTH_URL, DIRECTORY_URL, openEnvironment, REGISTRATION_AUDIENCE } from "testing/environment.ts";
import { unchanged } from "testing/store_contents.ts";

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

Deno.test("a jti is a text of 1 to 256 characters [CA-N16] [DP-N8] [BR7] [DC6]", async (t) => {
  await using env = await openEnvironment();
  const values = [undefined, null, "", 7, ["a"], "j".repeat(257), "j".repeat(5000)];
  const places = (await jwtPlaces(env)).filter(({ kind }) => kind !== "statement");
  await rejectedEverywhere(
    t,
    env,
    places,
    valued("jti", values).map(([name, change]) => claims(name, change)),
  );
  for (const place of places.filter(({ kind }) => kind !== "signature")) {
    await t.step(`${place.name}: 256 characters of any kind`, async () => {
      const jti = `€ "\\ \u0000 ${place.name}`.padEnd(256, "j");
      await place.takes(await place.present(await forged(await place.parts(), { claims: { jti } })));
    });
  }
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
