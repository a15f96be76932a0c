/** Step 11: how the requests were authenticated. */
import { type Case, nameOf } from "./case.ts";
import { isSame, membersOf, parsed } from "./encoding.ts";
import type { Authentication, Entry } from "./form.ts";
import { headerOf, verifyCompact } from "./signature.ts";

/** The endpoint that brings a kind of evidence: method, and the end of its address. */
const ENDPOINTS: Readonly<Record<string, readonly [string, string]>> = {
  consent_request: ["POST", "/domestic-payment-consents/v1"],
  payment_request: ["POST", "/domestic-payments/v1"],
  payer_accounts: ["PUT", "/back-channel-auth/v1/{consent}"],
  status_report: ["PUT", "/back-channel-payments/v1/{payment}"],
  tpp_dispute: ["POST", "/disputes/v1"],
  bank_dispute: ["POST", "/disputes/v1"],
  pushed_request: ["POST", "/par.oauth2/v1"],
  "consent.token_issued": ["POST", "/token.oauth2/v1"],
};

const RESOURCES: readonly string[] = [
  "consent_request",
  "payment_request",
  "payer_accounts",
  "status_report",
  "tpp_dispute",
  "bank_dispute",
];

/** What an entry says of its request: the kinds of its evidence, and itself. */
function namesOf({ items = [], event }: Entry): readonly string[] {
  return [...items.map(({ kind }) => kind), event].filter((name) => Object.hasOwn(ENDPOINTS, name));
}

interface Proof {
  readonly key: string;
  readonly jti: unknown;
}

async function* proofFaults(entry: Entry, request: Authentication, proofs: Proof[]): AsyncGenerator<string> {
  const name = `the proof of ${nameOf(entry)}`;
  const proof = request.proof ?? "";
  const { jwk, typ } = headerOf(proof);
  const signed = await verifyCompact(proof, membersOf(jwk));
  if (!signed || typ !== "dpop+jwt") return yield `${name} does not verify`;
  const { htm, htu, ath, iat, jti } = membersOf(parsed(signed.payload));
  if (htm !== request.method) yield `${name} is for another method`;
  if (typeof htu !== "string" || !isSameAddress(htu, request.target)) yield `${name} is for another address`;
  if (request.token !== undefined && ath !== request.token) yield `${name} is for another token`;
  if (!(Math.abs(Number(iat) * 1000 - entry.at) <= 3_660_000)) yield `${name} has another time`;
  const { n, e } = membersOf(jwk);
  const key = JSON.stringify([n, e]);
  if (proofs.some((other) => other.key === key && isSame(other.jti, jti))) yield `${name} has a jti twice`;
  proofs.push({ key, jti });
}

/** RFC 9449 §4.3: without query and fragment, after normalization. */
function isSameAddress(one: string, other: string): boolean {
  const [first, second] = [URL.parse(one), URL.parse(other)];
  return first !== null && second !== null &&
    `${first.origin}${first.pathname}` === `${second.origin}${second.pathname}`;
}

function* endpointFaults(facts: Case, entry: Entry, bases: Set<string>): Generator<string> {
  const { authentication } = entry;
  for (const name of namesOf(entry)) {
    if (!authentication) {
      yield `${nameOf(entry)} does not say how it was authenticated`;
      continue;
    }
    const [method, end] = ENDPOINTS[name] ?? ["", ""];
    const path = end.replace("{consent}", facts.consent).replace("{payment}", facts.payment);
    if (authentication.method !== method || !authentication.target.endsWith(path)) {
      yield `${nameOf(entry)} came by another request`;
    }
    bases.add(authentication.target.slice(0, -path.length));
    const isResource = RESOURCES.includes(name);
    if (isResource && (authentication.token === undefined || authentication.proof === undefined)) {
      yield `${nameOf(entry)} has no token or proof`;
    }
    if (name === "consent.token_issued" && authentication.proof === undefined) {
      yield `${nameOf(entry)} has no proof`;
    }
    if (!isResource && !authentication.assertion) yield `${nameOf(entry)} has no assertion`;
  }
}

export async function* authenticationFaults(facts: Case): AsyncGenerator<string> {
  const [bases, proofs, keys] = [new Set<string>(), [] as Proof[], new Map<string, string>()];
  const assertions = facts.entries.flatMap(({ authentication }) => authentication?.assertion?.jtiHash ?? []);
  if (new Set(assertions).size < assertions.length) yield "an assertion is there twice";
  for (const entry of facts.entries) {
    yield* endpointFaults(facts, entry, bases);
    const { authentication, actor, issued } = entry;
    if (!authentication) continue;
    if (authentication.clientId !== actor) yield `${nameOf(entry)} was requested by another client`;
    if (authentication.proof === undefined) continue;
    yield* proofFaults(entry, authentication, proofs);
    const key = proofs.at(-1)?.key ?? "";
    for (const token of [authentication.token, issued?.token]) {
      if (token === undefined) continue;
      if ((keys.get(token) ?? key) !== key) yield `${nameOf(entry)} proves another key of its token`;
      keys.set(token, key);
    }
  }
  if (bases.size > 1) yield "requests came to several platforms or banks";
}
