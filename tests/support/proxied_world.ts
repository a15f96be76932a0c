/**
 * The platform as a process of its own behind a real nginx or HAProxy, set up from the reference configuration of
 * `scripts/proxy`. Participants come over mutual TLS, customers over TLS; nothing stands in for anything.
 */
import { render } from "../../scripts/proxy/render.ts";
import { type ProxyName, readOrder } from "../../scripts/proxy/settings.ts";
import type { Participant } from "./participants.ts";
import { freePort, type ServedPlatform, startPlatform } from "./served_platform.ts";
import { openGround, type Send, sendTo, type ServedGround, settle } from "./served_world.ts";
import type { FlowWorld } from "./flows.ts";
import { privatePem } from "./directory_world.ts";
import { certificatePem, serverIdentity, type TlsIdentity } from "./web_authority.ts";
import { AUTH_URL, BASE_URL } from "./world.ts";

export const API_HOST = new URL(BASE_URL).hostname;
export const AUTH_HOST = new URL(AUTH_URL).hostname;

/** A platform behind a real proxy. */
export interface ProxiedWorld extends FlowWorld, AsyncDisposable {
  readonly ground: ServedGround;
  readonly process: ServedPlatform;
  /** The proxy's port on loopback, for both hosts. */
  readonly port: number;
  /** The platform's own port, behind the proxy. */
  readonly backendPort: number;
  /** What the proxy wrote about its requests. */
  accessLog(): Promise<string>;
  /** Sends to the API host with this TLS identity, or with none. */
  sendAs(identity: TlsIdentity | undefined, request: Request): Promise<Response>;
}

const PROGRAM: Readonly<Record<ProxyName, string>> = { nginx: "nginx", haproxy: "haproxy" };

/** The program's path, or undefined where it is not installed. */
export async function findProxy(name: ProxyName): Promise<string | undefined> {
  for (const folder of ["/usr/sbin", "/usr/local/sbin", "/usr/bin", "/usr/local/bin"]) {
    const path = `${folder}/${PROGRAM[name]}`;
    if (await Deno.stat(path).then(() => true, () => false)) return path;
  }
  return undefined;
}

/** Opens one. */
export async function openProxiedWorld(name: ProxyName, program: string): Promise<ProxiedWorld> {
  const ground = await openGround();
  const source = name === "nginx" ? "x-ssl-client-cert" : "client-cert";
  const env: Readonly<Record<string, string>> = { ...ground.env, CLIENT_CERT_SOURCE: source };
  const process = await startPlatform(ground.folder, env);
  const port = freePort();
  const clients = new Map<string, Deno.HttpClient>();
  let proxy: RunningProxy | undefined;
  const dispose = async (): Promise<void> => {
    for (const client of clients.values()) client.close();
    await proxy?.stop();
    process.kill("SIGKILL");
    await process.ended;
    await ground[Symbol.asyncDispose]();
  };
  try {
    await process.ready;
    const running = proxy = await startProxy(name, program, ground, env, port);
    await listening(port);
    for (const host of [API_HOST, AUTH_HOST]) ground.names.ports.set(host, port);
    const sendAs = async (identity: TlsIdentity | undefined, request: Request): Promise<Response> => {
      const key = identity?.certificatePem ?? "";
      const client = clients.get(key) ?? openClient(ground, identity);
      clients.set(key, client);
      return await sendTo(new URL(request.url).origin, request, client);
    };
    const api: Send = async (request, as) => await sendAs(as && await transportOf(as), request);
    return {
      get now(): number {
        return ground.now;
      },
      ...await settle(ground, api),
      ground,
      process,
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

function openClient(ground: ServedGround, identity: TlsIdentity | undefined): Deno.HttpClient {
  const shared = { proxy: { url: ground.names.url }, caCerts: [ground.webCa.certificatePem] };
  return identity === undefined
    ? Deno.createHttpClient(shared)
    : Deno.createHttpClient({ ...shared, cert: identity.certificatePem, key: identity.privateKeyPem });
}

interface RunningProxy {
  accessLog(): Promise<string>;
  stop(): Promise<void>;
}

async function startProxy(
  name: ProxyName,
  program: string,
  ground: ServedGround,
  env: Readonly<Record<string, string>>,
  port: number,
): Promise<RunningProxy> {
  const { folder } = ground;
  for (const [file, host] of [["api", API_HOST], ["auth", AUTH_HOST]] as const) {
    const identity = await serverIdentity([host]);
    await Deno.writeTextFile(`${folder}/${file}.pem`, identity.certificatePem);
    await Deno.writeTextFile(`${folder}/${file}.pem.key`, identity.privateKeyPem, { mode: 0o600 });
  }
  await Deno.writeTextFile(`${folder}/participants-ca.pem`, ground.participantsCa.certificatePem);
  const user = (await new Deno.Command("id", { args: ["-un"] }).output()).stdout;
  const options: Readonly<Record<string, string>> = {
    out: folder,
    listen: `127.0.0.1:${port}`,
    "api-certificate": `${folder}/api.pem`,
    "api-key": `${folder}/api.pem.key`,
    "auth-certificate": `${folder}/auth.pem`,
    "auth-key": `${folder}/auth.pem.key`,
    "participants-ca": `${folder}/participants-ca.pem`,
    user: new TextDecoder().decode(user).trim(),
    "run-dir": folder,
    "log-dir": folder,
    "log-target": "stdout",
  };
  const args = Object.entries(options).map(([option, value]) => `--${option}=${value}`);
  await render(readOrder([name, ...args], env));
  return name === "nginx" ? startNginx(program, folder) : startHaproxy(program, folder);
}

function startNginx(program: string, folder: string): RunningProxy {
  const child = new Deno.Command(program, {
    args: ["-p", folder, "-c", `${folder}/nginx.conf`, "-e", `${folder}/error.log`, "-g", "daemon off;"],
    stdin: "null",
    stdout: "null",
    stderr: "inherit",
  }).spawn();
  return {
    accessLog: () => Deno.readTextFile(`${folder}/platform_access.log`),
    async stop(): Promise<void> {
      child.kill("SIGTERM"); // the master ends its workers
      await child.status;
    },
  };
}

function startHaproxy(program: string, folder: string): RunningProxy {
  const child = new Deno.Command(program, {
    args: ["-db", "-f", `${folder}/haproxy.cfg`],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let log = "";
  const reading = (async () => {
    for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) log += part;
  })();
  const words = new Response(child.stderr).text();
  let running = true;
  void child.status.then(() => running = false);
  return {
    accessLog: () => Promise.resolve(log),
    async stop(): Promise<void> {
      if (running) child.kill("SIGTERM");
      await Promise.all([child.status, reading, words]);
    },
  };
}

async function listening(port: number): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const connection = await Deno.connect({ hostname: "127.0.0.1", port }).catch(() => undefined);
    if (connection !== undefined) return connection.close();
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`nothing listens on ${port}`);
}
