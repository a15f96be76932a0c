/**
 * The only way to fetch from the directory (Decision A9): https, allow-listed hosts, no redirects, 2 seconds, 256
 * KiB, JSON. A URL in a validly signed statement is still input of another party (RFC 8725 §3.10).
 */
import { readBounded } from "../../../base/http/outgoing.ts";
import { isJsonObject, strictJson } from "../../../base/kernel/json.ts";
import { because, ok, type Reason, type Result } from "../../../base/kernel/result.ts";

export interface GuardedFetchDeps {
  readonly fetch: typeof fetch;
  /** `host[:port]` values. */
  readonly allowedHosts: readonly string[];
  /** Sandbox only: http on loopback. */
  readonly loopbackHttp: boolean;
}

/** Fetches JSON from an allowed URL. Every failure is a verdict with its reason. */
export type FetchJson = (url: string) => Promise<Result<unknown, Reason>>;

/** A fetched document, or the information that the document with this entity tag has not changed. */
export type Fetched = { readonly unchanged: true } | {
  readonly unchanged: false;
  readonly value: unknown;
  /** Undefined if the directory sent none. */
  readonly etag: string | undefined;
};

/** A conditional request (RFC 9110 §13.1.2) for a document of at most `maxBytes`. */
export type FetchIfChanged = (
  url: string,
  condition: { readonly etag: string | undefined; readonly maxBytes: number },
) => Promise<Result<Fetched, Reason>>;

const TIMEOUT_MS = 2000;
const MAX_BYTES = 262_144;

/** Whether this URL may be called. No request is sent to find out. */
export function isAllowedUrl(deps: Omit<GuardedFetchDeps, "fetch">, text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "") return false;
  const loopback = url.hostname === "localhost" || url.hostname === "127.0.0.1" || url.hostname === "[::1]";
  const scheme = url.protocol === "https:" || (url.protocol === "http:" && deps.loopbackHttp && loopback);
  return scheme && deps.allowedHosts.includes(url.host);
}

/** Opens the guarded fetch for documents of at most 256 KiB. */
export function guardedFetch(deps: GuardedFetchDeps): FetchJson {
  const fetchIfChanged = conditionalFetch(deps);
  return async function fetchJson(url) {
    const fetched = await fetchIfChanged(url, { etag: undefined, maxBytes: MAX_BYTES });
    if (!fetched.ok) return fetched;
    return fetched.value.unchanged ? because("status 304") : ok(fetched.value.value);
  };
}

/** Opens the guarded fetch for a document that is fetched repeatedly. */
export function conditionalFetch(deps: GuardedFetchDeps): FetchIfChanged {
  return async function fetchIfChanged(url, { etag, maxBytes }) {
    if (!isAllowedUrl(deps, url)) return because("url not allowed");
    let response: Response;
    let text: string | undefined;
    try {
      response = await deps.fetch(url, {
        redirect: "manual",
        signal: AbortSignal.timeout(TIMEOUT_MS),
        headers: { accept: "application/json", ...(etag === undefined ? {} : { "if-none-match": etag }) },
      });
      if (response.status === 200) text = await readBounded(response, maxBytes);
      else await response.body?.cancel();
    } catch (error) { // only the HTTP exchange is inside: later errors are bugs of the platform
      return because(error instanceof Error ? error.name : "failed");
    }
    if (response.status === 200) return jsonOf(text, response.headers);
    return response.status === 304 && etag !== undefined
      ? ok({ unchanged: true })
      : because(`status ${response.status}`);
  };
}

function jsonOf(text: string | undefined, headers: Headers): Result<Fetched, Reason> {
  if (text === undefined) return because("too large, or not UTF-8");
  const parsed = strictJson(text);
  if (!parsed.ok) return because(parsed.fault);
  return ok({ unchanged: false, value: parsed.value, etag: headers.get("etag") ?? undefined });
}

/** Returns the keys of a JWK set. */
export function keysOf(document: unknown): Result<readonly unknown[], Reason> {
  const keys = isJsonObject(document) ? document["keys"] : undefined;
  return Array.isArray(keys) ? ok(keys) : because("no key set");
}

/** Fetches the newest statement of an organisation of this directory. */
export async function fetchStatement(
  fetchJson: FetchJson,
  directory: string,
  orgId: string,
): Promise<Result<string, Reason>> {
  const document = await fetchJson(statementUrl(directory, orgId));
  if (!document.ok) return document;
  const statement = isJsonObject(document.value) ? document.value["software_statement"] : undefined;
  return typeof statement === "string" ? ok(statement) : because("no statement");
}

/** Returns where the directory publishes the newest statement of an organisation. */
export function statementUrl(directory: string, orgId: string): string {
  return `${directory}/participants/${orgId}/statement`;
}
