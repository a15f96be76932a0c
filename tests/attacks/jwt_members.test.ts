/** Header members that ask for another type or for other processing, at every place that accepts a JWT. */
import { type Attack, forged, header, rejectedEverywhere, valued, wrong } from "support/jwt_attacks.ts";
import { jwtPlaces, signaturePlaces } from "support/jwt_places.ts";
import type { PlacedKind } from "support/jwt_place.ts";
import { openEnvironment } from "testing/environment.ts";
import { concat, ps256, segment } from "testing/raw_jws.ts";

Deno.test("typ names the kind of JWT that the place takes [CA-N21] [DP-N4] [DP3] [DC-N6] [DC-N8] [BR-N5] [RP-N5]", async (t) => {
  await using env = await openEnvironment();
  const values = ["JWS", "at+jwt", "text/jwt", "application/application/jwt", "JWT ", "", null, ["JWT"], 1];
  const ownTypes: readonly (readonly [unknown, readonly PlacedKind[]])[] = [
    [undefined, ["assertion", "signature"]],
    ["JWT", ["assertion", "registration", "statement", "return"]],
    ["JOSE", ["signature"]],
    ["client-authentication+jwt", ["assertion"]],
    ["dpop+jwt", ["proof"]],
    ["dpop", []],
    ["dpop+jwt+wrongyousee", []],
    [["dpop+jwt"], []],
  ];
  await rejectedEverywhere(t, env, await jwtPlaces(env), [
    ...valued("typ", values).map(([name, change]) => header(name, change, wrong("typ"))),
    ...ownTypes.flatMap(([typ, notAt]) =>
      valued("typ", [typ]).map(([name, change]) => ({ ...header(name, change, wrong("typ")), notAt }))
    ),
  ]);
});

Deno.test("header members of encryption are rejected in every signed JWT [J21] [CA7]", async (t) => {
  await using env = await openEnvironment();
  const members = { zip: "DEF", enc: "A256GCM", epk: { kty: "EC" }, apu: "x", apv: "x", p2c: 1, p2s: "x" };
  await rejectedEverywhere(
    t,
    env,
    await jwtPlaces(env),
    Object.entries(members).map(([name, value]) => header(name, { [name]: value }, wrong(name))),
  );
});

Deno.test("crit is rejected in every form but that of a payload signature [J12] [CA7] [DC-N6]", async (t) => {
  await using env = await openEnvironment();
  const forms: Readonly<Record<string, unknown>> = {
    "an unknown member that is absent": ["x-unknown"],
    "exp": ["exp"],
    "alg": ["alg"],
    "itself": ["crit"],
    "exp twice": ["exp", "exp"],
    "nothing": [],
    "a text": "exp",
    "an object": {},
    "null": null,
    "a number in the list": [1],
  };
  await rejectedEverywhere(t, env, await jwtPlaces(env), [
    ...Object.entries(forms).map(([name, crit]) => header(`crit: ${name}`, { crit }, wrong("crit"))),
    header("crit: a member that is there", { crit: ["x-rule"], "x-rule": true }, wrong("x-rule")),
  ]);
});

Deno.test("a payload signature's answer never shows a name that the caller made up [J12] [J16]", async (t) => {
  await using env = await openEnvironment();
  const hidden = wrong("x-jws-signature");
  const names = ["x".repeat(5000), "<script>alert(1)</script>", "a\r\nb", "\u202e", "__proto__ x", ""];
  await rejectedEverywhere(t, env, await signaturePlaces(env), [
    ...names.map((name) => header(`a member ${JSON.stringify(name.slice(0, 30))}`, { [name]: 1 }, hidden)),
    header("a member with a name that may be shown", { "x-rule": 1 }, wrong("x-rule")),
  ]);
});

Deno.test("b64 is rejected in every JWT, named in crit or not, over either payload [J13] [CA7] [DP-N7]", async (t) => {
  await using env = await openEnvironment();
  const raw = (name: string, change: Readonly<Record<string, unknown>>): Attack => ({
    name,
    forge: async (parts) => {
      const [head, payload] = (await forged(parts, { header: change })).split(".");
      const unencoded = concat(`${head}.`, JSON.stringify(parts.payload));
      return `${head}.${payload}.${await ps256(await parts.key.privateKey("sign"), unencoded)}`;
    },
    notAt: ["signature"],
  });
  await rejectedEverywhere(t, env, await jwtPlaces(env), [
    header("b64 false", { b64: false }, wrong("crit")),
    header("b64 false in crit", { b64: false, crit: ["b64"] }, wrong("crit")),
    header("b64 true", { b64: true }, wrong("b64")),
    header("b64 true in crit", { b64: true, crit: ["b64"] }, wrong("b64")),
    header("b64 the text false", { b64: "false" }, wrong("b64")),
    header("b64 null", { b64: null }, wrong("b64")),
    raw("b64 false, the payload signed as it is", { b64: false }),
    raw("b64 false in crit, the payload signed as it is", { b64: false, crit: ["b64"] }),
    {
      name: "b64 false in crit, the payload in the token as it is",
      forge: ({ payload, header: good }) =>
        `${segment({ ...good, b64: false, crit: ["b64"] })}.${JSON.stringify(payload)}.AAAA`,
      notAt: ["signature"],
    },
  ]);
});
