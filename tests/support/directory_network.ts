/** The directory as the platform reaches it: with failures, counted, and administered. */
import { bodyOf, type CertificatesAdded, firstOf, present, type Readiness } from "testing/answers.ts";
import { good } from "testing/flows.ts";
import {
  adminCall,
  type CertifiedKey,
  type Office,
  type Participant,
  signingRequest,
} from "testing/participants.ts";
import { testKey } from "testing/keys.ts";
import { AUTH_URL, DIRECTORY_URL, type Environment } from "testing/environment.ts";

/** The simulated network. */
export type Network = Environment["network"];

/** A 200 with this text. */
export function serving(text: string | Uint8Array<ArrayBuffer>, type = "application/json"): Network {
  return () => Promise.resolve(new Response(text, { headers: { "content-type": type } }));
}

/** A network that only some URLs go through; the others reach the directory. */
export function forUrls(env: Environment, match: (url: URL) => boolean, network: Network): Network {
  return (request) => match(new URL(request.url)) ? network(request) : env.directory.fetch(request);
}

/** An endless body in chunks of 64 KiB; `cancelled` returns whether its reader cancelled. */
export function endless(): { network: Network; sent: () => number; cancelled: () => boolean } {
  let chunks = 0;
  let cancelled = false;
  const network: Network = () => {
    const body = new ReadableStream({
      pull(controller): void {
        chunks += 1;
        if (chunks > 160) throw new Error("10 MiB were read");
        controller.enqueue(new Uint8Array(65_536).fill(0x20));
      },
      cancel(): void {
        cancelled = true;
      },
    });
    return Promise.resolve(new Response(body, { headers: { "content-type": "application/json" } }));
  };
  return { network, sent: () => chunks * 65_536, cancelled: () => cancelled };
}

/** Ways in which a directory fails to return a key set. */
export const FAILURES: Readonly<Record<string, () => Network>> = {
  "unreachable": () => () => Promise.reject(new TypeError("connection refused")),
  "status 500": () => () => Promise.resolve(new Response("{}", { status: 500 })),
  "status 404": () => () => Promise.resolve(new Response('{"keys":[]}', { status: 404 })),
  "status 204": () => () => Promise.resolve(new Response(null, { status: 204 })),
  "status 302 to another host": () => redirecting("https://evil.example/jwks", 302),
  "status 307 to itself": () => redirecting(`${DIRECTORY_URL}/jwks`, 307),
  "status 301 to this computer": () => redirecting("http://127.0.0.1/jwks", 301),
  "HTML": () => serving("<!doctype html><title>Back soon</title>", "text/html"),
  "nothing": () => serving(""),
  "half a JSON text": () => serving('{"keys":['),
  "JSON with a member twice": () => serving('{"keys":[],"keys":[]}'),
  "JSON too deep": () => serving(`{"keys":${"[".repeat(100)}${"]".repeat(100)}}`),
  "JSON without keys": () => serving("{}"),
  "keys that are no list": () => serving('{"keys":{"0":{}}}'),
  "a list": () => serving("[]"),
  "null": () => serving("null"),
  "bytes that are no UTF-8": () => serving(new Uint8Array([0x7b, 0xff, 0x7d])),
  "262,145 bytes": () => serving('{"keys":[]}'.padEnd(262_145)),
  "10 MiB": () => endless().network,
};

function redirecting(location: string, status: number): Network {
  return () => Promise.resolve(new Response(null, { status, headers: { location } }));
}

/** The directory's status list. */
export const STATUS_URL = `${DIRECTORY_URL}/status`;

/** The directory's URLs fetched since the last call, in order, without the status list. Clears the list. */
export function fetchedAnew(env: Environment): string[] {
  const urls = env.fetched.filter((url) => new URL(url).origin === DIRECTORY_URL && url !== STATUS_URL);
  env.fetched.length = 0;
  return urls;
}

/** The two URLs of a participant's keys. */
export function keyUrls({ orgId }: Participant): string[] {
  const home = `${DIRECTORY_URL}/participants/${orgId}`;
  return [`${home}/jwks`, `${home}/jwks/revoked`];
}

/** The response of `/health/ready`. */
export async function readiness(env: Environment): Promise<{ status: number; body: Readiness }> {
  const response = await env.browser(new Request(`${AUTH_URL}/health/ready`));
  return { status: response.status, body: await bodyOf<Readiness>(response) };
}

/** Revokes one key at the directory. */
export async function revokeKey(env: Office, { orgId }: Participant, { kid }: CertifiedKey): Promise<void> {
  await good(adminCall(env, "POST", `/participants/${orgId}/keys/${kid}/revoke`, { reason: "lost" }), 200);
}

/** Certifies another key of the pool and returns it. */
export async function addKey(
  env: Environment,
  { orgId, name }: Participant,
  purpose: "signing" | "transport" | "encryption",
  poolNumber: number,
): Promise<CertifiedKey> {
  const key = await testKey(poolNumber);
  const csrs = { [purpose]: await signingRequest(key, `${name} ${purpose} 2`) };
  const answer = adminCall(env, "POST", `/participants/${orgId}/certificates`, { csrs });
  const { jwks } = await good<CertificatesAdded>(answer, 201);
  const jwk = present(jwks.keys.find(({ n }) => n === key.publicJwk.n));
  return { key, kid: jwk.kid, certificate: firstOf(jwk.x5c) };
}

/** Sets the organisation's status. */
export async function setOrganisation(
  env: Office,
  { orgId }: Participant,
  status: "Active" | "Suspended" | "Withdrawn",
): Promise<void> {
  await good(adminCall(env, "PUT", `/participants/${orgId}/status`, { status, reason: "decided" }), 200);
}

/** Sets the software's status. */
export async function setSoftware(
  env: Office,
  { orgId }: Participant,
  status: "Active" | "Inactive" | "Revoked",
): Promise<void> {
  const path = `/participants/${orgId}/software/status`;
  await good(adminCall(env, "PUT", path, { status, reason: "decided" }), 200);
}
