/** Valid requests to the directory: by administrators, and public ones. */
import {
  ADMIN_TOKEN,
  bank,
  type DirectoryEnvironment,
  ISSUER,
  signingRequest,
  thirdParty,
} from "../../testing/directory_environment.ts";
import { testKey } from "../../testing/keys.ts";
import { jsonPart } from "./body_parts.ts";
import { mutateBytes, mutateText, pick } from "./mutations.ts";
import type { Part, Sample } from "./parts.ts";
import { requestPart } from "./request_parts.ts";
import { type Attempt, attemptOf, bodyText, headerOf, withBody } from "./sample_request.ts";

const PUBLIC = ["/health", "/participants", "/jwks", "/ca.pem"];
const BEARER = /^Bearer ([A-Za-z0-9._~+/-]+=*)$/i;

/** A call of an administrator and its expected status. */
type Planned = readonly [name: string, status: number, method: string, path: string, body?: unknown];

export async function directorySamples(directory: DirectoryEnvironment): Promise<readonly Sample[]> {
  const { body } = await directory.admin("POST", "/participants", await thirdParty([0, 1]));
  await directory.admin("POST", "/participants", await bank([2, 3]));
  const kid = body.jwks.keys[0]?.kid;
  const one = "/participants/SHOP";
  const because = { reason: "A test" };
  const planned: readonly Planned[] = [
    ["POST participant", 201, "POST", "/participants", await thirdParty([4, 5], { org_id: "NEWSHOP" })],
    ["POST bank", 201, "POST", "/participants", await bank([6, 7], { org_id: "BANKB" })],
    ["GET participant", 200, "GET", one],
    ["GET history", 200, "GET", `${one}/history`],
    ["POST statement", 200, "POST", `${one}/statement`, { description: "Pays", version: "2" }],
    ["POST bank statement", 200, "POST", "/participants/BANKA/statement", { payment_orders_uri: null }],
    ["POST certificates", 201, "POST", `${one}/certificates`, { csrs: { signing: await signingRequest(8) } }],
    ["POST revoke", 200, "POST", `${one}/keys/${kid}/revoke`, because],
    ["PUT software status", 200, "PUT", `${one}/software/status`, { status: "Inactive", ...because }],
    ["PUT status", 200, "PUT", `${one}/status`, { status: "Suspended", ...because }],
  ];
  const administered = await Promise.all(planned.map(administratedSample));
  const read = await Promise.all(
    [...PUBLIC, `${one}/jwks`, `${one}/jwks/revoked`].map((path) => publicSample(path)),
  );
  return [...administered, ...read, await signingRequestSample()];
}

async function administratedSample([name, status, method, path, body]: Planned): Promise<Sample> {
  const attempt = await administrated(method, path, body);
  const parts = body === undefined ? [administrator] : [administrator, jsonPart()];
  return { name: `directory: ${name}`, status, surface: "directory", attempt, parts };
}

function administrated(method: string, path: string, body?: unknown): Promise<Attempt> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" };
  const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
  return attemptOf("directory", new Request(ISSUER + path, init));
}

const administrator = requestPart({
  also: (attempt) =>
    BEARER.exec(headerOf(attempt, "authorization") ?? "")?.[1] === ADMIN_TOKEN
      ? undefined
      : "took another administration token",
});

async function publicSample(path: string): Promise<Sample> {
  const attempt = await attemptOf("directory", new Request(ISSUER + path));
  return {
    name: `directory: GET ${path}`,
    status: 200,
    surface: "directory",
    attempt,
    parts: [requestPart()],
  };
}

/** The signed part of a certificate signing request, mutated octet by octet. */
async function signingRequestSample(): Promise<Sample> {
  const pem = await signingRequest(8);
  const attempt = await administrated("POST", "/participants/SHOP/certificates", { csrs: { signing: pem } });
  const { n } = (await testKey(8)).publicJwk;
  const part: Part = {
    name: "signing request",
    mutate(random, good) {
      const [der, width] = [derOf(pem), pick(random, [64, 76, 4096])];
      const changed = random.chance(0.2)
        ? mutateText(random, pem)
        : pemOf(random.chance(0.1) ? der : mutateBytes(random, der), width);
      return withBody(good, JSON.stringify({ csrs: { signing: changed } }));
    },
    fault(taken, { text }) {
      const { csrs } = JSON.parse(bodyText(taken)) as { readonly csrs?: { readonly signing?: unknown } };
      if (!isSameRequest(String(csrs?.signing), pem)) return "took a forged signing request";
      return text.includes(n) ? undefined : "gave a certificate for another key";
    },
  };
  return { name: "directory: certificates", status: 201, surface: "directory", attempt, parts: [part] };
}

/** Returns whether both requests have the same signed part: the first member of the outer sequence (RFC 2986 §4.2). */
function isSameRequest(pem: string, good: string): boolean {
  const [der, wanted] = [derOf(pem), derOf(good)];
  const length = ((wanted[6] ?? 0) << 8) + (wanted[7] ?? 0) + 4;
  const info = wanted.slice(4, 4 + length).toHex();
  return der.toHex().includes(info);
}

function derOf(pem: string): Uint8Array {
  const base64 = pem.replaceAll(/-----[^-]*-----|[^A-Za-z0-9+/=]/g, "");
  try {
    return Uint8Array.fromBase64(base64);
  } catch {
    return new Uint8Array();
  }
}

function pemOf(der: Uint8Array, width: number): string {
  const lines = der.toBase64().match(RegExp(`.{1,${width}}`, "g")) ?? [];
  return ["-----BEGIN CERTIFICATE REQUEST-----", ...lines, "-----END CERTIFICATE REQUEST-----"].join("\n");
}
