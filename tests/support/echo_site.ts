/**
 * A real proxy before a backend that only records the requests that reach it, with the exact spelling of their headers.
 * Two participants have certificates of the authority that the proxy trusts.
 */
import type { ProxyName } from "../../scripts/operators/proxy/settings.ts";
import { makeAuthority } from "testing/directory_environment.ts";
import { testKey } from "testing/keys.ts";
import { API_HOST, AUTH_HOST, proxyTest, type ProxyUnderTest, startProxy } from "./proxy_program.ts";
import { exchangeRaw, type RawAnswer } from "./raw_tls.ts";
import { freePort } from "../../scripts/command_line/free_ports.ts";
import { issue, type TlsIdentity, webAuthority } from "testing/web_authority.ts";
import { AUTH_URL, BASE_URL, PROXY_SECRET } from "testing/environment.ts";

/** A request as the backend received it. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The proxy's end of the connection: equal for requests on one connection. */
  readonly connection: number;
}

/** A proxy and its recording backend. */
export interface EchoSite extends AsyncDisposable {
  readonly received: Received[];
  /** The paths of requests whose header has reached the backend, even if their body never does. */
  readonly begun: string[];
  /** Lets the backend answer requests for `/held`. */
  release(): void;
  readonly alice: TlsIdentity;
  readonly bob: TlsIdentity;
  readonly port: number;
  readonly participantsCa: Pick<TlsIdentity, "certificatePem">;
  /** The headers that the platform's guard must see if `who` calls. */
  certificateHeader(who: TlsIdentity): Readonly<Record<string, string>>;
  /** The proxy's access log. */
  log(): Promise<string>;
  /** Sends bytes to the API host with a TLS identity, or to the browser host without one. */
  send(bytes: string, who: TlsIdentity | undefined): Promise<RawAnswer>;
}

/** @param beside the addresses of other backends, comma separated, which the proxy tries first */
export async function openEchoSite(name: ProxyName, program: string, beside?: string): Promise<EchoSite> {
  const folder = await Deno.makeTempDir({ prefix: "echo-" });
  const participantsCa = await makeAuthority(new Date(Date.UTC(2026, 0, 1)), new Date(Date.UTC(2046, 0, 1)));
  const webCa = await webAuthority();
  const received: Received[] = [];
  const begun: string[] = [];
  const released = Promise.withResolvers<void>();
  const backend = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    (request, { remoteAddr }) => {
      const { pathname } = new URL(request.url);
      begun.push(pathname);
      const answer = remember(received, request, remoteAddr.port);
      return pathname === "/held" ? released.promise.then(() => answer) : answer;
    },
  );
  const own = `127.0.0.1:${backend.addr.port}`;
  const env = {
    PLATFORM_BASE_URL: BASE_URL,
    PLATFORM_AUTH_URL: AUTH_URL,
    PLATFORM_PROXY_SECRET: PROXY_SECRET,
    PLATFORM_BACKENDS: beside === undefined ? own : `${beside},${own}`,
  };
  const port = freePort();
  const proxy = await startProxy(name, program, { folder, participantsCa }, env, port);
  const [alice, bob] = await Promise.all(
    [0, 1].map(async (number) =>
      issue(participantsCa, await testKey(15), await testKey(number), { subject: `CN=Participant ${number}` })
    ),
  ) as [TlsIdentity, TlsIdentity];
  return {
    received,
    begun,
    release: released.resolve,
    alice,
    bob,
    port,
    participantsCa,
    log: proxy.accessLog,
    certificateHeader: ({ certificatePem }) => certificateHeader(name, certificatePem),
    send: (bytes, identity) => {
      const servername = identity === undefined ? AUTH_HOST : API_HOST;
      return exchangeRaw({ port, servername, ca: webCa.certificatePem, identity }, bytes);
    },
    async [Symbol.asyncDispose](): Promise<void> {
      released.resolve();
      await proxy.stop();
      await backend.shutdown();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** What a test of a proxy gets. */
interface Given {
  readonly site: EchoSite;
  readonly t: Deno.TestContext;
}

/** Returns what registers tests that each get a site of their own with this proxy. */
export function testSite(proxy: ProxyUnderTest): (what: string, fn: (given: Given) => Promise<void>) => void {
  return (what, fn) =>
    proxyTest(proxy, what, async (program, t) => {
      await using site = await openEchoSite(proxy.name, program);
      await fn({ site, t });
    });
}

async function remember(received: Received[], request: Request, connection: number): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const seen: Received = {
    method: request.method,
    path: pathname + search,
    headers: Object.fromEntries(request.headers),
    body: await request.text(),
    connection,
  };
  const probe = seen.path === "/health/serving" && !seen.headers["host"]?.includes("."); // HAProxy's own probe names no host
  if (!probe) received.push(seen);
  return Response.json({ path: seen.path });
}

function certificateHeader(name: ProxyName, pem: string): Readonly<Record<string, string>> {
  if (name === "nginx") return { "x-ssl-client-cert": encodeURIComponent(`${pem.trimEnd()}\n`) };
  const der = pem.replaceAll(/-----[A-Z ]+-----|\s/g, "");
  return { "client-cert": `:${der}:` };
}
