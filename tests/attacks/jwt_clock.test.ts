/** Every kind of JWT judged against the clock, at every edge of contract LT1 to LT12, over HTTP. */
import { assertEquals } from "@std/assert";
import { rejectionOf } from "testing/answers.ts";
import { IMPLICIT } from "testing/bank_return.ts";
import { toBank } from "testing/authorization_flow.ts";
import { type Attack, claims, forged, rejectedEverywhere, valued } from "support/jwt_attacks.ts";
import {
  assertionPlaces,
  jwtPlaces,
  proofPlaces,
  registrationPlaces,
  returnPlace,
  signaturePlaces,
} from "support/jwt_places.ts";
import { type JwtPlace, type PlacedKind } from "support/jwt_place.ts";
import { postRegistration, registrationJwt, statementWith } from "testing/registration.ts";
import { assertErrorAnswer } from "testing/front_channel.ts";
import { type Environment, openEnvironment, START } from "testing/environment.ts";

const NOW = START / 1000;
const OFFSETS = [-61, -60, -31, -30, 0, 10, 30, 31, 60, 61];
const ALIVE = [0, 10, 30, 31, 60, 61];
const NOT_AHEAD = [-61, -60, -31, -30, 0, 10, 30];
const IN_MILLISECONDS = NOW * 999;
const IAT = "http://openbanking.org.uk/iat";

/** Offsets from now, in seconds, at which a claim is accepted; all others of {@link OFFSETS} are rejected. */
const TAKEN: Readonly<Record<PlacedKind, Readonly<Record<string, readonly number[]>>>> = {
  assertion: { exp: ALIVE, iat: NOT_AHEAD, nbf: NOT_AHEAD },
  proof: { exp: ALIVE, iat: NOT_AHEAD.filter((offset) => offset >= -60), nbf: NOT_AHEAD },
  registration: { exp: ALIVE, iat: NOT_AHEAD, nbf: NOT_AHEAD },
  statement: { exp: ALIVE, iat: NOT_AHEAD, nbf: NOT_AHEAD },
  return: { exp: ALIVE, iat: NOT_AHEAD, nbf: NOT_AHEAD },
  signature: { [IAT]: OFFSETS.filter((offset) => offset <= 60) },
};

type Offsets = Readonly<Record<string, number>>;

/** The limits of each kind, one second more, and times far off, as offsets from now. */
const REACH: Readonly<Record<PlacedKind, Readonly<Record<"taken" | "rejected", readonly Offsets[]>>>> = {
  assertion: {
    taken: [{ exp: 330 }, { iat: -330 }, { exp: -29 }, { iat: 8, nbf: 8, exp: 68 }],
    rejected: [
      { exp: 331 },
      { exp: 86_400 },
      { exp: IN_MILLISECONDS },
      { iat: -331 },
      { iat: -360, nbf: -360, exp: -300 },
      { iat: 62, nbf: 62, exp: 122 },
    ],
  },
  proof: {
    taken: [{ exp: 1_000_000 }, { exp: -29 }, { nbf: -3600 }],
    rejected: [{ iat: IN_MILLISECONDS }, { iat: -3600 }, { nbf: 3600 }],
  },
  registration: {
    taken: [{ iat: 0, exp: 3600 }, { iat: -3600, exp: 0 }],
    rejected: [{ iat: 0, exp: 3601 }, { iat: -3601, exp: -1 }, { exp: IN_MILLISECONDS }],
  },
  statement: {
    taken: [{ exp: 2 * 366 * 86_400 }],
    rejected: [{ exp: 2 * 366 * 86_400 + 1 }, { iat: -800 * 86_400, exp: -365 * 86_400 }, { nbf: 3600 }],
  },
  return: {
    taken: [{ iat: 0, exp: 600 }, { iat: -629, exp: -29 }, { nbf: -NOW }],
    rejected: [{ iat: 0, exp: 601 }, { iat: -630, exp: -29 }, { iat: -86_400 }, { iat: 62 }],
  },
  signature: { taken: [{ [IAT]: -3600 }], rejected: [{ [IAT]: -3601 }, { [IAT]: 600 }] },
};

/** Whether a token with these claims is accepted. Each token is new, so that only its claims can be wrong. */
type Judge = (claims: Readonly<Record<string, number>>) => Promise<boolean>;

Deno.test("every kind of JWT is taken and rejected to the second [J32] [LT2] [FAPI-D4] [FAPI-D5] [CA-N12] [CA-N14] [CA-N15] [DP10] [DP-N12] [DP-N13] [DP-N20] [BR6] [DC-N9] [DC-N3]", async (t) => {
  await using env = await openEnvironment();
  for (const [name, kind, judge] of await judges(env)) {
    for (const [claim, taken] of Object.entries(TAKEN[kind])) {
      await t.step(`${name}: ${claim}`, async () => {
        const found: number[] = [];
        for (const offset of OFFSETS) if (await judge({ [claim]: NOW + offset })) found.push(offset);
        assertEquals(found, [...taken]);
      });
    }
    await t.step(`${name}: as far as it may reach`, async () => {
      for (const verdict of ["taken", "rejected"] as const) {
        for (const offsets of REACH[kind][verdict]) {
          const claims = Object.entries(offsets).map(([claim, offset]) => [claim, NOW + offset]);
          const taken = await judge(Object.fromEntries(claims));
          assertEquals(taken, verdict === "taken", JSON.stringify(offsets));
        }
      }
    });
  }
});

Deno.test("a time is a finite number, and each kind of JWT has those it needs [J16] [CA11] [CA-N13] [DP-N8] [DP-N13] [DC6] [DC-N3] [BR-N9] [AUT-11]", async (t) => {
  await using env = await openEnvironment();
  const odd = ["exp", "iat", "nbf"].flatMap((claim) => valued(claim, [null, String(NOW), [NOW], {}, true]));
  const literals = ["exp", "iat", "nbf"].flatMap((claim) =>
    ["1e999", "-1e999", "NaN", "Infinity"].map((literal): Attack => ({
      name: `${claim} ${literal}`,
      forge: (good) => {
        const marked = JSON.stringify({ ...Object(good.payload), [claim]: "TIME" });
        return forged(good, { claims: marked.replace('"TIME"', literal) });
      },
      notAt: ["signature"],
    }))
  );
  await rejectedEverywhere(t, env, await jwtPlaces(env), [
    ...odd.map(([name, change]) => claims(name, change, { unusable: true })),
    ...literals,
    claims("exp missing", { exp: undefined }, { unusable: true, notAt: ["signature", "proof"] }),
    claims("iat missing", { iat: undefined }, { unusable: true, notAt: ["signature", "assertion"] }),
    ...[-1, -0].map((exp) => claims(`exp ${exp}`, { exp }, { unusable: true })),
  ]);
});

async function judges(env: Environment): Promise<readonly (readonly [string, PlacedKind, Judge])[]> {
  const reusable = [
    ...await assertionPlaces(env),
    ...await proofPlaces(env),
    ...(await signaturePlaces(env)).filter(({ name }) => !name.includes("domestic-payments")),
  ].filter(({ name }) => !name.startsWith("code"));
  const [registration] = await registrationPlaces(env);
  if (registration === undefined) throw new Error("no place to register");
  await registration.takes(await registration.present(await forged(await registration.parts())));
  return [
    ...reusable.map((place) => [place.name, place.kind, byAnswer(place)] as const),
    ["registration JWT", "registration", byNextFault(env, registration, "registration")],
    ["software_statement", "statement", byNextFault(env, registration, "statement")],
    ["bank return", "return", (claims) => returned(env, claims)],
  ];
}

/** For places that accept any number of valid tokens. */
function byAnswer(place: JwtPlace): Judge {
  return async (claims) => {
    const change = place.kind === "signature" ? { header: claims } : { claims };
    const response = await place.present(await forged(await place.parts(), change));
    if (response.ok) {
      await place.takes(response);
      return true;
    }
    await place.rejects(response, ["Signature.InvalidClaim", IAT]);
    return false;
  };
}

/**
 * A software registers once per statement, so an accepted token shows in the next fault: behind the registration JWT,
 * the statement that is not newer; behind the statement, the registration JWT for another audience.
 */
function byNextFault(env: Environment, { who }: JwtPlace, kind: "registration" | "statement"): Judge {
  const [rejected, taken] = kind === "registration"
    ? ["invalid_client_metadata", "invalid_software_statement"]
    : ["invalid_software_statement", "invalid_client_metadata"];
  return async (claims) => {
    const body = kind === "registration"
      ? await registrationJwt(env, who, { claims })
      : await registrationJwt(env, who, {
        statement: await statementWith(who, { claims }),
        claims: { aud: "https://other.example" },
      });
    const response = await postRegistration(env, who, { body });
    const { error } = await rejectionOf(response);
    assertEquals([response.status, [rejected, taken].includes(error)], [400, true], error);
    return error === taken;
  };
}

async function returned(env: Environment, claims: Readonly<Record<string, number>>): Promise<boolean> {
  const flow = await toBank(env, { body: IMPLICIT });
  const place = await returnPlace(env, flow);
  const response = await place.present(await forged(await place.parts(), { claims }));
  if (response.headers.get("location")?.includes("?code=") === true) {
    await place.takes(response);
    return true;
  }
  await assertErrorAnswer(response, "server_error"); // Decision G1: the bank signed it for this browser
  return false;
}
