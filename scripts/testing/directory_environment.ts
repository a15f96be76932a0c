/**
 * A participants directory over an in-memory store, with a clock that tests move, keys of the shared pool (15 and 14
 * are the directory's own) and signing requests.
 */
import "reflect-metadata";
import {
  BasicConstraintsExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  Pkcs10CertificateRequestGenerator,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from "@peculiar/x509";
import { soleCredential } from "../../src/base/http/credentials.ts";
import { composeDirectory, type DirectoryParts } from "../../src/directory/process/compose_directory.ts";
import {
  openStatementKeys,
  type RenewableStatementKeys,
  statementJwk,
} from "../../src/directory/statements/statement_keys.ts";
import type { DirectoryBody, DirectoryError } from "./directory_answers.ts";
import type { JsonObject } from "./jwts.ts";
import { openTestStore } from "./test_store.ts";
import type { Store } from "../../src/base/store/store.ts";
import { type TestKey, testKey } from "./keys.ts";

export const ISSUER = "https://directory.example";
export const ADMIN_TOKEN = "directory-test-token-0123456789abcdef";
/** 2026-02-01T10:00:00Z, the start time of every environment. */
export const START = Date.UTC(2026, 1, 1, 10);

/** A response; its body is decoded if it is JSON. An error and a proposal have their members instead. */
export interface Answer<T = unknown> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T & Partial<DirectoryError> & { readonly proposal_id?: string; readonly state?: string };
}

/** A running directory. `now` may be moved. */
export interface DirectoryEnvironment extends AsyncDisposable {
  now: number;
  readonly store: Store;
  readonly fetch: (request: Request) => Promise<Response>;
  /** The public listener only, with this client address. */
  readonly publicFetch: (request: Request, address?: string) => Promise<Response>;
  readonly adminFetch: (request: Request) => Promise<Response>;
  /** Sends a request as an administrator; a body that is not a string is sent as JSON. */
  admin<const M extends string, const P extends string>(
    method: M,
    path: P,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer<DirectoryBody<`${M} ${P}`>>>;
  /** Sends the mails that are due. */
  readonly remind: () => Promise<void>;
  /** Sends a request without credentials. */
  get<const P extends string>(
    path: P,
    headers?: Record<string, string>,
  ): Promise<Answer<DirectoryBody<`GET ${P}`>>>;
}

/** Opens a directory with the sandbox's rules unless the test changes them. */
export async function openDirectoryEnvironment(
  changes: Partial<DirectoryParts> = {},
): Promise<DirectoryEnvironment> {
  const store = await openTestStore();
  const env = { now: START };
  const app = await composeDirectory({
    issuer: ISSUER,
    administrators: soleCredential("ana", ADMIN_TOKEN),
    ca: await testAuthority(),
    statementKeys: await testStatementKeys(),
    store,
    clock: () => env.now,
    environment: "Sandbox",
    loopbackRedirects: true,
    ...changes,
  });
  const send = async <T>(method: string, path: string, init: RequestInit): Promise<Answer<T>> => {
    const answer = await app.fetch(new Request(`${ISSUER}${path}`, { method, ...init }));
    const text = await answer.text();
    const isJson = /json/.test(answer.headers.get("content-type") ?? "");
    return {
      status: answer.status,
      headers: answer.headers,
      body: (isJson && text !== "" ? JSON.parse(text) : text) as Answer<T>["body"],
    };
  };
  return Object.assign(env, {
    store,
    fetch: app.fetch,
    publicFetch: app.publicFetch,
    adminFetch: app.adminFetch,
    remind: async () => await app.reminders?.sendDue(),
    admin<M extends string, P extends string>(
      method: M,
      path: P,
      body?: unknown,
      headers: Record<string, string> = {},
    ) {
      const text = body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) };
      const type: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" };
      return send<DirectoryBody<`${M} ${P}`>>(method, path, {
        ...text,
        headers: { authorization: `Bearer ${ADMIN_TOKEN}`, ...type, ...headers },
      });
    },
    get: <P extends string>(path: P, headers: Record<string, string> = {}) =>
      send<DirectoryBody<`GET ${P}`>>("GET", path, { headers }),
    [Symbol.asyncDispose]: () => store.close(),
  });
}

/** The directory's key for statements: number 14 of the pool. */
export async function testStatementKeys(): Promise<RenewableStatementKeys> {
  const jwk = await statementJwk(await privatePem(await testKey(14)));
  return await openStatementKeys(JSON.stringify({ keys: [jwk] }), () => START);
}

/** An authority whose key is a file. */
export interface TestAuthority {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}

let authority: Promise<TestAuthority> | undefined;

/** The directory's authority: valid 2025-01-01 to 2035-01-01, the same for all tests of a file. */
export function testAuthority(): Promise<TestAuthority> {
  return authority ??= makeAuthority(new Date("2025-01-01T00:00:00Z"), new Date("2035-01-01T00:00:00Z"));
}

/** An authority with another validity and the same key. */
export async function makeAuthority(
  notBefore: Date,
  notAfter: Date,
  ca = true,
  name = "CN=Test authority",
): Promise<TestAuthority> {
  const keys = await pkcs1Keys(await testKey(15));
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name,
    keys,
    notBefore,
    notAfter,
    extensions: [
      new BasicConstraintsExtension(ca, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificatePem: certificate.toString("pem"), privateKeyPem: await privatePem(await testKey(15)) };
}

const requests = new Map<number, Promise<string>>();

/** A valid signing request for the pool's key of this number. */
export function signingRequest(number: number): Promise<string> {
  const made = requests.get(number) ?? testKey(number).then((key) => signingRequestOf(key));
  requests.set(number, made);
  return made;
}

/** A signing request for any RSA key, with a subject of the requester's choice. */
export async function signingRequestOf(key: TestKey, hash = "SHA-256"): Promise<string> {
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: "CN=Whoever I say I am, O=Central Bank",
    keys: await pkcs1Keys(key, hash),
    signingAlgorithm: { name: "RSASSA-PKCS1-v1_5", hash },
    extensions: [new BasicConstraintsExtension(true, 3, true)],
  });
  return request.toString("pem");
}

/** PKCS 8 PEM of a test key. */
export async function privatePem(key: TestKey): Promise<string> {
  const der = new Uint8Array(await crypto.subtle.exportKey("pkcs8", await key.privateKey("sign")));
  const lines = der.toBase64().match(/.{1,64}/g) ?? [];
  return ["-----BEGIN PRIVATE KEY-----", ...lines, "-----END PRIVATE KEY-----", ""].join("\n");
}

/** An onboarding request, whose members tests change to anything. */
export type OnboardingRequest = JsonObject & { readonly csrs: Readonly<Record<string, string>> };

/** A third party's onboarding request; members of `changes` replace its own. */
export async function thirdParty(
  keys: readonly [number, number],
  changes: JsonObject = {},
): Promise<OnboardingRequest> {
  return {
    org_id: "SHOP",
    org_name: "Shop Limited",
    registration_number: "900123456-7",
    role: "PISP",
    contacts: contacts(),
    software: software(),
    csrs: { signing: await signingRequest(keys[0]), transport: await signingRequest(keys[1]) },
    ...changes,
  };
}

/** A bank's onboarding request; members of `changes` replace its own. */
export async function bank(
  keys: readonly [number, number],
  changes: JsonObject = {},
): Promise<OnboardingRequest> {
  return {
    ...await thirdParty(keys),
    org_id: "BANKA",
    org_name: "Bank A",
    role: "ASPSP",
    software: { ...software(), redirect_uris: ["https://bank-a.example/sca"] },
    consent_managedby_bank: true,
    payment_orders_uri: "https://bank-a.example/orders",
    ...changes,
  };
}

type SentSoftware = Readonly<
  & Record<"client_name" | "description" | "version" | "client_uri" | "logo_uri" | "environment", string>
  & { redirect_uris: string[] }
>;

/** Software members of an onboarding request. */
export function software(): SentSoftware {
  return {
    client_name: "Shop checkout",
    description: "Pays for goods",
    version: "1.2.3",
    client_uri: "https://shop.example/",
    logo_uri: "https://shop.example/logo.svg",
    redirect_uris: ["https://shop.example/callback", "http://localhost:8444/callback"],
    environment: "Sandbox",
  };
}

/** Contacts of an onboarding request. */
export function contacts(): JsonObject[] {
  return [
    { type: "business", name: "Ana Pérez", email: "ana@shop.example", phone: "+57 601 555 0100" },
    { type: "technical", name: "Luis Gómez", email: "luis@shop.example", phone: "+57 601 555 0101" },
  ];
}

async function pkcs1Keys(key: TestKey, hash = "SHA-256"): Promise<CryptoKeyPair> {
  const algorithm = { name: "RSASSA-PKCS1-v1_5", hash };
  const [privateKey, publicKey] = await Promise.all([
    crypto.subtle.importKey("jwk", { ...key.privateJwk }, algorithm, false, ["sign"]),
    crypto.subtle.importKey("jwk", { ...key.publicJwk }, algorithm, true, ["verify"]),
  ]);
  return { privateKey, publicKey };
}
