/** Valid samples of the eight kinds of JWT of contract J26, in every form that a caller might send. */
import { compactDecrypt } from "jose";
import type { EventPage } from "testing/answers.ts";
import { IMPLICIT } from "testing/bank_return.ts";
import { call, createConsent, good, push } from "testing/flows.ts";
import {
  type AtBank,
  authorised,
  authorize,
  Browser,
  returnClaims,
  toBank,
} from "testing/authorization_flow.ts";
import { forged } from "./jwt_attacks.ts";
import { assertionOf } from "./jwt_places.ts";
import { type PlacedKind } from "./jwt_place.ts";
import { dpopProof, sealToPlatform, signJwt } from "testing/jwts.ts";
import { testKey } from "testing/keys.ts";
import { type Participant, registrationClaims } from "testing/participants.ts";
import { goodHeader } from "./signature_cases.ts";
import { BASE_URL, type Environment } from "testing/environment.ts";
import { sharedToken } from "testing/shared_token.ts";

/** A kind; `handover` and `event` are the platform's own to a bank and to a TPP, which have no place at the platform. */
export type JwtKind = PlacedKind | "handover" | "event";

/** A JWT that is valid in its own place. */
export interface MadeJwt {
  readonly kind: JwtKind;
  readonly form: string;
  readonly token: string;
}

/** Created once: a bank's view of a running flow. */
export interface Material {
  readonly flow: AtBank;
  /** The platform's JWT as the browser carried it, and as the bank decrypted it. */
  readonly handover: { readonly sealed: string; readonly signed: string };
  /** The security event token of the TPP's first event. */
  readonly event: string;
}

/** Begins a flow and reads the platform's JWT on its way to bank A. */
export async function material(env: Environment): Promise<Material> {
  const bound = await sharedToken(env, env.tpp);
  const consentId = (await createConsent(env, bound, IMPLICIT)).Data.ConsentId;
  const { request_uri } = await good(push(env, consentId), 201);
  const departure = await authorize(new Browser(env), env.tpp, request_uri);
  const sealed = new URL(departure.headers.get("location") ?? "").searchParams.get("oAuthUrl") ?? "";
  const key = await (env.bankA.encryption ?? env.bankA.transport).key.privateKey("decrypt");
  const signed = new TextDecoder().decode((await compactDecrypt(sealed, key)).plaintext);
  return {
    flow: await toBank(env, { body: IMPLICIT }),
    handover: { sealed, signed },
    event: await firstEvent(env),
  };
}

async function firstEvent(env: Environment): Promise<string> {
  const { bound } = await authorised(env);
  const unsigned = { signature: null, idempotencyKey: null } as const;
  const body = JSON.stringify({ maxEvents: 1, returnImmediately: true });
  const { sets } = await good<EventPage>(
    call(env, env.tpp, bound, "/BANKA/events/v1", { ...unsigned, body }),
    200,
  );
  const [token] = Object.values<string>(sets);
  if (token === undefined) throw new Error("the TPP has no event");
  return token;
}

/** All kinds. `who` signs those of a participant with its only signing key. */
export async function everyKind(
  env: Environment,
  who: Participant,
  { flow, handover, event }: Material,
): Promise<MadeJwt[]> {
  const claims = returnClaims(env, env.bankA, flow.handover);
  const answer = await signJwt(env.bankA.signing, claims);
  const body = JSON.stringify(IMPLICIT);
  const { key, kid } = who.signing;
  const [head, , signature] = (await signedBody(env, who, body)).split(".");
  const target = { method: "POST", url: `${BASE_URL}/BANKA/token.oauth2/v1` };
  return [
    made("assertion", "as it is", await signJwt(who.signing, assertionOf(env, who), { typ: undefined })),
    made("assertion", "of type JWT", await signJwt(who.signing, assertionOf(env, who))),
    made("proof", "by a key of its own", await dpopProof(env, await testKey(15), target)),
    made("proof", "by the signing key", await dpopProof(env, key, target)),
    made("registration", "as it is", await signJwt(who.signing, registrationClaims(env, who))),
    made("statement", "as it is", who.statement),
    made("handover", "sealed to the bank", handover.sealed),
    made("handover", "as the bank reads it", handover.signed),
    made("handover", "sealed to the platform again", await sealToPlatform(env, handover.signed)),
    made("event", "as it is", event),
    made("event", "sealed to the platform", await sealToPlatform(env, event)),
    made("return", "sealed", await sealToPlatform(env, answer)),
    made("return", "its signed layer", answer),
    made("return", "its claims in the sender's hand", await signJwt({ key, kid }, claims)),
    made("signature", "detached", `${head}..${signature}`),
    made("signature", "with its body as the payload", await signedBody(env, who, body)),
  ];
}

/** A payload signature in profile B combined with its payload: a whole JWS. */
async function signedBody(
  env: Environment,
  { signing: { key, kid } }: Participant,
  body: string,
): Promise<string> {
  const header = { ...goodHeader(env, "B"), kid };
  const [head, , signature] = (await forged({ key, header, payload: body })).split(".");
  const payload = new TextEncoder().encode(body).toBase64({ alphabet: "base64url", omitPadding: true });
  return `${head}.${payload}.${signature}`;
}

function made(kind: JwtKind, form: string, token: string): MadeJwt {
  return { kind, form, token };
}
