/** The unsigned parts of a request: method, path, query, headers, framing. */
import { mutateForm } from "./body_parts.ts";
import { mutateBytes, mutateText, pick } from "./mutations.ts";
import { type Part, type Pinned, pinnedFault, queryPlace } from "./parts.ts";
import { type Attempt, headerOf, queryOf, withBody, withHeader } from "./sample_request.ts";
import type { Random } from "../prove/random.ts";

/** The name of the part that is the whole request. */
export const REQUEST = "request";

const CERTIFICATE = "client-cert";

type Header = readonly [name: string, value: string];

const HEADERS: readonly Header[] = [
  ["accept", "text/html"],
  ["accept", "application/json;q=0"],
  ["accept-language", "es;q=x, fr, *;q=-1"],
  ["authorization", "Bearer x"],
  ["content-encoding", "gzip"],
  ["content-length", "99999999999"],
  ["content-length", "-1"],
  ["content-type", "text/plain"],
  ["content-type", "application/json; charset=latin1"],
  ["cookie", "__Host-sca-x=y; =; a"],
  ["dpop", "e30.e30.e30"],
  ["forwarded", "host=evil.example"],
  ["host", "evil.example"],
  ["if-none-match", "*"],
  ["if-none-match", 'W/"x", "'],
  ["range", "bytes=0-0"],
  ["transfer-encoding", "chunked"],
  ["x-fapi-auth-date", "Sun, 31 Feb 2040 12:00:00 GMT"],
  ["x-fapi-auth-date", "Sun, 15 Jan 2040 12:00:00 GMT"],
  ["x-fapi-customer-ip-address", "::ffff:1.2.3.4.5"],
  ["x-fapi-customer-ip-address", "[::1]"],
  ["x-fapi-financial-id", "\u00ff"],
  ["x-fapi-interaction-id", "93bac548-d2de-4546-b106-880a5018460d"],
  ["x-fapi-interaction-id", "93bac548-d2de-4546-b106-880a5018460"],
  ["x-forwarded-client-cert", 'Cert="x";Cert="y"'],
  ["x-forwarded-host", "evil.example"],
  ["x-http-method-override", "DELETE"],
  ["x-idempotency-key", "x".repeat(41)],
  ["x-jws-signature", "e30..e30"],
  ["x-ssl-client-cert", "%"],
];
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "QUERY", "get", "post"];
const ROUTES = [
  "/jwks",
  "/register/v1",
  "/participants",
  "/health",
  "/operations/payment-orders",
  "/",
  "/docs",
];

/** Requirements that an accepted request as a whole must meet. */
export interface RequestRules {
  readonly query?: Pinned;
  /** Header values; undefined means absent. */
  readonly headers?: Pinned;
  /** An additional check. */
  readonly also?: (attempt: Attempt) => string | undefined;
  /** Makes the request valid again after its method or path changed, if it names them. */
  readonly settle?: (attempt: Attempt) => Promise<Attempt>;
}

/** Method, path, query, headers and the body's bytes. */
export function requestPart({ query = {}, headers = {}, also, settle }: RequestRules = {}): Part {
  return {
    name: REQUEST,
    async mutate(random, attempt) {
      const changed = mutateRequest(random, attempt);
      const moved = changed.path !== attempt.path || changed.method !== attempt.method;
      return moved && settle !== undefined && random.chance(0.7) ? await settle(changed) : changed;
    },
    fault: (attempt) =>
      pinnedFault(query, (name) => queryPlace(name).read(attempt)) ??
        pinnedFault(headers, (name) => headerOf(attempt, name)) ?? also?.(attempt),
  };
}

function mutateRequest(random: Random, attempt: Attempt): Attempt {
  switch (random.below(10)) {
    case 0:
      return { ...attempt, method: pick(random, METHODS) };
    case 1:
      return { ...attempt, path: mutateText(random, attempt.path) };
    case 2:
      return { ...attempt, path: mutateSegment(random, attempt.path) };
    case 3:
    case 4:
      return { ...attempt, path: `${attempt.path.split("?")[0]}?${mutateForm(random, queryOf(attempt))}` };
    case 5:
      if (attempt.body !== undefined) return withBody(attempt, mutateBytes(random, attempt.body));
      return { ...attempt, headers: [...attempt.headers, pick(random, HEADERS)] };
    default:
      return { ...attempt, headers: mutateHeaders(random, attempt.headers) };
  }
}

function mutateSegment(random: Random, path: string): string {
  if (random.chance(0.1)) return pick(random, ROUTES);
  const segments = path.split("/");
  const at = 1 + random.below(Math.max(1, segments.length - 1));
  const segment = segments[at] ?? "";
  const changed = pick(random, [
    mutateText(random, segment),
    encodeURIComponent(mutateText(random, segment).toWellFormed()),
    segment.toUpperCase(),
    escapeText(segment),
    `${segment}/`,
    "93bac548-d2de-4546-b106-880a5018460d",
  ]);
  return segments.with(at, changed).join("/");
}

/** The text with its first character as a percent escape. */
function escapeText(text: string): string {
  return text === ""
    ? "%2F"
    : `%${text.charCodeAt(0).toString(16).padStart(2, "0").slice(-2)}${text.slice(1)}`;
}

function mutateHeaders(random: Random, headers: readonly Header[]): readonly Header[] {
  const at = random.below(headers.length + 1);
  const header = headers[at];
  if (header === undefined) return [...headers, pick(random, HEADERS)];
  const [name, value] = header;
  switch (random.below(6)) {
    case 0:
      return headers.toSpliced(at, 1);
    case 1:
      return [...headers, [name, random.chance(0.5) ? value : mutateText(random, value)]];
    case 2:
      return [...headers, pick(random, HEADERS)];
    case 3: {
      const strange = pick(random, HEADERS.filter(([other]) => other === name).concat([[name, ""]]));
      return headers.with(at, strange);
    }
    default:
      return headers.with(at, [name, mutateText(random, value)]);
  }
}

/**
 * The certificate that the proxy forwards, mutated octet by octet. Any certificate with this key is accepted (Decision
 * A8).
 */
export function certificatePart(modulus: string): Part {
  const derIn = (attempt: Attempt): Uint8Array => {
    try {
      return Uint8Array.fromBase64(headerOf(attempt, CERTIFICATE)?.replaceAll(":", "") ?? "");
    } catch {
      return new Uint8Array();
    }
  };
  const wanted = Uint8Array.fromBase64(modulus, { alphabet: "base64url" }).toHex();
  return {
    name: CERTIFICATE,
    mutate: (random, attempt) =>
      withHeader(attempt, CERTIFICATE, `:${mutateBytes(random, derIn(attempt)).toBase64()}:`),
    fault: (attempt) => derIn(attempt).toHex().includes(wanted) ? undefined : "took another certificate",
  };
}
