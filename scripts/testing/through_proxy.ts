/** Requests as the TLS proxy of a test environment sends them, and the secrets of its parties. */

export const PROXY_SECRET = "a-secret-between-proxy-and-platform-0123456789";
export const ADMIN_TOKEN = "directory-test-token-0123456789abcdef";

/** The request as the TLS proxy passes it on. */
export function throughProxy(
  request: Request,
  as: { readonly transport: { readonly certificate: string } } | undefined,
): Request {
  const proxied = new Request(request);
  proxied.headers.set("x-proxy-secret", PROXY_SECRET);
  if (as !== undefined) proxied.headers.set("client-cert", `:${as.transport.certificate}:`);
  return proxied;
}
