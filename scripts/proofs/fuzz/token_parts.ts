/**
 * Compact tokens as parts of requests: mutated as text, or re-signed after a change; including nested and encrypted
 * tokens.
 */
import { rawJws } from "../../testing/raw_jws.ts";
import { mutateJson, readJson } from "./json.ts";
import { mutateBytes, mutateToken, pick } from "./mutations.ts";
import { type Resigner, segmentText, type TokenKind } from "./signing.ts";
import type { Answer, Part, Place } from "./parts.ts";
import { isSuccess, type Members, type Rule, sealRule } from "./rules.ts";
import { type Attempt, headerOf } from "./sample_request.ts";
import type { Random } from "../prove/random.ts";

/** How a kind of token is made and checked. */
export interface TokenParts {
  readonly kind: TokenKind;
  readonly resigner: Resigner;
  /** The key of the party that signs it. */
  readonly key: CryptoKey;
  readonly rule: Rule;
  /** Must hold even for a token whose response was `server_error` (Decision G1). */
  readonly minimum?: Rule;
  readonly otherTpp: OtherTpp;
}

/** Replacements that must be rejected: another party's key, tokens of other kinds. */
export interface OtherTpp {
  readonly key: CryptoKey;
  readonly tokens: readonly string[];
}

/** A token in its place; an optional one may be omitted. */
export function tokenPart(parts: TokenParts, place: Place, optional = false): Part {
  return {
    name: place.name,
    mutate: async (random, attempt) =>
      place.write(attempt, await mutateSigned(random, parts, place.read(attempt) ?? "")),
    fault(attempt) {
      if (optional && headerOf(attempt, place.name) === undefined) return undefined;
      return tokenFault(parts, place.read(attempt) ?? "", attempt);
    },
  };
}

/** A token in a claim of another one, which is re-signed around it and otherwise valid. */
export function nestedPart(inner: TokenParts, outer: TokenParts, place: Place, claim: string): Part {
  return {
    name: claim,
    async mutate(random, attempt) {
      const token = place.read(attempt) ?? "";
      const claims = membersOf(token, 1) ?? {};
      const changed = { ...claims, [claim]: await mutateSigned(random, inner, String(claims[claim])) };
      const [header, { resigner, kind, key }] = [segmentText(token, 0) ?? "", outer];
      return place.write(attempt, await resigner.sign(kind, key, header, JSON.stringify(changed)));
    },
    fault: (attempt) => tokenFault(inner, String(membersOf(place.read(attempt) ?? "", 1)?.[claim]), attempt),
  };
}

/** The key that tokens are encrypted to. */
export interface Recipient {
  readonly key: CryptoKey;
  readonly kid: string;
}

/**
 * An encrypted token in its place: the JWE mutated as text or encrypted again, or the inner token changed and
 * encrypted.
 */
export function sealedPart(inner: TokenParts, to: Recipient, place: Place): Part {
  const { resigner } = inner;
  return {
    name: place.name,
    async mutate(random, attempt) {
      const sealed = place.read(attempt) ?? "";
      const [header, token] = [segmentText(sealed, 0) ?? "{}", resigner.sealedIn(sealed) ?? ""];
      const again = async (): Promise<string> => {
        if (random.chance(0.1)) {
          return await resigner.seal(to.key, header, pick(random, [sealed, "{}", "x".repeat(9000)]));
        }
        if (random.chance(0.3)) {
          return await resigner.seal(to.key, mutateJson(random, JSON.parse(header)), token);
        }
        return await resigner.seal(to.key, header, await mutateSigned(random, inner, token));
      };
      return place.write(attempt, random.chance(0.4) ? mutateToken(random, sealed) : await again());
    },
    fault(attempt, answer) {
      const sealed = place.read(attempt) ?? "";
      const token = resigner.sealedIn(sealed);
      if (token === undefined) return "took a forged seal";
      const wrong = sealRule(membersOf(sealed, 0) ?? {}, to.kid);
      if (wrong !== undefined) return `took the seal with a wrong ${wrong}`;
      const rule = isUnusable(answer) ? inner.minimum ?? inner.rule : inner.rule;
      return tokenFault({ ...inner, rule }, token, attempt) ?? outcomeFault(token, answer);
    },
  };
}

function isUnusable(answer: Answer): boolean {
  return outcomeOf(answer)?.get("error") === "server_error";
}

function outcomeOf({ headers }: Answer): URLSearchParams | undefined {
  return URL.parse(headers.get("location") ?? "")?.searchParams;
}

function outcomeFault(token: string, answer: Answer): string | undefined {
  const code = outcomeOf(answer)?.has("code") === true;
  return code && !isSuccess(membersOf(token, 1) ?? {}) ? "gave a code for what was no success" : undefined;
}

/** The token changed as text, replaced by another party's, or re-signed with a changed header or changed claims. */
async function mutateSigned(
  random: Random,
  { kind, resigner, key, otherTpp }: TokenParts,
  token: string,
): Promise<string> {
  const [header, claims] = [segmentText(token, 0), segmentText(token, 1)];
  if (header === undefined || claims === undefined || random.chance(0.5)) return mutateToken(random, token);
  const mutated = (text: string): string => mutateJson(random, JSON.parse(text));
  switch (random.below(8)) {
    case 0:
      return pick(random, otherTpp.tokens);
    case 1:
      return await rawJws(otherTpp.key, header, random.chance(0.5) ? claims : mutated(claims));
    case 2:
      return await resigner.sign(kind, key, header, mutateBytes(random, new TextEncoder().encode(claims)));
    case 3:
      return await resigner.sign(kind, key, mutated(header), mutated(claims));
    case 4:
    case 5:
      return await resigner.sign(kind, key, mutated(header), claims);
    default:
      return await resigner.sign(kind, key, header, mutated(claims));
  }
}

/** The reason why an accepted token should have been rejected: not signed by its party, or with wrong contents. */
function tokenFault(
  { kind, resigner, rule }: TokenParts,
  token: string,
  attempt: Attempt,
): string | undefined {
  if (!resigner.isSigned(kind, token)) return `took a forged ${kind}`;
  const [header, claims] = [membersOf(token, 0), membersOf(token, 1)];
  if (header === undefined || claims === undefined) return `took the ${kind}, which is no clear JSON object`;
  const wrong = rule(header, claims, attempt);
  return wrong === undefined ? undefined : `took the ${kind} with a wrong ${wrong}`;
}

/** The object in a token's segment; undefined if it is not an object or has a duplicate member. */
export function membersOf(token: string, index: number): Members | undefined {
  const value = readJson(segmentText(token, index) ?? "");
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}
