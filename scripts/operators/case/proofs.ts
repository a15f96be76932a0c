/**
 * How the requests in a bundle were authenticated: each DPoP proof is of its request and of the key of its access token
 * (`docs/contract/evidence.md`, verification, step 11). No I/O.
 */
import { type BundleEntry, type Key, keySchema, type Statement } from "./bundle_schema.ts";
import { headerOf, jsonIn, openJws } from "./signatures.ts";
import { entryName } from "./verify_parts.ts";

/** The request that must have brought a kind of evidence or caused an event. */
interface Brought {
  readonly method: string;
  /** What follows the address of the bank. */
  readonly path: (statement: Statement) => string;
  /** How such a request is authenticated. */
  readonly needs: readonly ("token" | "proof" | "assertion")[];
}

const RESOURCE = ["token", "proof"] as const;
const BROUGHT: Readonly<Record<string, Brought>> = {
  consent_request: { method: "POST", path: () => "/domestic-payment-consents/v1", needs: RESOURCE },
  payment_request: { method: "POST", path: () => "/domestic-payments/v1", needs: RESOURCE },
  payer_accounts: {
    method: "PUT",
    path: ({ consent }) => `/back-channel-auth/v1/${consent}`,
    needs: RESOURCE,
  },
  status_report: {
    method: "PUT",
    path: ({ payment }) => `/back-channel-payments/v1/${payment}`,
    needs: RESOURCE,
  },
  tpp_dispute: { method: "POST", path: () => "/disputes/v1", needs: RESOURCE },
  bank_dispute: { method: "POST", path: () => "/disputes/v1", needs: RESOURCE },
  pushed_request: { method: "POST", path: () => "/par.oauth2/v1", needs: ["assertion"] },
  "consent.token_issued": { method: "POST", path: () => "/token.oauth2/v1", needs: ["assertion", "proof"] },
};

/** Largest difference between an entry's time and the time in a signature or proof of its request. */
export const MAX_AGE_SECONDS = 3660;

/** Yields each request of the case that was not authenticated as it must have been. */
export async function* verifyRequests(
  entries: readonly BundleEntry[],
  statement: Statement,
): AsyncGenerator<string> {
  const keys = new Map<string, string>();
  const seen = new Set<string>();
  const assertions = new Set<string>();
  let bank: string | undefined;
  for (const entry of entries) {
    const { record } = entry;
    const names = [record.event, ...(record.items ?? []).map(({ kind }) => kind)];
    const brought = names.flatMap((name) => Object.hasOwn(BROUGHT, name) ? BROUGHT[name] ?? [] : [])[0];
    const { authentication } = record;
    if (authentication === undefined) {
      if (brought !== undefined) yield `${entryName(entry)} does not say how its request was authenticated`;
      continue;
    }
    if (authentication.clientId !== record.actor) {
      yield `${entryName(entry)} is by another client than its actor`;
    }
    if (brought !== undefined) {
      const path = brought.path(statement);
      const { method, target } = authentication;
      const address = target.endsWith(path) ? target.slice(0, -path.length) : undefined;
      bank ??= address;
      if (method !== brought.method || address === undefined || address !== bank) {
        yield `${entryName(entry)} names the request ${method} ${target}, which does not bring it`;
      }
      for (const part of brought.needs) {
        if (authentication[part] === undefined) yield `${entryName(entry)} lacks the ${part} of its request`;
      }
    }
    const { jtiHash } = authentication.assertion ?? {};
    if (jtiHash !== undefined && assertions.has(jtiHash)) {
      yield `the assertion of ${entryName(entry)} was used before`;
    }
    if (jtiHash !== undefined) assertions.add(jtiHash);
    yield* verifyProof(entry, keys, seen);
  }
}

/** @param keys the key of each access token, and `seen` the proofs of former entries */
async function* verifyProof(
  entry: BundleEntry,
  keys: Map<string, string>,
  seen: Set<string>,
): AsyncGenerator<string> {
  const { authentication, at, issued } = entry.record;
  const name = `the DPoP proof of ${entryName(entry)}`;
  const { proof, token, method, target } = authentication ?? {};
  if (proof === undefined) return;
  const opened = await openProof(proof);
  if (opened === undefined) return yield `${name} does not verify`;
  const { claims, key } = opened;
  if (claims["htm"] !== method) yield `${name} is for another method`;
  if (typeof claims["htu"] !== "string" || normalised(claims["htu"]) !== normalised(target ?? "")) {
    yield `${name} is for another address: ${claims["htu"]}`;
  }
  if (token !== undefined && claims["ath"] !== token) yield `${name} is for another access token`;
  if (Math.abs(Number(claims["iat"]) - at / 1000) > MAX_AGE_SECONDS || typeof claims["iat"] !== "number") {
    yield `${name} is of another time`;
  }
  const id = `${key.n} ${claims["jti"]}`;
  if (typeof claims["jti"] !== "string" || seen.has(id)) yield `${name} was used before`;
  seen.add(id);
  const bound = token ?? issued?.token;
  if (bound === undefined) return;
  if ((keys.get(bound) ?? key.n) !== key.n) yield `${name} is not of the key of its access token`;
  keys.set(bound, key.n);
}

async function openProof(
  proof: string,
): Promise<{ readonly claims: Readonly<Record<string, unknown>>; readonly key: Key } | undefined> {
  const jwk = headerOf(proof.slice(0, proof.indexOf(".")))?.["jwk"];
  const key = keySchema.safeParse({ ...Object(jwk), kid: "" });
  const payload = key.success ? await openJws(proof, key.data, "dpop+jwt") : undefined;
  const claims = payload === undefined ? undefined : jsonIn(payload);
  return key.success && typeof claims === "object" && claims !== null
    ? { claims: { ...claims }, key: key.data }
    : undefined;
}

/** RFC 9449 §4.3 check 9: without query and fragment, after the normalization of RFC 3986 §6.2.2 and §6.2.3. */
function normalised(text: string): string {
  const url = URL.parse(text);
  if (url === null) return text;
  const path = url.pathname.replaceAll(/%([0-9A-Fa-f]{2})/g, (escape, hex: string) => {
    const character = String.fromCharCode(parseInt(hex, 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : escape.toUpperCase();
  });
  return url.origin + path;
}

/** Returns whether the time in the header of a detached signature, if it has one, is that of the entry. */
export function isTimely(signature: string, at: number): boolean {
  const iat = headerOf(signature.slice(0, signature.indexOf(".")))?.["http://openbanking.org.uk/iat"];
  return iat === undefined || (typeof iat === "number" && Math.abs(iat - at / 1000) <= MAX_AGE_SECONDS);
}

/**
 * Returns the client that the header of a detached signature names: alone, or behind its organisation. One that names the
 * organisation alone names none (contract SG4).
 */
export function clientOf(signature: string): string | undefined {
  const iss = headerOf(signature.slice(0, signature.indexOf(".")))?.["http://openbanking.org.uk/iss"];
  const [, client] = typeof iss === "string" ? /(?:^|\/)(SC-[^/]*)$/.exec(iss) ?? [] : [];
  return client;
}
