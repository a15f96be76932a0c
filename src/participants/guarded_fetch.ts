/**
 * The one way the platform fetches from the directory (Decision A9): https, allow-listed hosts, no redirects,
 * 2 seconds, 256 KiB, JSON. A URL inside a validly signed statement is still somebody's input (RFC 8725 3.10).
 */
import { readBounded } from "../http/outgoing.ts";
import { strictJson } from "../kernel/strict_json.ts";
import { no, type Verdict, yes } from "../kernel/verdict.ts";

/** What fetching needs. */
export interface GuardedFetchDeps {
  readonly fetch: typeof fetch;
  /** `host[:port]` values. */
  readonly allowedHosts: readonly string[];
  /** Sandbox only: http on loopback. */
  readonly loopbackHttp: boolean;
}

/** Fetches JSON from an allowed URL; every failure is a "no" with its reason. */
export type FetchJson = (url: string) => Promise<Verdict<unknown>>;

const TIMEOUT_MS = 2000;
const MAX_BYTES = 262_144;

/** Whether this URL may be asked at all; nothing is sent to find out. */
export function isAllowedUrl(deps: Omit<GuardedFetchDeps, "fetch">, text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "") return false;
  const loopback = url.hostname === "localhost" || url.hostname === "127.0.0.1" || url.hostname === "[::1]";
  const scheme = url.protocol === "https:" || (url.protocol === "http:" && deps.loopbackHttp && loopback);
  return scheme && deps.allowedHosts.includes(url.host);
}

/** Opens the guarded fetch. */
export function guardedFetch(deps: GuardedFetchDeps): FetchJson {
  return async function fetchJson(url) {
    if (!isAllowedUrl(deps, url)) return no("url not allowed");
    try {
      const response = await deps.fetch(url, {
        redirect: "manual",
        signal: AbortSignal.timeout(TIMEOUT_MS),
        headers: { accept: "application/json" },
      });
      if (response.status !== 200) {
        await response.body?.cancel();
        return no(`status ${response.status}`);
      }
      const text = await readBounded(response, MAX_BYTES);
      return text === undefined ? no("too large, or not UTF-8") : strictJson(text);
    } catch (error) {
      return no(error instanceof Error ? error.name : "failed");
    }
  };
}

/** The members of a JWK set, or a "no". */
export function keysOf(document: unknown): Verdict<readonly unknown[]> {
  if (typeof document !== "object" || document === null || !("keys" in document)) return no("no key set");
  return Array.isArray(document.keys) ? yes(document.keys) : no("no key set");
}
