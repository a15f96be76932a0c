/** Every kind of JWT at every place that accepts one: each is valid in one place only (contract J1 to J38). */
import { assertEquals } from "@std/assert";
import { returnTo, sealedReturn } from "testing/bank_return.ts";
import { assertPage } from "testing/front_channel.ts";
import { forged, MALFORMED, takenEverywhere } from "support/jwt_attacks.ts";
import { everyKind, type JwtKind, type MadeJwt, material } from "support/jwt_kinds.ts";
import { jwtPlaces } from "support/jwt_places.ts";
import { type JwtPlace } from "support/jwt_place.ts";
import { assertApiError } from "testing/oauth_requests.ts";
import { type ExpectedFault } from "testing/resource_answers.ts";
import { openEnvironment } from "testing/environment.ts";
import { unchanged } from "testing/store_contents.ts";

/**
 * A statement of type JWT is first checked by its issuer: another directory's is "not approved", any other is "not
 * valid".
 */
const NAMES_ANOTHER_ISSUER: readonly string[] = [
  "assertion, of type JWT",
  "registration, as it is",
  "handover, as the bank reads it",
  "return, its signed layer",
  "return, its claims in the sender's hand",
];

Deno.test("of eight kinds of JWT each place takes its own and no other [J26] [CA-N22] [BR-N16] [BR-N18] [DC-N27]", async (t) => {
  await using env = await openEnvironment();
  const places = await jwtPlaces(env);
  const given = await material(env);
  const pairs = new Set<string>();
  for (const place of places) {
    for (const jwt of await everyKind(env, place.who, given)) {
      if (jwt.kind === place.kind && isItsOwnForm(place, jwt)) continue; // tested below
      const { kind, form, token } = jwt;
      await t.step(`${place.name}: ${kind}, ${form}`, async () => {
        const answer = await unchanged(env, () => place.present(token));
        if (place.kind === "statement" && NAMES_ANOTHER_ISSUER.includes(`${kind}, ${form}`)) {
          await assertApiError(answer, [400, "unapproved_software_statement"]);
        } else await place.rejects(answer, MALFORMED);
      });
      if (kind !== place.kind) pairs.add(`${kind} at ${place.kind}`);
    }
  }
  assertEquals(pairs.size, 42, "eight kinds at six kinds of place, less the diagonal");
  await takenEverywhere(t, places);
});

/** Returns whether this form of the JWT belongs at this place. The place makes its own JWT for its own request. */
function isItsOwnForm({ kind }: JwtPlace, { form }: MadeJwt): boolean {
  if (kind === "signature") return form === "detached";
  return kind !== "return" || form !== "sealed"; // the place encrypts by itself, so this would be encrypted twice
}

Deno.test("no other kind of JWT is a bank's answer, sealed or not [J26] [BR-N16]", async (t) => {
  await using env = await openEnvironment();
  const given = await material(env);
  const { browser } = given.flow;
  for (const who of [env.bankA, env.tpp]) {
    for (const { kind, form, token } of await everyKind(env, who, given)) {
      if (kind === "return" && (form !== "its claims in the sender's hand" || who === env.bankA)) continue;
      await t.step(`${kind} of ${who.name}, ${form}`, async () => {
        for (const path of [returnTo("BANKA", token), await sealedReturn(env, "BANKA", token)]) {
          await assertPage(await unchanged(env, () => browser.open(path)), 400, "not_authentic");
        }
      });
    }
  }
});

/** The fault in the header of each kind without its payload, when it is sent as a payload signature. */
const DETACHED: Readonly<Record<Exclude<JwtKind, "signature">, ExpectedFault>> = {
  assertion: ["Signature.Invalid", "x-jws-signature"],
  proof: ["Signature.MissingClaim", "kid"],
  registration: ["Signature.InvalidClaim", "typ"],
  statement: ["Signature.InvalidClaim", "typ"],
  handover: ["Signature.InvalidClaim", "typ"],
  event: ["Signature.InvalidClaim", "typ"],
  return: ["Signature.InvalidClaim", "typ"],
};

Deno.test("no other kind of JWT is a payload signature once its payload is left out [J26] [RP-N6]", async (t) => {
  await using env = await openEnvironment();
  const given = await material(env);
  const places = (await jwtPlaces(env)).filter(({ kind }) => kind === "signature");
  for (const place of places) {
    for (const { kind, form, token } of await everyKind(env, place.who, given)) {
      const [head, payload, signature, ...more] = token.split(".");
      if (kind === "signature" || payload === "" || more.length > 0) continue;
      await t.step(`${place.name}: ${kind}, ${form}`, async () => {
        const answer = await unchanged(env, () => place.present(`${head}..${signature}`));
        const typed = form === "of type JWT";
        await place.rejects(answer, typed ? ["Signature.InvalidClaim", "typ"] : DETACHED[kind]);
      });
    }
    await t.step(`${place.name}: its own`, async () => {
      await place.takes(await place.present(await forged(await place.parts())));
    });
  }
});
