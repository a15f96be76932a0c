/**
 * The platform as a process of its own behind a real nginx or HAProxy with the reference configuration of
 * `scripts/proxy`. Participants connect over mutual TLS, customers over TLS. No part is simulated.
 */
import type { ProxyName } from "../../scripts/proxy/settings.ts";
import type { Participant } from "testing/participants.ts";
import { freePort, type ServedPlatform, startPlatform } from "testing/served_platform.ts";
import { openFixture, type Send, sendTo, type ServedFixture, settle } from "testing/served_environment.ts";
import type { FlowEnvironment } from "testing/flows.ts";
import { privatePem } from "testing/directory_environment.ts";
import { API_HOST, AUTH_HOST, type RunningProxy, startProxy } from "./proxy_program.ts";
import { certificatePem, type TlsIdentity } from "testing/web_authority.ts";
import { AUTH_URL } from "testing/environment.ts";

/** A platform behind a real proxy. */
export interface ProxiedEnvironment extends FlowEnvironment, AsyncDisposable {
  readonly fixture: ServedFixture;
  /** The one that runs now. */
  readonly process: ServedPlatform;
  /** Starts the platform again; resolves when the proxy reaches it. */
  restart(): Promise<void>;
  /** The proxy's port on loopback, for both hosts. */
  readonly port: number;
  /** The platform's own port, behind the proxy. */
  readonly backendPort: number;
  /** The proxy's access log. */
  accessLog(): Promise<string>;
  /** Sends to the API host with this TLS identity, or with none. */
  sendAs(identity: TlsIdentity | undefined, request: Request): Promise<Response>;
}

/** Opens one. */
export async function openProxiedEnvironment(name: ProxyName, program: string): Promise<ProxiedEnvironment> {
  const fixture = await openFixture();
  const source = name === "nginx" ? "x-ssl-client-cert" : "client-cert";
  const env: Readonly<Record<string, string>> = { ...fixture.env, CLIENT_CERT_SOURCE: source };
  let process = await startPlatform(fixture.folder, env);
  const port = freePort();
  const clients = new Map<string, Deno.HttpClient>();
  let proxy: RunningProxy | undefined;
  const dispose = async (): Promise<void> => {
    for (const client of clients.values()) client.close();
    await proxy?.stop();
    process.kill("SIGKILL");
    await process.ended;
    await fixture[Symbol.asyncDispose]();
  };
  try {
    await process.ready;
    const running = proxy = await startProxy(name, program, fixture, env, port);
    for (const host of [API_HOST, AUTH_HOST]) fixture.names.ports.set(host, port);
    const sendAs = async (identity: TlsIdentity | undefined, request: Request): Promise<Response> => {
      const key = identity?.certificatePem ?? "";
      const client = clients.get(key) ?? openClient(fixture, identity);
      clients.set(key, client);
      return await sendTo(new URL(request.url).origin, request, client);
    };
    const api: Send = async (request, as) => await sendAs(as && await transportOf(as), request);
    return {
      get now(): number {
        return fixture.now;
      },
      ...await settle(fixture, api),
      fixture,
      get process(): ServedPlatform {
        return process;
      },
      async restart(): Promise<void> {
        process = await startPlatform(fixture.folder, env);
        await process.ready;
        await reached(() => sendAs(undefined, new Request(`${AUTH_URL}/jwks`)));
      },
      port,
      backendPort: Number(env["PORT"]),
      api,
      browser: (request) => sendAs(undefined, request),
      sendAs,
      accessLog: running.accessLog,
      [Symbol.asyncDispose]: dispose,
    };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** A participant's transport certificate and key. */
export async function transportOf({ transport }: Participant): Promise<TlsIdentity> {
  return {
    certificatePem: certificatePem(transport.certificate),
    privateKeyPem: await privatePem(transport.key),
  };
}

async function reached(probe: () => Promise<Response>): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const { status, body } = await probe();
    await body?.cancel();
    if (status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("the proxy does not reach the platform");
}

function openClient(fixture: ServedFixture, identity: TlsIdentity | undefined): Deno.HttpClient {
  const shared = { proxy: { url: fixture.names.url }, caCerts: [fixture.webCa.certificatePem] };
  return identity === undefined
    ? Deno.createHttpClient(shared)
    : Deno.createHttpClient({ ...shared, cert: identity.certificatePem, key: identity.privateKeyPem });
}
