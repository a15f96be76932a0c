/** How the participant of a request was authenticated, for the histories that the request changes (contract EN6). */
import type { Context } from "hono";
import type { Authentication } from "../../evidence/entry.ts";
import type { CertificateVariables } from "./client_certificate.ts";

/** @param by the client, and its client assertion or the hash of its access token */
export function authenticationOf<E extends { Variables: CertificateVariables }>(
  c: Context<E>,
  baseUrl: string,
  by: Pick<Authentication, "clientId" | "assertion" | "token">,
): Authentication {
  const proof = c.req.header("dpop");
  return {
    ...by,
    certificate: c.get("certificate").spkiThumbprint,
    method: c.req.method,
    target: baseUrl + new URL(c.req.url).pathname,
    ...(proof === undefined ? {} : { proof }),
  };
}
