/** One request of the TPP to the platform with its answer, and what the cases read in it. */
import { decodeJwt, decodeProtectedHeader, type JWTPayload, type ProtectedHeaderParameters } from "jose";

/** An endpoint that a TPP calls. */
export type Endpoint =
  | "register"
  | "token"
  | "par"
  | "consents"
  | "payments"
  | "events"
  | "keys"
  | "metadata"
  | "other";

/** A recorded request. */
export interface Exchange {
  /** When it arrived, milliseconds on the certifier's clock. */
  readonly at: number;
  readonly endpoint: Endpoint;
  /** The bank of its path, if it has one. */
  readonly bank: string | undefined;
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body: string;
  /** The platform's response. Absent: the request was not handed to it. */
  platform?: { readonly status: number; readonly body: string };
  /** When the caller was answered, or the connection was broken off, milliseconds on the certifier's clock. */
  answeredAt?: number;
}

const BANK_PATHS: readonly (readonly [string, Endpoint])[] = [
  ["token.oauth2/v1", "token"],
  ["par.oauth2/v1", "par"],
  ["domestic-payment-consents/v1", "consents"],
  ["domestic-payments/v1", "payments"],
  ["events/v1", "events"],
];

/** Endpoint and bank of a path. */
export function findEndpoint(pathname: string): Pick<Exchange, "endpoint" | "bank"> {
  if (pathname === "/register/v1") return { endpoint: "register", bank: undefined };
  if (pathname === "/jwks") return { endpoint: "keys", bank: undefined };
  const metadata = /^\/\.well-known\/oauth-authorization-server\/([^/]+)$/.exec(pathname);
  if (metadata !== null) return { endpoint: "metadata", bank: metadata[1] };
  const [, bank, rest = ""] = /^\/([^/]+)\/(.+)$/.exec(pathname) ?? [];
  const known = BANK_PATHS.find(([path]) => rest === path || rest.startsWith(`${path}/`));
  return { endpoint: known?.[1] ?? "other", bank };
}

/** A decoded JWT. Its signature is not verified: the platform does that. */
export interface Decoded {
  readonly header: ProtectedHeaderParameters;
  readonly claims: JWTPayload;
}

/** The client assertion in a form, if it can be read. */
export function assertionOf({ body }: Exchange): Decoded | undefined {
  return decoded(new URLSearchParams(body).get("client_assertion"));
}

/** The DPoP proof of a request, if it can be read. */
export function proofOf({ headers }: Exchange): Decoded | undefined {
  return decoded(headers.get("dpop"));
}

/** The access token that a request presents. */
export function tokenOf({ headers }: Exchange): string | undefined {
  return /^(?:DPoP|Bearer) (\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
}

/** A field of the form in the body. */
export function field({ body }: Exchange, name: string): string | undefined {
  return new URLSearchParams(body).get(name) ?? undefined;
}

/** The members that are read of the platform's answers. Each may be missing. */
interface Answer {
  readonly access_token?: unknown;
  readonly Data?: { readonly DomesticPaymentId?: unknown };
}

/** The platform's answer, or an empty object if it is no JSON. */
export function parseAnswer({ platform }: Exchange): Answer {
  try {
    return JSON.parse(platform?.body ?? "{}") as Answer;
  } catch {
    return {};
  }
}

/** The claims of the events in the answer to a poll. */
export function eventsIn({ platform }: Exchange): readonly JWTPayload[] {
  const tokens = platform?.body.matchAll(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g) ?? [];
  return [...tokens].map(([token]) => decoded(token)?.claims).filter((claims) => claims !== undefined);
}

function decoded(token: string | null): Decoded | undefined {
  if (token === null) return undefined;
  try {
    return { header: decodeProtectedHeader(token), claims: decodeJwt(token) };
  } catch {
    return undefined;
  }
}
