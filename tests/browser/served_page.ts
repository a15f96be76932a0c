/** Checks of a sandbox page's response, without a browser: small, strict headers, and no external resources. */
import { assert, assertEquals } from "@std/assert";

const MAX_PAGE_BYTES = 30_000;
/** The targets of forms differ per site; the tests that follow a form check them. */
const POLICY: Readonly<Record<string, string>> = {
  "default-src": "'none'",
  "style-src": "'self'",
  "img-src": "'self'",
  "base-uri": "'none'",
  "frame-ancestors": "'none'",
};
/** The only page with a script loads it from its own origin. */
const WITH_SCRIPT = { ...POLICY, "script-src": "'self'", "connect-src": "'self'" };

/** A page as served. */
export interface ServedPage {
  readonly address: string;
  readonly html: string;
  readonly headers: Headers;
}

/** Fetches the page, checks body and headers, and returns the body. */
export async function assertServedSafely(address: string): Promise<string> {
  const answer = await fetch(address, { redirect: "manual" });
  const html = await answer.text();
  assertSafe({ address, html, headers: answer.headers });
  return html;
}

/** Checks body and headers. */
export function assertSafe({ address, html, headers }: ServedPage): void {
  const bytes = new TextEncoder().encode(html).length;
  assert(bytes < MAX_PAGE_BYTES, `${address} has ${bytes} bytes`);
  const policy = html.includes("<script") ? WITH_SCRIPT : POLICY;
  const fonts = html.includes('as="font"') ? { "font-src": "'self'" } : {};
  assertEquals(policyOf(headers), { ...policy, ...fonts }, address);
  assertEquals(headers.get("x-content-type-options"), "nosniff", address);
  assertEquals(headers.get("x-frame-options"), "DENY", address);
  assertEquals(headers.get("cross-origin-opener-policy"), "same-origin", address);
  assertEquals(headers.get("cache-control"), "no-store", address);
  const inline = html.match(/<script(?![^>]* src=)[^>]*>|<style|\sstyle=|\son\w+=|javascript:|http-equiv/gi);
  assertEquals(inline, null, address);
  const loaded = [...html.matchAll(/<(?:link|script|img)\b[^>]*?(?:href|src)="([^"]*)"/g)].map((
    [, from = ""],
  ) => from);
  assertEquals(loaded.filter((from) => !/^\/[^/]/.test(from)), [], `${address} loads from elsewhere`);
  assert(loaded.length >= 2, `${address} has a style sheet and an icon`);
}

function policyOf(headers: Headers): Readonly<Record<string, string>> {
  const directives = (headers.get("content-security-policy") ?? "").split("; ")
    .map((directive): [string, string] => {
      const [name = "", ...sources] = directive.split(" ");
      return [name, sources.join(" ")];
    });
  return Object.fromEntries(directives.filter(([name]) => name !== "form-action"));
}
