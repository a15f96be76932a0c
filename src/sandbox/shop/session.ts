/**
 * The cookie that ties an order to the browser that created it. It prevents that an attacker plants the return of
 * another authorization in this browser, and that another browser reads its orders. It holds only a random value.
 */

/** The session of a request, or undefined if it has none. */
export function readSession(cookieHeader: string | undefined, shopUrl: string): string | undefined {
  const wanted = `${cookieName(shopUrl)}=`;
  const values = (cookieHeader ?? "").split("; ").filter((pair) => pair.startsWith(wanted));
  const [only] = values.length === 1 ? values : []; // two cookies with one name: an attacker may have planted one
  const value = only?.slice(wanted.length);
  return value !== undefined && /^[A-Za-z0-9_-]{43}$/.test(value) ? value : undefined;
}

/** A new session: 256 random bits. */
export function newSession(): string {
  return crypto.getRandomValues(new Uint8Array(32)).toBase64({ alphabet: "base64url", omitPadding: true });
}

/** The anti-forgery token of a session's checkout forms. It does not reveal the session. */
export async function checkoutToken(session: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`checkout ${session}`));
  return new Uint8Array(digest).toBase64({ alphabet: "base64url", omitPadding: true });
}

/** `Set-Cookie` for a session. Lax: the return from the bank is a top-level GET from another site. */
export function sessionCookie(session: string, shopUrl: string): string {
  const secure = shopUrl.startsWith("https:") ? "; Secure" : "";
  return `${cookieName(shopUrl)}=${session}; Path=/; HttpOnly; SameSite=Lax${secure}`;
}

// Decision F2: some browsers reject the prefix and Secure on plain-http localhost.
function cookieName(shopUrl: string): string {
  return shopUrl.startsWith("https:") ? "__Host-shop_session" : "shop_session";
}
