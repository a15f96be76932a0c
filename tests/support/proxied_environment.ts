/**
 * The platform as a process of its own behind a real nginx or HAProxy with the reference configuration of
 * `scripts/operators/proxy`. Participants connect over mutual TLS, customers over TLS. No part is simulated.
 */
import type { ProxyName } from "../../scripts/operators/proxy/settings.ts";
import type { Participant } from "testing/participants.ts";
import { freePort } from "../../scripts/command_line/free_ports.ts";
import { type ServedPlatform, serving, startPlatform } from "testing/served_platform.ts";
import { openFixture, type Send, sendTo, type ServedFixture, settle } from "testing/served_environment.ts";
import type { FlowEnvironment } from "testing/flows.ts";
import { privatePem } from "testing/directory_environment.ts";
import { API_HOST, AUTH_HOST, type RunningProxy, startProxy } from "./proxy_program.ts";
import { certificatePem, type TlsIdentity } from "testing/web_authority.ts";
import { AUTH_URL } from "testing/environment.ts";

/** A platform behind a real proxy. */
export interface ProxiedEnvironment extends FlowEnvironment, AsyncDisposable {
  readonly fixture: ServedFixture;
  /** The first one that runs now. */
  readonly process: ServedPlatform;
  /** All that were started, in this order. */
  readonly started: readonly ServedPlatform[];
  /** Starts the process of this index again; resolves when it answers a request that the proxy has sent. */
  restart(index?: number): Promise<void>;
  /** The proxy's port on loopback, for both hosts. */
  readonly port: number;
  /** The first process's own port, behind the proxy. */
  readonly backendPort: number;
  /** The ports of all processes. */
  readonly backendPorts: readonly number[];
  /** The proxy's access log. */
  accessLog(): Promise<string>;
  /** Sends to the API host with this TLS identity, or with none. */
  sendAs(identity: TlsIdentity | undefined, request: Request): Promise<Response>;
}

/** How many processes, and further variables of theirs. Several need a database that they can share, or cells. */
export interface Processes {
  readonly count: number;
  readonly variables: Readonly<Record<string, string>>;
  /** For each process the variables of its cell. The first one is the home cell. */
  readonly cells?: readonly Readonly<
    Record<"PLATFORM_CELL" | "PLATFORM_STORE_URL" | "PLATFORM_DATA_KEYS_STORE", string>
  >[];
  /** For each process the part that it serves. */
  readonly parts?: readonly ("api" | "browser")[];
  /** For each process the port of its operators' listener. */
  readonly operationsPorts?: readonly number[];
}

/** Opens one. */
export async function openProxiedEnvironment(
  name: ProxyName,
  program: string,
  { count, variables, cells = [], parts = [], operationsPorts = [] }: Processes = { count: 1, variables: {} },
): Promise<ProxiedEnvironment> {
  const fixture = await openFixture(
    variables["PLATFORM_ENVIRONMENT"] === "Sandbox" ? "Sandbox" : "Production",
  );
  const source = name === "nginx" ? "x-ssl-client-cert" : "client-cert";
  const backends = Array.from({ length: count }, () => freePort(20_000));
  const env: Readonly<Record<string, string>> = {
    ...fixture.env,
    PLATFORM_CLIENT_CERT_SOURCE: source,
    PLATFORM_BACKENDS: backends.map((backend, index) => {
      const { PLATFORM_CELL: cell = "home" } = cells[index] ?? {};
      const part = parts[index] === undefined ? "" : `${parts[index]}@`;
      return cell === "home" ? `,${part}127.0.0.1:${backend}` : `;${cell}=127.0.0.1:${backend}`;
    }).join("").slice(1),
    ...variables,
  };
  const started: ServedPlatform[] = [];
  const start = async (index: number): Promise<ServedPlatform> => {
    const operations = operationsPorts[index];
    const own = {
      ...env,
      ...cells[index],
      PORT: String(backends[index]),
      ...(operations === undefined ? {} : { PLATFORM_OPERATIONS_PORT: String(operations) }),
    };
    const process = await startPlatform(fixture.folder, own, {}, serving(parts[index]));
    started.push(process);
    await process.ready;
    return process;
  };
  const port = freePort();
  const clients = openClients(fixture);
  let proxy: RunningProxy | undefined;
  const dispose = async (): Promise<void> => {
    clients.close();
    await proxy?.stop();
    for (const process of started) process.kill("SIGKILL");
    await Promise.all(started.map(({ ended }) => ended));
    await fixture[Symbol.asyncDispose]();
  };
  try {
    const running = [await start(0)];
    const { accessLog } = proxy = await startProxy(name, program, fixture, env, port);
    for (const host of [API_HOST, AUTH_HOST]) fixture.names.ports.set(host, port);
    const { sendAs } = clients;
    const api: Send = async (request, as) => await sendAs(as && await transportOf(as), request);
    const people = await settle(fixture, api);
    // A process knows participants of its last copy of the directory's list, or of the copy in the database.
    for (let index = 1; index < count; index++) running.push(await start(index)); // in the order of `started`
    return {
      get now(): number {
        return fixture.now;
      },
      ...people,
      fixture,
      get process(): ServedPlatform {
        return running[0] as ServedPlatform;
      },
      started,
      async restart(index = 0): Promise<void> {
        const process = running[index] = await start(index);
        await reached(process, () => sendAs(undefined, new Request(`${AUTH_URL}/jwks`)));
      },
      port,
      backendPort: Number(backends[0]),
      backendPorts: backends,
      api,
      browser: (request) => sendAs(undefined, request),
      sendAs,
      accessLog,
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

async function reached(process: ServedPlatform, probe: () => Promise<Response>): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    await (await probe()).body?.cancel();
    if (process.lines.some(({ path }) => path === "/jwks")) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("the proxy does not reach the platform");
}

interface Clients {
  readonly sendAs: ProxiedEnvironment["sendAs"];
  close(): void;
}

/** One client for each identity. None keeps connections: `fetch` repeats a request if a kept connection ends. */
function openClients(fixture: ServedFixture): Clients {
  const clients = new Map<string, Deno.HttpClient>();
  return {
    async sendAs(identity, request) {
      const key = identity?.certificatePem ?? "";
      const client = clients.get(key) ?? openClient(fixture, identity);
      clients.set(key, client);
      return await sendTo(new URL(request.url).origin, request, client);
    },
    close: () => clients.forEach((client) => client.close()),
  };
}

function openClient(fixture: ServedFixture, identity: TlsIdentity | undefined): Deno.HttpClient {
  const shared = {
    proxy: { url: fixture.names.url },
    caCerts: [fixture.webCa.certificatePem],
    poolMaxIdlePerHost: 0,
  };
  return identity === undefined
    ? Deno.createHttpClient(shared)
    : Deno.createHttpClient({ ...shared, cert: identity.certificatePem, key: identity.privateKeyPem });
}
