/** The environment of the samples: the parties' keys, and parts that know the rules for each kind of text. */
import { platformEncryptionKey } from "../../testing/jwts.ts";
import { dpopKey } from "../../testing/flows.ts";

import { type TestKey, testKey } from "../../testing/keys.ts";
import type { Participant } from "../../testing/participants.ts";
import { AUTH_URL, BASE_URL, type Environment, PROXY_SECRET } from "../../testing/environment.ts";
import { type JudgeJson, signaturePart, signedJsonPart, type SignedParts } from "./body_parts.ts";
import { type Resigner, segmentText, type TokenKind } from "./signing.ts";
import { formPlace, headerPlace, type Part, type Place, type Sample } from "./parts.ts";
import { requestPart } from "./request_parts.ts";
import { accessTokenOf, assertionRule, proofRule, type Rule } from "./rules.ts";
import { type Attempt, headerOf, pathnameOf, record } from "./sample_request.ts";
import { membersOf, type OtherTpp, type Recipient, tokenPart, type TokenParts } from "./token_parts.ts";
import { sha256 } from "../../../src/base/kernel/identifiers.ts";

/** The context from which samples are made. */
export interface SampleContext {
  readonly env: Environment;
  readonly resigner: Resigner;
  readonly otherTpp: OtherTpp & { readonly tokens: string[] };
  /** The platform's encryption key. */
  readonly recipient: Recipient;
  /** The key that tokens are bound to. */
  readonly bound: { readonly key: TestKey; readonly signingKey: CryptoKey };
}

/** A valid call of a resource endpoint. */
export interface ResourceCall extends Pick<Sample, "name" | "status" | "attempt"> {
  /** The signer of the body, if it is signed. */
  readonly signer?: Participant;
  readonly judge?: JudgeJson;
}

const CREDENTIALS = { "x-proxy-secret": [PROXY_SECRET] } as const;
const OTHER_TPP = 2; // the other TPP's signing key in the pool

/** Opens the context of an environment. */
export async function openSampleContext(env: Environment, resigner: Resigner): Promise<SampleContext> {
  const key = await dpopKey();
  return {
    env,
    resigner,
    otherTpp: { key: await (await testKey(OTHER_TPP)).privateKey("sign"), tokens: [] },
    recipient: await platformEncryptionKey(env),
    bound: { key, signingKey: await key.privateKey("sign") },
  };
}

/** How a kind of token is signed by a key, and its rules. */
export function tokensOf(
  { resigner, otherTpp }: SampleContext,
  kind: TokenKind,
  key: CryptoKey,
  rule: Rule,
): TokenParts {
  return { kind, resigner, key, rule, otherTpp };
}

/** The signing key of a participant. */
export function signingKeyOf(who: Participant): Promise<CryptoKey> {
  return who.signing.key.privateKey("sign");
}

/** A token in its place; the attempt contains a valid one. */
export function goodToken(
  { resigner, otherTpp }: SampleContext,
  attempt: Attempt,
  parts: TokenParts,
  place: Place,
  optional?: boolean,
): Part {
  const good = place.read(attempt) ?? "";
  resigner.trust(parts.kind, good);
  otherTpp.tokens.push(good);
  return tokenPart(parts, place, optional);
}

/** `client_assertion` of a request at bank A. */
export async function assertionOf(context: SampleContext, attempt: Attempt, who: Participant): Promise<Part> {
  const parts = tokensOf(context, "assertion", await signingKeyOf(who), assertionRule(who, "BANKA"));
  return goodToken(context, attempt, parts, formPlace("client_assertion"));
}

/** The DPoP proof of a request. */
export async function proofOf(context: SampleContext, attempt: Attempt, optional?: boolean): Promise<Part> {
  const { key, signingKey } = context.bound;
  const accessToken = accessTokenOf(attempt);
  const ath = accessToken === undefined ? undefined : await sha256(accessToken);
  const parts = tokensOf(context, "proof", signingKey, proofRule(key, ath));
  return goodToken(context, attempt, parts, headerPlace("dpop"), optional);
}

/** A call of a resource endpoint with the parts that all calls have, and those of a signed body. */
export async function resourceSample(
  context: SampleContext,
  { signer, judge, ...call }: ResourceCall,
): Promise<Sample> {
  const { resigner, otherTpp, bound } = context;
  const settle = (moved: Attempt): Promise<Attempt> => proveAgain(resigner, bound.signingKey, moved);
  const request = requestPart({ headers: CREDENTIALS, also: sameAccess(call.attempt), settle });
  const common = [await proofOf(context, call.attempt), request];
  if (signer === undefined) return { ...call, surface: "resource", parts: common };
  const signing = { resigner, signer, key: await signingKeyOf(signer), otherTpp };
  return { ...call, surface: "resource", parts: [...common, ...signedParts(signing, call.attempt, judge)] };
}

function signedParts(parts: SignedParts, attempt: Attempt, judge: JudgeJson | undefined): readonly Part[] {
  const signature = headerOf(attempt, "x-jws-signature") ?? "";
  const coverage = segmentText(signature, 0)?.includes('"b64":false') === true ? "A" : "B";
  parts.resigner.trustBody(signature, attempt.body ?? new Uint8Array(), coverage);
  return [signaturePart(parts), signedJsonPart(parts, judge)];
}

/** Requires the token and the bank of the valid request. */
function sameAccess(good: Attempt): (attempt: Attempt) => string | undefined {
  const bankOf = (attempt: Attempt): string | undefined => pathnameOf(attempt).split("/")[1];
  return (attempt) => {
    if (accessTokenOf(attempt) !== accessTokenOf(good)) return "took another access token";
    return bankOf(attempt) === bankOf(good) ? undefined : "took the token at another bank";
  };
}

/** The request with a new proof for its own method and path. */
async function proveAgain(resigner: Resigner, key: CryptoKey, attempt: Attempt): Promise<Attempt> {
  const place = headerPlace("dpop");
  const proof = place.read(attempt) ?? "";
  const claims = membersOf(proof, 1);
  if (claims === undefined) return attempt;
  const htu = URL.parse(attempt.path, BASE_URL)?.pathname ?? "/";
  const moved = { ...claims, htm: attempt.method.toUpperCase(), htu: BASE_URL + htu };
  return place.write(
    attempt,
    await resigner.sign("proof", key, segmentText(proof, 0) ?? "", JSON.stringify(moved)),
  );
}

/** Rules of a request to an OAuth endpoint. */
export const oauthRequest = requestPart({ headers: CREDENTIALS });

/** A request for a public page of the browser host. */
export async function openPage(
  { env }: SampleContext,
  path: string,
  surface: Sample["surface"],
): Promise<Sample> {
  const attempt = await record(env, (w) => w.browser(new Request(AUTH_URL + path)));
  const name = `GET ${path.replace("/BANKA", "/{bank}")}`;
  return { name, attempt, status: 200, surface, parts: [requestPart()] };
}
