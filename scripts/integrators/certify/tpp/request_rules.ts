/** The rules for the requests of a TPP, for both good payments at once. */
import { base64url, type CompactJWSHeaderParameters, flattenedVerify, importX509 } from "jose";
import { OBIE_CLAIM, SIGNATURE_ALG } from "../../../../src/client/party/profile.ts";
import type { Run, TppBench } from "./bench.ts";
import { assertionOf, type Exchange, field, parseAnswer, proofOf, tokenOf } from "./exchange.ts";
import { methodAndPath, missing, of, redemptions, repeated } from "./reading.ts";

/** The fault, if there is one. */
export type Fault = string | false | undefined;

/** The requests that are judged. */
export interface Seen {
  /** The requests of both payments, in their order. */
  readonly exchanges: readonly Exchange[];
  readonly runs: readonly Run[];
  readonly bench: TppBench;
}

/** A client assertion lives at most this long, seconds (interface). */
const MAX_ASSERTION_SECONDS = 300;
/** Largest difference between a time that a TPP states and the certifier's clock, seconds. */
const CLOCK_SECONDS = 300;
/** Characters of a `state` with 128 random bits in base64url. */
const MIN_STATE_CHARACTERS = 22;

/** The first fault that one of the requests has. */
export function first(exchanges: readonly Exchange[], fault: (exchange: Exchange) => Fault): Fault {
  for (const exchange of exchanges) {
    const found = fault(exchange);
    if (found) return `${methodAndPath(exchange)}: ${found}`;
  }
  return false;
}

export function authenticated({ exchanges }: Seen): Exchange[] {
  return exchanges.filter(({ endpoint }) => endpoint === "token" || endpoint === "par");
}

export function atResources({ exchanges }: Seen): Exchange[] {
  return exchanges.filter(({ endpoint }) => endpoint === "consents" || endpoint === "payments");
}

export function judgeAssertion(exchange: Exchange, { bench }: Seen): Fault {
  const claims = assertionOf(exchange)?.claims;
  if (claims === undefined) return "no client assertion that can be read";
  const { iss, sub, aud, iat, exp = Infinity } = claims;
  const sent = Math.floor((performance.timeOrigin + exchange.at) / 1000);
  if (iss !== sub || iss !== bench.participant.client_id) return "iss and sub are not its client_id";
  if (aud !== `${bench.endpoints.auth_url}/${exchange.bank}`) {
    return "aud is not the bank's issuer as a string";
  }
  const lifetime = exp - (iat ?? sent);
  return !(lifetime <= MAX_ASSERTION_SECONDS) && `it is valid for ${lifetime} s`;
}

export function judgeProof(exchange: Exchange): Fault {
  const proof = proofOf(exchange);
  if (proof === undefined) return exchange.endpoint !== "par" && "no DPoP proof that can be read";
  const { header, claims } = proof;
  const expected = `${exchange.url.origin}${exchange.url.pathname}`;
  if (header.typ !== "dpop+jwt" || header.alg !== SIGNATURE_ALG) return "typ or alg is not that of a proof";
  const jwk = header.jwk ?? {};
  if ("d" in jwk || "p" in jwk) return "the proof has a private key";
  if (claims["htm"] !== exchange.method) return "htm is not the method";
  if (URL.parse(String(claims["htu"]))?.href !== expected) {
    return "htu is not the address without query and fragment";
  }
  const age = Math.abs(Date.now() / 1000 - (claims.iat ?? 0));
  return !(age < CLOCK_SECONDS) && "iat is not the present";
}

async function athOf(token: string): Promise<string> {
  return base64url.encode(
    new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token))),
  );
}

export async function judgeAth(exchange: Exchange): Promise<Fault> {
  const token = tokenOf(exchange);
  if (token === undefined) return `${methodAndPath(exchange)}: no access token`;
  const ath = proofOf(exchange)?.claims["ath"];
  if (ath === undefined) return `${methodAndPath(exchange)}: the proof has no ath`;
  return ath !== await athOf(token) && `${methodAndPath(exchange)}: ath is of another token`;
}

/**
 * Tokens by the bank that issued them; a token elsewhere is a fault. A TPP may have one of an earlier payment: where it
 * is used first, the platform accepts it.
 */
export function judgeTokens({ exchanges }: Seen): readonly Fault[] {
  const issuedAt = new Map<string, string | undefined>();
  for (const exchange of exchanges.filter(({ endpoint }) => endpoint === "token")) {
    const token: unknown = parseAnswer(exchange).access_token;
    if (typeof token === "string") issuedAt.set(token, exchange.bank);
  }
  return [
    first(exchanges, (exchange) => {
      const token = tokenOf(exchange);
      if (token === undefined) return false;
      if (!issuedAt.has(token)) {
        issuedAt.set(token, exchange.bank);
        return exchange.platform?.status === 401 && "a token that this bank did not issue";
      }
      return issuedAt.get(token) !== exchange.bank && `a token of ${issuedAt.get(token)}`;
    }),
  ];
}

/** Pushed requests. A repetition of one, after which the same customer leaves, counts once. */
function pushedBy({ exchanges }: Pick<Seen, "exchanges">): readonly Exchange[] {
  const parameters = ["consent_id", "state", "code_challenge"];
  const byContent = of({ exchanges }, "par").map((exchange) =>
    [parameters.map((name) => field(exchange, name)).join(" "), exchange] as const
  );
  return [...new Map(byContent).values()];
}

export function judgePkce({ exchanges, runs }: Seen): readonly Fault[] {
  const pushed = pushedBy({ exchanges });
  const challenges = pushed.map((exchange) => field(exchange, "code_challenge") ?? "");
  return [
    missing(pushed, "pushed authorization request"),
    first(
      pushed,
      (exchange) => field(exchange, "code_challenge_method") !== "S256" && "the method is not S256",
    ),
    challenges.includes("") && "a request has no code_challenge",
    repeated(challenges, "a code_challenge"),
    first(
      runs.flatMap((run) => redemptions(run)),
      (exchange) =>
        !/^[A-Za-z0-9._~-]{43,128}$/.test(field(exchange, "code_verifier") ?? "") &&
        "no code_verifier of 43 to 128 characters",
    ),
  ];
}

export function judgeState({ exchanges }: Seen): readonly Fault[] {
  const pushed = pushedBy({ exchanges });
  const states = pushed.map((exchange) => field(exchange, "state") ?? "");
  return [
    missing(pushed, "pushed authorization request"),
    states.some((state) => state.length < MIN_STATE_CHARACTERS) &&
    `a state has fewer than ${MIN_STATE_CHARACTERS} characters`,
    repeated(states, "a state"),
  ];
}

export function judgeLinks({ runs, bench }: Seen): readonly Fault[] {
  const links = runs.flatMap(({ link }) => link ?? []);
  return [
    missing(links, "customer to the platform"),
    ...links.map(({ searchParams }): Fault => {
      const names = [...searchParams.keys()].sort().join(", ");
      return names !== "client_id, request_uri" && `its link has ${names || "no parameters"}`;
    }),
    links.some(({ searchParams }) => searchParams.get("client_id") !== bench.participant.client_id) &&
    "its link has another client_id",
    repeated(links.map(({ searchParams }) => searchParams.get("request_uri") ?? ""), "a request_uri"),
  ];
}

/** The same key belongs to the same body at the same endpoint. */
export function judgeKeys({ exchanges }: Seen): readonly Fault[] {
  const posts = exchanges.filter(({ endpoint, method }) =>
    method === "POST" && (endpoint === "consents" || endpoint === "payments")
  );
  const used = new Map<string, Exchange>();
  return [
    missing(posts, "POST to a resource"),
    first(posts, (exchange) => {
      const key = exchange.headers.get("x-idempotency-key");
      if (key === null) return "no x-idempotency-key";
      const before = used.get(key);
      used.set(key, exchange);
      const isOther = before !== undefined &&
        (before.body !== exchange.body || before.url.href !== exchange.url.href);
      return isOther && "the x-idempotency-key of another request";
    }),
  ];
}

export async function judgeSignatures(seen: Seen): Promise<readonly Fault[]> {
  const { participant: { org_id, software_client_id }, signingCertificate } = seen.bench;
  const key = await importX509(signingCertificate, SIGNATURE_ALG);
  const posts = atResources(seen).filter(({ method }) => method === "POST");
  const faults = await Promise.all(posts.map(async (exchange): Promise<Fault> => {
    const [head = "", middle, signature = ""] = (exchange.headers.get("x-jws-signature") ?? "").split(".");
    if (middle !== "") return `${methodAndPath(exchange)}: no detached x-jws-signature`;
    const header = JSON.parse(new TextDecoder().decode(base64url.decode(head))) as CompactJWSHeaderParameters;
    const body = new TextEncoder().encode(exchange.body);
    const payload = header.b64 === false ? body : base64url.encode(body);
    const crit = Object.fromEntries(Object.values(OBIE_CLAIM).map((name) => [name, true]));
    const options = { algorithms: [SIGNATURE_ALG], crit };
    const isGood = await flattenedVerify({ protected: head, payload, signature }, key, options)
      .then(() => true, () => false);
    if (!isGood) return `${methodAndPath(exchange)}: the signature does not verify`;
    const age = Math.abs(Date.now() / 1000 - Number(header[OBIE_CLAIM.iat] ?? 0));
    if (!(age < CLOCK_SECONDS)) return `${methodAndPath(exchange)}: the signature's iat is not the present`;
    return header[OBIE_CLAIM.iss] !== `${org_id}/${software_client_id}` &&
      `${methodAndPath(exchange)}: the signature's iss is not org_id/software_client_id`;
  }));
  return [missing(posts, "POST to a resource"), ...faults];
}
