/** The client that a rate limit counts a request for: an IPv4 address, or the /64 network of an IPv6 address. */

const IPV4 = /^\d{1,3}(\.\d{1,3}){3}$/;
const IPV6 = /^[0-9a-f:]{2,39}$/i;
/** The last 32 bits of an IPv4-mapped address (RFC 4291 §2.5.5.2). */
const MAPPED = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i;

/**
 * The network of a client.
 *
 * @param told `X-Real-IP` as set by the proxy; only the proxy can reach the listener
 * @param connected the peer address of the connection
 */
export function clientNetwork(told: string | undefined, connected: string): string {
  return networkOf(told?.trim() ?? "") ?? networkOf(connected) ?? connected;
}

function networkOf(address: string): string | undefined {
  const [, mapped] = MAPPED.exec(address) ?? [];
  if (mapped !== undefined) return mapped;
  if (IPV4.test(address)) return address;
  if (!IPV6.test(address) || !address.includes(":")) return undefined;
  const [head = "", tail] = address.toLowerCase().split("::");
  const before = head.split(":");
  const after = tail === undefined ? [] : tail.split(":");
  const missing = Array<string>(Math.max(0, 8 - before.length - after.length)).fill("0");
  const groups = tail === undefined ? before : [...before, ...missing, ...after];
  return groups.slice(0, 4).map((group) => Number.parseInt(group || "0", 16).toString(16)).join(":");
}
