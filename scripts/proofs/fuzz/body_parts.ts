/** Bodies as parts of requests: JSON with or without a signature, `x-jws-signature`, forms. */
import type { Participant } from "../../testing/participants.ts";
import { mutateJson, readJson } from "./json.ts";
import { mutateBytes, mutateText, mutateToken, pick } from "./mutations.ts";
import { type Coverage, type Resigner, segmentText, signDetached } from "./signing.ts";
import { formPlace, type Part, type Pinned, pinnedFault } from "./parts.ts";
import { type Members, signatureRule } from "./rules.ts";
import type { OtherTpp } from "./token_parts.ts";
import { bodyText, headerOf, withBody, withHeader } from "./sample_request.ts";
import type { Random } from "../prove/random.ts";

/** The signer of a body and the rules for it. */
export interface SignedParts {
  readonly resigner: Resigner;
  readonly signer: Participant;
  readonly key: CryptoKey;
  readonly otherTpp: OtherTpp;
}

const SIGNATURE = "x-jws-signature";

/** The reason why an accepted document should have been rejected, or undefined. */
export type JudgeJson = (document: unknown) => string | undefined;

/** The signature of a body: mutated as text, re-signed with a changed header, or kept while the body changes. */
export function signaturePart({ resigner, signer, key, otherTpp }: SignedParts): Part {
  return {
    name: SIGNATURE,
    async mutate(random, attempt) {
      const [signature, body] = [headerOf(attempt, SIGNATURE) ?? "", attempt.body ?? new Uint8Array()];
      const header = segmentText(signature, 0) ?? "{}";
      if (random.chance(0.4)) return withHeader(attempt, SIGNATURE, mutateToken(random, signature));
      if (random.chance(0.15)) return withBody(attempt, mutateBytes(random, body));
      const mine = !random.chance(0.1);
      const text = mine ? mutateJson(random, JSON.parse(header)) : header;
      const coverage = random.chance(0.9) ? coverageIn(text) : pick<Coverage>(random, ["A", "B"]);
      const signing = mine ? resigner.signBody : signDetached;
      return withHeader(attempt, SIGNATURE, await signing(mine ? key : otherTpp.key, text, body, coverage));
    },
    fault(attempt) {
      if (attempt.method === "GET") return undefined; // these requests have no body
      const signature = headerOf(attempt, SIGNATURE) ?? "";
      const coverage = resigner.coverageOf(signature, attempt.body ?? new Uint8Array());
      if (coverage === undefined) return "took a forged payload signature";
      const header = readJson(segmentText(signature, 0) ?? "");
      const wrong = signatureRule({ ...Object(header) }, signer, coverage);
      return wrong === undefined ? undefined : `took the payload signature with a wrong ${wrong}`;
    },
  };
}

function coverageIn(header: string): Coverage {
  const members: Members = Object(readJson(header));
  return members["b64"] === false ? "A" : "B";
}

/** A JSON body that is re-signed after each change. */
export function signedJsonPart({ resigner, key }: SignedParts, judge?: JudgeJson): Part {
  const plain = jsonPart(judge);
  return {
    ...plain,
    async mutate(random, attempt) {
      const changed = await plain.mutate(random, attempt);
      const header = segmentText(headerOf(attempt, SIGNATURE) ?? "", 0) ?? "{}";
      const body = changed.body ?? new Uint8Array();
      return withHeader(changed, SIGNATURE, await resigner.signBody(key, header, body, coverageIn(header)));
    },
  };
}

export function jsonPart(judge?: JudgeJson): Part {
  return {
    name: "JSON",
    mutate: (random, attempt) =>
      random.chance(0.1)
        ? withBody(attempt, mutateBytes(random, attempt.body ?? new Uint8Array()))
        : withBody(attempt, mutateJson(random, JSON.parse(bodyText(attempt)))),
    fault(attempt) {
      if (attempt.body === undefined) return undefined;
      const document = readJson(bodyText(attempt));
      return document === undefined ? "took a body that is not one clear JSON value" : judge?.(document);
    },
  };
}

export function formPart(pinned: Pinned): Part {
  return {
    name: "form",
    mutate: (random, attempt) => withBody(attempt, mutateForm(random, bodyText(attempt))),
    fault: (attempt) => pinnedFault(pinned, (name) => formPlace(name).read(attempt) || undefined), // RFC 6749 §3.1: an empty value counts as absent
  };
}

const PARAMETERS: readonly (readonly [string, string])[] = [
  ["client_secret", "x"],
  ["scope", "bank"],
  ["request", "e30.e30."],
  ["request_uri", "urn:ietf:params:oauth:request_uri:x"],
  ["response_mode", "form_post"],
  ["resource", "https://api.platform.example"],
  ["nonce", "x"],
  ["__proto__", "x"],
  ["", ""],
  ["x", "%00"],
];

/** The form with mutated text, or with one parameter omitted, repeated, renamed, changed or added. */
export function mutateForm(random: Random, text: string): string {
  if (random.chance(0.2)) return mutateText(random, text);
  const pairs = [...new URLSearchParams(text)];
  const at = random.below(Math.max(1, pairs.length));
  const [name = "", value = ""] = pairs[at] ?? [];
  const changed: (readonly [string, string])[] = [...pairs];
  switch (random.below(6)) {
    case 0:
      changed.splice(at, 1);
      break;
    case 1:
      changed.push([name, random.chance(0.5) ? value : mutateText(random, value)]);
      break;
    case 2:
      changed[at] = [mutateText(random, name), value];
      break;
    case 3:
      changed.push(pick(random, PARAMETERS));
      break;
    default:
      changed[at] = [name, mutateText(random, value)];
  }
  return new URLSearchParams(changed.map(([key, member]) => [key, member])).toString();
}
