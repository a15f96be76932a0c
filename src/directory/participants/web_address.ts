/**
 * Validates web addresses in statements. Clients compare them byte for byte, redirect to them, and the platform calls
 * them (payment orders). Therefore one spelling, https, and a public host name are required.
 */
import { z } from "zod";
import { isLoopback } from "../../base/http/outgoing.ts";

export interface AddressRules {
  /** Allows http and https on this computer's loopback addresses; only for the sandbox (Decision A9). */
  readonly loopback: boolean;
}

/** Maximum length of a registered redirect URL (contract DC9). */
const MAX_CHARACTERS = 2048;

/** Schema of such an address. */
export function webAddress(rules: AddressRules): z.ZodType<string> {
  return z.string("must be a web address").superRefine((value, context) => {
    const message = addressFault(value, rules);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  });
}

/** Describes the problem of an address without quoting it; undefined if it is valid. */
export function addressFault(value: string, rules: AddressRules): string | undefined {
  if (value.length > MAX_CHARACTERS) return `must have at most ${MAX_CHARACTERS} characters`;
  if (!/^[\x21-\x7e]+$/.test(value)) return "must be a web address of printable ASCII characters";
  if (value.includes("*")) return "must not have a wildcard";
  if (value.includes("#")) return "must not have a fragment"; // RFC 6749 §3.1.2
  const url = URL.parse(value);
  if (url === null || !/^https?:\/\//i.test(value)) return "must be a web address that begins with https://";
  if (hasUserinfo(value)) return "must not have a user name or password";
  // Only one spelling: no upper-case hosts, default ports, dot segments or backslashes.
  if (url.href !== value && url.href !== `${value}/`) {
    return "must be written in its normal form (WHATWG URL)";
  }
  if (isLoopback(url.hostname)) return rules.loopback ? undefined : "must be https on a public host name";
  if (url.protocol !== "https:") {
    return rules.loopback ? "must be https (http only on loopback)" : "must be https";
  }
  if (!isPublicName(url.hostname)) return "must name a public host, not an IP address or a local name";
  return undefined;
}

function hasUserinfo(value: string): boolean {
  const authority = /^https?:\/\/([^/?]*)/i.exec(value)?.[1] ?? "";
  return authority.includes("@");
}

// WHATWG URL has already converted every spelling of an IPv4 address to four decimal numbers.
function isPublicName(hostname: string): boolean {
  const labels = hostname.replace(/\.$/, "").split(".");
  const last = labels.at(-1) ?? "";
  return labels.length >= 2 && /^[a-z]/.test(last) && last !== "localhost" && last !== "local" &&
    last !== "internal";
}
