/**
 * The platform configured for each kind of proxy that forwards client certificates, over one environment's store and
 * participants.
 */
import { composePlatform, type Platform } from "../../src/platform/process/compose.ts";
import { openKeyRing } from "../../src/base/jose/key_ring.ts";
import { PROXY_CERTIFICATE_SOURCES, type ProxyCertificateSource } from "../../src/base/profile.ts";
import { platformKeySet } from "testing/platform_keys.ts";
import { certificatePem } from "testing/web_authority.ts";
import { type Environment, PROXY_SECRET } from "testing/environment.ts";

export const SOURCES = PROXY_CERTIFICATE_SOURCES;

/** The platform of an environment, configured for another proxy. */
export async function platformBehind(env: Environment, source: ProxyCertificateSource): Promise<Platform> {
  return await composePlatform({
    config: { ...env.config, clientCertSource: source },
    store: env.store,
    clock: () => env.now,
    monotonic: () => env.now,
    fetch: ((input, init) => env.network(new Request(input, init))) as typeof fetch,
    log: (line) => void env.logged.push(line),
    keys: await openKeyRing(await platformKeySet()),
  });
}

/** The header in which a proxy of this kind forwards a certificate (DER, base64). */
export function headerOf(source: ProxyCertificateSource, certificate: string): string {
  switch (source) {
    case "client-cert":
      return `:${certificate}:`;
    case "x-ssl-client-cert":
      return encodeURIComponent(certificatePem(certificate));
    case "x-forwarded-client-cert":
      return `Hash=${"0".repeat(64)};Cert="${encodeURIComponent(certificatePem(certificate))}"`;
  }
}

/** An environment that calls through a proxy that sends exactly these headers; `null` omits one. */
export function behind(
  env: Environment,
  platform: Platform,
  headers: Readonly<Record<string, string | null>>,
): Environment {
  const api = (request: Request): Promise<Response> => {
    const proxied = new Request(request);
    const sent = { "x-proxy-secret": PROXY_SECRET, ...headers };
    for (const [name, value] of Object.entries(sent)) if (value !== null) proxied.headers.set(name, value);
    return platform.api.fetch(proxied);
  };
  return Object.assign(Object.create(env), { api });
}
