/** What specimens are made with: the world, the keys of its parties, and parts that know how each kind of text is judged. */
import { platformEncryptionKey } from "../testing/bank_return.ts";
import { dpopKey } from "../testing/flows.ts";
import { sha256 } from "../testing/jwts.ts";
import { type TestKey, testKey } from "../testing/keys.ts";
import type { Participant } from "../testing/participants.ts";
import { AUTH_URL, BASE_URL, PROXY_SECRET, type World } from "../testing/environment.ts";
import { type JudgeJson, signaturePart, signedJsonPart, type SignedParts } from "./body_parts.ts";
import { type Notary, segmentText, type TokenKind } from "./signing.ts";
import { formPlace, headerPlace, type Part, type Place, type Specimen } from "./parts.ts";
import { requestPart } from "./request_parts.ts";
import { accessTokenOf, assertionRule, proofRule, type Rule } from "./rules.ts";
import { headerOf, pathnameOf, record, type Shot } from "./sample_request.ts";
import { membersOf, type Recipient, type Strangers, tokenPart, type TokenParts } from "./token_parts.ts";

/** The setting. */
export interface Workshop {
  readonly world: World;
  readonly notary: Notary;
  readonly strangers: Strangers & { readonly tokens: string[] };
  /** The platform's encryption key. */
  readonly recipient: Recipient;
  /** The key that tokens are bound to. */
  readonly bound: { readonly key: TestKey; readonly signingKey: CryptoKey };
}

/** A good call of a resource endpoint. */
export interface ResourceCall extends Pick<Specimen, "name" | "status" | "shot"> {
  /** Who signs the body, where there is one. */
  readonly signer?: Participant;
  readonly judge?: JudgeJson;
}

const CREDENTIALS = { "x-proxy-secret": [PROXY_SECRET] } as const;
const STRANGER = 2; // the other TPP's signing key in the pool

/** Opens the workshop of a world. */
export async function openWorkshop(world: World, notary: Notary): Promise<Workshop> {
  const key = await dpopKey();
  return {
    world,
    notary,
    strangers: { key: await (await testKey(STRANGER)).privateKey("sign"), tokens: [] },
    recipient: await platformEncryptionKey(world),
    bound: { key, signingKey: await key.privateKey("sign") },
  };
}

/** How a kind of token is signed by a key and judged. */
export function tokensOf(
  { notary, strangers }: Workshop,
  kind: TokenKind,
  key: CryptoKey,
  rule: Rule,
): TokenParts {
  return { kind, notary, key, rule, strangers };
}

/** The key that somebody signs with. */
export function signingKeyOf(who: Participant): Promise<CryptoKey> {
  return who.signing.key.privateKey("sign");
}

/** A token in its place, which the shot shows to be good. */
export function goodToken(
  { notary, strangers }: Workshop,
  shot: Shot,
  parts: TokenParts,
  place: Place,
  optional?: boolean,
): Part {
  const good = place.read(shot) ?? "";
  notary.trust(parts.kind, good);
  strangers.tokens.push(good);
  return tokenPart(parts, place, optional);
}

/** `client_assertion` of a request at bank A. */
export async function assertionOf(workshop: Workshop, shot: Shot, who: Participant): Promise<Part> {
  const parts = tokensOf(workshop, "assertion", await signingKeyOf(who), assertionRule(who, "BANKA"));
  return goodToken(workshop, shot, parts, formPlace("client_assertion"));
}

/** The DPoP proof of a request. */
export async function proofOf(workshop: Workshop, shot: Shot, optional?: boolean): Promise<Part> {
  const { key, signingKey } = workshop.bound;
  const accessToken = accessTokenOf(shot);
  const ath = accessToken === undefined ? undefined : await sha256(accessToken);
  const parts = tokensOf(workshop, "proof", signingKey, proofRule(key, ath));
  return goodToken(workshop, shot, parts, headerPlace("dpop"), optional);
}

/** A call of a resource endpoint with the parts that all of them have, and those of a body that is signed. */
export async function resourceSpecimen(
  workshop: Workshop,
  { signer, judge, ...call }: ResourceCall,
): Promise<Specimen> {
  const { notary, strangers, bound } = workshop;
  const settle = (moved: Shot): Promise<Shot> => proveAgain(notary, bound.signingKey, moved);
  const request = requestPart({ headers: CREDENTIALS, also: sameAccess(call.shot), settle });
  const common = [await proofOf(workshop, call.shot), request];
  if (signer === undefined) return { ...call, surface: "resource", parts: common };
  const signing = { notary, signer, key: await signingKeyOf(signer), strangers };
  return { ...call, surface: "resource", parts: [...common, ...signedParts(signing, call.shot, judge)] };
}

function signedParts(
  parts: SignedParts,
  shot: Shot,
  judge: JudgeJson | undefined,
): readonly Part[] {
  const signature = headerOf(shot, "x-jws-signature") ?? "";
  const coverage = segmentText(signature, 0)?.includes('"b64":false') === true ? "A" : "B";
  parts.notary.trustBody(signature, shot.body ?? new Uint8Array(), coverage);
  return [signaturePart(parts), signedJsonPart(parts, judge)];
}

/** The token and the bank that the good request has. */
function sameAccess(good: Shot): (shot: Shot) => string | undefined {
  const bankOf = (shot: Shot): string | undefined => pathnameOf(shot).split("/")[1];
  return (shot) => {
    if (accessTokenOf(shot) !== accessTokenOf(good)) return "took another access token";
    return bankOf(shot) === bankOf(good) ? undefined : "took the token at another bank";
  };
}

/** The request with a proof for its own method and path. */
async function proveAgain(notary: Notary, key: CryptoKey, shot: Shot): Promise<Shot> {
  const place = headerPlace("dpop");
  const proof = place.read(shot) ?? "";
  const claims = membersOf(proof, 1);
  if (claims === undefined) return shot;
  const htu = URL.parse(shot.path, BASE_URL)?.pathname ?? "/";
  const moved = { ...claims, htm: shot.method.toUpperCase(), htu: BASE_URL + htu };
  return place.write(
    shot,
    await notary.sign("proof", key, segmentText(proof, 0) ?? "", JSON.stringify(moved)),
  );
}

/** Rules of a request to an OAuth endpoint. */
export const oauthRequest = requestPart({ headers: CREDENTIALS });

/** A request to the browser host for what anybody may read. */
export async function openPage(
  { world }: Workshop,
  path: string,
  surface: Specimen["surface"],
): Promise<Specimen> {
  const shot = await record(world, (w) => w.browser(new Request(AUTH_URL + path)));
  const name = `GET ${path.replace("/BANKA", "/{bank}")}`;
  return { name, shot, status: 200, surface, parts: [requestPart()] };
}
