/** The seven kinds of JWT of checklist 12, each validly made, in every form in which somebody might hand it in. */
import { compactDecrypt } from "jose";
import { IMPLICIT } from "../../scripts/testing/bank_return.ts";
import {
  type AtBank,
  authorize,
  Browser,
  clientToken,
  createConsent,
  good,
  push,
  returnClaims,
  toBank,
} from "../../scripts/testing/flows.ts";
import { forged } from "./jwt_attacks.ts";
import { assertionOf, type PlacedKind } from "./jwt_places.ts";
import { dpopProof, sealToPlatform, signJwt } from "../../scripts/testing/jwts.ts";
import { testKey } from "../../scripts/testing/keys.ts";
import { type Participant, registrationClaims } from "../../scripts/testing/participants.ts";
import { goodHeader } from "./signature_cases.ts";
import { BASE_URL, type World } from "../../scripts/testing/environment.ts";

/** A kind; `handover` is the platform's own JWT to a bank, which has no place at the platform. */
export type JwtKind = PlacedKind | "handover";

/** A JWT that would be good in its own place. */
export interface MadeJwt {
  readonly kind: JwtKind;
  readonly form: string;
  readonly token: string;
}

/** What is made once: a bank's own view of a flow that is under way. */
export interface Material {
  readonly flow: AtBank;
  /** The platform's JWT as the browser carried it, and as the bank read it. */
  readonly handover: { readonly sealed: string; readonly signed: string };
}

/** Begins a flow and reads the platform's JWT on its way to bank A. */
export async function material(world: World): Promise<Material> {
  const bound = await clientToken(world, world.tpp);
  const consentId = (await createConsent(world, bound, IMPLICIT)).Data.ConsentId;
  const { request_uri } = await good(push(world, consentId), 201);
  const departure = await authorize(new Browser(world), world.tpp, request_uri);
  const sealed = new URL(departure.headers.get("location") ?? "").searchParams.get("oAuthUrl") ?? "";
  const key = await (world.bankA.encryption ?? world.bankA.transport).key.privateKey("decrypt");
  const signed = new TextDecoder().decode((await compactDecrypt(sealed, key)).plaintext);
  return { flow: await toBank(world, { body: IMPLICIT }), handover: { sealed, signed } };
}

/** All kinds; what a participant signs, `who` has signed, with the one signing key that it has for everything. */
export async function everyKind(
  world: World,
  who: Participant,
  { flow, handover }: Material,
): Promise<MadeJwt[]> {
  const claims = returnClaims(world, world.bankA, flow.handover);
  const answer = await signJwt(world.bankA.signing, claims);
  const body = JSON.stringify(IMPLICIT);
  const { key, kid } = who.signing;
  const [head, , signature] = (await signedBody(world, who, body)).split(".");
  const target = { method: "POST", url: `${BASE_URL}/BANKA/token.oauth2/v1` };
  return [
    made("assertion", "as it is", await signJwt(who.signing, assertionOf(world, who), { typ: undefined })),
    made("assertion", "of type JWT", await signJwt(who.signing, assertionOf(world, who))),
    made("proof", "by a key of its own", await dpopProof(world, await testKey(15), target)),
    made("proof", "by the signing key", await dpopProof(world, key, target)),
    made("registration", "as it is", await signJwt(who.signing, registrationClaims(world, who))),
    made("statement", "as it is", who.statement),
    made("handover", "sealed to the bank", handover.sealed),
    made("handover", "as the bank reads it", handover.signed),
    made("handover", "sealed to the platform again", await sealToPlatform(world, handover.signed)),
    made("return", "sealed", await sealToPlatform(world, answer)),
    made("return", "its signed layer", answer),
    made("return", "its claims in the sender's hand", await signJwt({ key, kid }, claims)),
    made("signature", "detached", `${head}..${signature}`),
    made("signature", "with its body as the payload", await signedBody(world, who, body)),
  ];
}

/** A payload signature in profile B together with what it signs: a whole JWS. */
async function signedBody(
  world: World,
  { signing: { key, kid } }: Participant,
  body: string,
): Promise<string> {
  const header = { ...goodHeader(world, "B"), kid };
  const [head, , signature] = (await forged({ key, header, payload: body })).split(".");
  const payload = new TextEncoder().encode(body).toBase64({ alphabet: "base64url", omitPadding: true });
  return `${head}.${payload}.${signature}`;
}

function made(kind: JwtKind, form: string, token: string): MadeJwt {
  return { kind, form, token };
}
