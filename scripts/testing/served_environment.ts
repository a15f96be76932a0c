/**
 * An ecosystem around the platform as a process of its own: the real directory behind real TLS, participants who
 * onboarded and registered, the computer's clock. Tests reach the platform as its proxy does, or through a real
 * proxy (`proxied_environment.ts`). Host names are those of `environment.ts`; `connect_proxy.ts` sends them to loopback.
 */
import { soleCredential } from "../../src/base/http/credentials.ts";
import { composeDirectory, type DirectoryApp } from "../../src/directory/process/compose_directory.ts";
import type { Store } from "../../src/base/store/store.ts";
import { openTestStore } from "./test_store.ts";
import { type ConnectProxy, openConnectProxy } from "./connect_proxy.ts";
import { makeAuthority, testStatementKeys } from "./directory_environment.ts";
import type { FlowEnvironment } from "./flows.ts";
import { signJwt } from "./jwts.ts";
import { onboardOnly, type Participant, registrationClaims } from "./participants.ts";
import { platformKeySet } from "./platform_keys.ts";
import { TEST_WRAPPING_KEYS } from "./sealed_for_test.ts";
import { freePort } from "../command_line/free_ports.ts";
import { type ServedPlatform, type Started, startPlatform } from "./served_platform.ts";
import { serverIdentity, type TlsIdentity, webAuthority } from "./web_authority.ts";
import {
  ADMIN_TOKEN,
  AUTH_URL,
  BASE_URL,
  DIRECTORY_URL,
  PROXY_SECRET,
  REGISTRATION_AUDIENCE,
  SHOP_REDIRECTS,
  throughProxy,
} from "./environment.ts";

/** Everything around the platform. */
export interface ServedFixture extends AsyncDisposable {
  readonly now: number;
  readonly softwareEnvironment: SoftwareEnvironment;
  /** A folder of its own: keys, store, certificates. Gone at the end. */
  readonly folder: string;
  readonly names: ConnectProxy;
  readonly directory: DirectoryApp;
  /** Certifies participants. */
  readonly participantsCa: TlsIdentity;
  /** Certifies web servers. */
  readonly webCa: TlsIdentity;
  /** Variables with which the platform starts. */
  readonly env: Readonly<Record<string, string>>;
}

/** The platform's environment, and the `software_environment` of the directory's statements. */
type SoftwareEnvironment = "Production" | "Sandbox";

/** Sends a request to a host of the platform. */
export type Send = (request: Request, as?: Participant) => Promise<Response>;

/** Opens the fixture: no platform runs yet. */
export async function openFixture(environment: SoftwareEnvironment = "Production"): Promise<ServedFixture> {
  const folder = await Deno.makeTempDir({ prefix: "served-" });
  const [participantsCa, webCa] = await Promise.all([
    makeAuthority(new Date(Date.UTC(2026, 0, 1)), new Date(Date.UTC(2046, 0, 1))),
    webAuthority(),
  ]);
  const names = openConnectProxy();
  const { app, server, store } = await openDirectory(participantsCa, environment);
  names.ports.set(new URL(DIRECTORY_URL).hostname, server.addr.port);
  await Deno.writeTextFile(`${folder}/web-ca.pem`, webCa.certificatePem);
  await Deno.writeTextFile(`${folder}/platform-keys.json`, await platformKeySet(), { mode: 0o600 });
  await Deno.writeTextFile(`${folder}/wrapping.keys`, TEST_WRAPPING_KEYS, { mode: 0o600 });
  return {
    get now(): number {
      return Date.now();
    },
    softwareEnvironment: environment,
    folder,
    names,
    directory: app,
    participantsCa,
    webCa,
    env: { ...variables(folder, names.url), PLATFORM_ENVIRONMENT: environment },
    async [Symbol.asyncDispose](): Promise<void> {
      await names[Symbol.asyncDispose]();
      await server.shutdown();
      await store.close();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

function variables(folder: string, namesUrl: string): Record<string, string> {
  return {
    PLATFORM_BASE_URL: BASE_URL,
    PLATFORM_AUTH_URL: AUTH_URL,
    PORT: String(freePort()),
    PLATFORM_STORE_URL: `${folder}/platform.kv`,
    PLATFORM_KEYS: `${folder}/platform-keys.json`,
    PLATFORM_WRAPPING_KEYS: `${folder}/wrapping.keys`,
    PLATFORM_DIRECTORY_ISSUER: DIRECTORY_URL,
    PLATFORM_DIRECTORY_JWKS_URI: `${DIRECTORY_URL}/jwks`,
    PLATFORM_DIRECTORY_HOSTS: new URL(DIRECTORY_URL).host,
    PLATFORM_REGISTRATION_AUDIENCE: REGISTRATION_AUDIENCE,
    PLATFORM_PROXY_SECRET: PROXY_SECRET,
    HTTPS_PROXY: namesUrl,
    DENO_CERT: `${folder}/web-ca.pem`,
  };
}

async function openDirectory(
  ca: TlsIdentity,
  environment: SoftwareEnvironment,
): Promise<{ app: DirectoryApp; server: Deno.HttpServer<Deno.NetAddr>; store: Store }> {
  const store = await openTestStore();
  const app = await composeDirectory({
    issuer: DIRECTORY_URL,
    administrators: soleCredential("ana", ADMIN_TOKEN),
    ca,
    statementKeys: await testStatementKeys(),
    store,
    clock: () => Date.now(),
    environment,
    loopbackRedirects: false,
  });
  const { certificatePem: cert, privateKeyPem: key } = await serverIdentity([
    new URL(DIRECTORY_URL).hostname,
  ]);
  const listen = { hostname: "127.0.0.1", port: 0, cert, key, onListen: () => {} };
  return { app, store, server: Deno.serve(listen, (request) => app.fetch(request)) };
}

/** A busy computer may answer for the directory too late. */
const REGISTRATION_TRIES = 5;

/** Onboards and registers a TPP and both banks through `api`. */
export async function settle(
  fixture: ServedFixture,
  api: Send,
  { paymentOrdersUri }: { readonly paymentOrdersUri?: string } = {},
): Promise<Omit<FlowEnvironment, "now" | "api" | "browser">> {
  const join = async (who: Parameters<typeof onboardOnly>[1]): Promise<Participant> => {
    const participant = await onboardOnly(fixture, who);
    for (let tries = 1;; tries++) {
      const body = await signJwt(participant.signing, registrationClaims(fixture, participant));
      const headers = { "content-type": "application/jose" };
      const request = new Request(`${BASE_URL}/register/v1`, { method: "POST", headers, body });
      const answer = await api(request, participant);
      const text = await answer.text();
      const wasStored = tries > 1 && answer.status === 400 && text.includes("is registered already");
      if (answer.status === 201 || wasStored) return participant; // 503 leaves open whether it was
      if (answer.status !== 503 || tries === REGISTRATION_TRIES) {
        throw new Error(`registration of ${who.name}: ${answer.status} ${text}`);
      }
      const seconds = Number(answer.headers.get("retry-after") ?? 1);
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    }
  };
  const bank = { role: "ASPSP", redirectUris: ["https://bank.example/sca"] } as const;
  return {
    tpp: await join({ name: "Example Shop Ltd", role: "PISP", keys: [0, 1], redirectUris: SHOP_REDIRECTS }),
    bankA: await join({
      ...bank,
      name: "Bank A plc",
      orgId: "BANKA",
      keys: [4, 5, 6],
      paymentOrdersUri,
    }),
    bankB: await join({
      ...bank,
      name: "Bank B plc",
      orgId: "BANKB",
      keys: [7, 8],
      consentManagedByBank: true,
    }),
  };
}

/** Sends as the proxy does: plain HTTP to the platform's own port, with the secret and the certificate in headers. */
export function asTheProxy(port: string): Send {
  return async (request, as) => await sendTo(`http://127.0.0.1:${port}`, throughProxy(request, as));
}

/** The request with its body whole, to another origin; redirects are the caller's to see. */
export async function sendTo(origin: string, request: Request, client?: Deno.HttpClient): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const body = request.body === null ? {} : { body: await request.arrayBuffer() };
  const through = client === undefined ? {} : { client };
  const { method, headers } = request;
  return await fetch(`${origin}${pathname}${search}`, {
    method,
    headers,
    redirect: "manual",
    ...body,
    ...through,
  });
}

/** A platform that runs as a process and is reached as its proxy reaches it. */
export interface ServedEnvironment extends FlowEnvironment, AsyncDisposable {
  readonly fixture: ServedFixture;
  readonly process: ServedPlatform;
}

/** Opens one; `prepare` may work on the store's file before the platform opens it, `started` as in `startPlatform`. */
export async function openServedEnvironment(
  changes: Readonly<Record<string, string>> = {},
  prepare: (storePath: string) => Promise<void> = () => Promise.resolve(),
  started?: Started,
): Promise<ServedEnvironment> {
  const fixture = await openFixture();
  await prepare(fixture.env["PLATFORM_STORE_URL"] ?? "");
  const env = { ...fixture.env, ...changes };
  const process = await startPlatform(fixture.folder, env, {}, started);
  const dispose = async (): Promise<void> => {
    process.kill("SIGKILL");
    await process.ended;
    await fixture[Symbol.asyncDispose]();
  };
  try {
    await process.ready;
    const send = asTheProxy(env["PORT"] ?? "");
    const people = await settle(fixture, send);
    return {
      get now(): number {
        return fixture.now;
      },
      ...people,
      fixture,
      process,
      api: send,
      browser: (request) => send(request),
      [Symbol.asyncDispose]: dispose,
    };
  } catch (error) {
    await dispose();
    throw error;
  }
}
