/**
 * An open front door over a real authority, with two of its clients and an external party, for tests of the door
 * itself.
 */
import "reflect-metadata";
import * as x509 from "@peculiar/x509";
import {
  type Authority,
  issueCertificate,
  openAuthority,
  serverIdentity,
} from "../../src/sandbox/ecosystem/authority.ts";
import { makeKeyPair, privateKeyPem } from "../../src/sandbox/ecosystem/key_files.ts";
import { sandboxFiles } from "../../src/sandbox/ecosystem/sandbox_files.ts";
import { type FrontDoor, openFrontDoor } from "../../src/sandbox/ecosystem/tls_front_door.ts";
import { openTemporaryFolder } from "testing/temporary_folder.ts";

/** A client's certificate and key, PEM, and the expected `Client-Cert`. */
export interface TestClient {
  readonly cert: string;
  readonly key: string;
  readonly clientCertHeader: string;
}

/** The clients of a front door. */
export interface FrontDoorPeople {
  readonly ca: string;
  readonly server: { readonly certificate: string; readonly key: string };
  readonly alpha: TestClient;
  readonly beta: TestClient;
  /** Certified by another authority of the same name. */
  readonly outsider: TestClient;
}

/** The default proxy secret. */
export const PROXY_SECRET = "front-door-test-secret-0123456789ab";

let people: Promise<FrontDoorPeople> | undefined;

/** Keys are expensive to make, so all tests of a file share them. */
export function frontDoorPeople(): Promise<FrontDoorPeople> {
  return people ??= makePeople();
}

/** Opens a door on a free port before `handle`, runs the test, closes it. */
export async function withFrontDoor(
  handle: (request: Request) => Response | Promise<Response>,
  test: (
    env: FrontDoorPeople & { readonly url: string; readonly port: number; readonly failures: unknown[] },
  ) => Promise<void>,
): Promise<void> {
  const around = await frontDoorPeople();
  const failures: unknown[] = [];
  const door: FrontDoor = await openFrontDoor({
    hostname: "127.0.0.1",
    port: 0,
    baseUrl: "https://api.example",
    proxySecret: PROXY_SECRET,
    tls: { ...around.server, clientAuthority: around.ca },
    handle,
    onFailure: (error) => failures.push(error),
  });
  try {
    await test({ ...around, url: `https://localhost:${door.port}`, port: door.port, failures });
  } finally {
    await door.close();
  }
}

/** One request as `client`, on a connection of its own. */
export async function fetchAs(
  env: { readonly ca: string },
  client: Pick<TestClient, "cert" | "key"> | undefined,
  url: string,
  init: RequestInit = {},
): Promise<{ readonly status: number; readonly headers: Headers; readonly text: string }> {
  const identity = client === undefined ? {} : { cert: client.cert, key: client.key };
  using http = Deno.createHttpClient({ caCerts: [env.ca], ...identity });
  const response = await fetch(url, { ...init, client: http });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

async function makePeople(): Promise<FrontDoorPeople> {
  const folder = await Deno.makeTempDir();
  await using otherFolder = await openTemporaryFolder();
  try {
    const now = Date.now();
    const [files, otherFiles] = [sandboxFiles(folder), sandboxFiles(otherFolder.path)];
    const [authority, other, server, alpha, beta] = await Promise.all([
      openAuthority(files, now),
      openAuthority(otherFiles, now),
      makeKeyPair(),
      makeKeyPair(),
      makeKeyPair(),
    ]);
    const identity = await serverIdentity(files, server, authority, now);
    return {
      ca: authority.certificatePem,
      server: { certificate: identity.certificatePem, key: identity.privateKeyPem },
      alpha: await makeClient(authority, alpha, "alpha", now),
      beta: await makeClient(authority, beta, "beta", now),
      outsider: await makeClient(other, alpha, "alpha", now),
    };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function makeClient(
  authority: Authority,
  keys: CryptoKeyPair,
  name: string,
  now: number,
): Promise<TestClient> {
  const certificate = await issueCertificate(authority, {
    commonName: name,
    publicKey: keys.publicKey,
    validDays: 1,
    extensions: [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth])],
  }, now);
  return {
    cert: certificate.toString("pem"),
    key: await privateKeyPem(keys.privateKey),
    clientCertHeader: `:${new Uint8Array(certificate.rawData).toBase64()}:`,
  };
}
