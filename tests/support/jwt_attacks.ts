/**
 * Forged JWTs and the table that sends them to every place: each must be rejected as the place requires, without state
 * changes.
 */
import { type Part, segment } from "testing/raw_jws.ts";
import type { JwsParts, JwtPlace, PlacedKind } from "./jwt_place.ts";
import { type JsonObject, withChanges } from "testing/jwts.ts";
import type { TestKey } from "testing/keys.ts";
import { assertErrorAnswer } from "testing/front_channel.ts";
import { type ExpectedFault } from "testing/resource_answers.ts";
import type { Environment } from "testing/environment.ts";
import { partOf } from "./part_of.ts";
import { stepsOf } from "./steps.ts";
import { unchanged } from "testing/store_contents.ts";

/** Deviations of a forged token from a valid one. */
export interface Forgery {
  /** Header members replaced (`undefined` removes one), or the header's exact text or bytes. */
  readonly header?: JsonObject | string | Uint8Array;
  /** Claims replaced, or the payload's exact text or bytes. Not for payload signatures, whose payload is the body. */
  readonly claims?: JsonObject | string | Uint8Array;
  /** Replaces PS256 by the valid key. */
  readonly sign?: Sign;
}

/** A signature over a signing input. */
export type Sign = (input: Uint8Array<ArrayBuffer>) => Promise<ArrayBuffer>;

/** One attack. */
export interface Attack {
  readonly name: string;
  readonly forge: (good: JwsParts, place: JwtPlace) => string | Promise<string>;
  /** The fault of a rejected payload signature; default {@link MALFORMED}. */
  readonly fault?: ExpectedFault;
  /** Kinds of place where this is no attack or cannot be sent. */
  readonly notAt?: readonly PlacedKind[];
  /** Carriers that cannot transport the text unchanged. */
  readonly notIn?: readonly JwtPlace["carrier"][];
  /** A bank's return that is signed for this browser and cannot count: the customer goes back to the TPP (Decision G1). */
  readonly unusable?: true;
}

/** Faults of `x-jws-signature` as a whole. */
export const MALFORMED: ExpectedFault = ["Signature.Malformed", "x-jws-signature"];
/** The signature's value is wrong. */
export const INVALID: ExpectedFault = ["Signature.Invalid", "x-jws-signature"];

/** The fault of a wrong header member. */
export function wrong(member: string): ExpectedFault {
  return ["Signature.InvalidClaim", member];
}

/** PS256, or with another salt, by a key. */
export function pss(key: TestKey, saltLength = 32): Sign {
  return async (input) =>
    await crypto.subtle.sign({ name: "RSA-PSS", saltLength }, await key.privateKey("sign"), input);
}

/** The token in its place's form: compact, or detached if the payload is sent separately. */
export async function forged(good: JwsParts, forgery: Forgery = {}): Promise<string> {
  const detached = typeof good.payload === "string";
  const header = segment(changed(good.header, forgery.header));
  const payload = segment(changed(good.payload, forgery.claims));
  const input = new TextEncoder().encode(`${header}.${payload}`);
  const signature = segment(new Uint8Array(await (forgery.sign ?? pss(good.key))(input)));
  return `${header}.${detached ? "" : payload}.${signature}`;
}

function changed(good: JsonObject | string, change: Forgery["header"]): Part {
  if (typeof change === "string" || change instanceof Uint8Array) return change;
  return typeof good === "string" ? good : withChanges(good, change);
}

/** An attack that changes header members only. */
export function header(name: string, change: Forgery["header"], fault?: ExpectedFault): Attack {
  return attack(name, { header: change ?? {} }, fault);
}

/** An attack by one forgery. */
export function attack(name: string, forgery: Forgery, fault?: ExpectedFault): Attack {
  return { name, forge: (good) => forged(good, forgery), ...(fault === undefined ? {} : { fault }) };
}

/** An attack on the text of a good token. */
export function text(name: string, change: (token: string) => string, fault?: ExpectedFault): Attack {
  return {
    name,
    forge: async (good) => change(await forged(good)),
    ...(fault === undefined ? {} : { fault }),
  };
}

/** An attack on claims, which payload signatures do not have. */
export function claims(name: string, change: Forgery["claims"], rest: Partial<Attack> = {}): Attack {
  return { ...attack(name, { claims: change ?? {} }), notAt: ["signature"], ...rest };
}

/** Values that a member must not have, each as a change of it. `undefined` removes the member. */
export function valued(
  member: string,
  values: readonly unknown[],
): readonly (readonly [name: string, change: JsonObject])[] {
  return values.map((value) => [
    `${member} ${value === undefined ? "missing" : JSON.stringify(value).slice(0, 60)}`,
    { [member]: value },
  ]);
}

/**
 * Every attack at a place of every kind, and a quarter of the attacks, each time another one, at the other places of the
 * kind. `TEST_ALL=1`: every attack at every place.
 */
export async function rejectedEverywhere(
  t: Deno.TestContext,
  env: Environment,
  places: readonly JwtPlace[],
  attacks: readonly Attack[],
): Promise<void> {
  for (const [index, place] of places.entries()) {
    const isFirst = places.findIndex(({ kind }) => kind === place.kind) === index;
    const tried = isFirst ? attacks : partOf(attacks, 4, index);
    for (const { name, forge, fault = MALFORMED, notAt = [], notIn = [], unusable } of tried) {
      if (notAt.includes(place.kind) || notIn.includes(place.carrier)) continue;
      await t.step(`${place.name}: ${name}`, async () => {
        const token = await forge(await place.parts(), place);
        const answer = await unchanged(env, () => place.present(token));
        if (unusable && place.kind === "return") await assertErrorAnswer(answer, "server_error");
        else await place.rejects(answer, fault);
      });
    }
  }
}

/** The control: without forgery each place accepts its JWT. Uses up codes, consents and new participants. */
export async function takenEverywhere(t: Deno.TestContext, places: readonly JwtPlace[]): Promise<void> {
  await stepsOf(t, places, (place) => `${place.name}: as it should be, accepted`, async (place) => {
    await place.takes(await place.present(await forged(await place.parts())));
  });
}
