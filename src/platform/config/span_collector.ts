/** The part of the configuration about the collector of OpenTelemetry spans, with OpenTelemetry's own variables. */

export interface SpanCollector {
  /** `https`, or `http` on this computer's loopback addresses. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const LOOPBACK: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Returns the URL of a collector, or undefined if it is none to which spans may go. */
export function readSpanUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "") return undefined;
  const isSafe = url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.has(url.hostname));
  return isSafe ? url.href : undefined;
}

/** Reads `name=value,name=value`, whose values may be percent-encoded, or returns undefined. */
export function readSpanHeaders(text: string): Readonly<Record<string, string>> | undefined {
  try {
    const pairs = text.split(",").map((pair): [string, string] => {
      const [, name = "", value = ""] = /^\s*([^=\s]+)\s*=(.*)$/.exec(pair) ?? [];
      return [name, decodeURIComponent(value.trim())];
    });
    return Object.fromEntries(new Headers(pairs)); // which rejects what is no header
  } catch {
    return undefined;
  }
}
