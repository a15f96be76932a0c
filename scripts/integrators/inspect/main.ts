/** `deno task inspect`: decodes a JWT or a payload signature, shows its times, and verifies it with the keys at hand. */
import { type KnownPlatform, openPlatform } from "../../command_line/platform.ts";
import { type Options, runProgram, UsageError, wordsAndOptions } from "../../command_line/run.ts";
import { sandboxFolder } from "../../command_line/sandbox_folder.ts";
import * as jose from "jose";
import {
  CONTENT_ENCRYPTION_ALG,
  KEY_MANAGEMENT_ALG,
  SIGNATURE_ALG,
} from "../../../src/client/party/profile.ts";
import { verifyPayload } from "../../../src/client/party/payload_signature.ts";
import { readDescription } from "../participant/folder.ts";

const USAGE = `deno task inspect <token | address with oAuthUrl | -> [--name <folder>] [--body <file>]

  Decodes a JWT, an encrypted JWT or an x-jws-signature. "-" reads it from standard input.
  The keys of the platform and of the directory verify it, if a sandbox runs (SANDBOX_DIR, default .data/sandbox).

  Exit status 1 if it is not accepted: another algorithm, another signature, or encrypted to another key.

  --name  a participant's folder: its keys verify, and a bank's decrypt
  --body  the file with the body that a payload signature is for`;

const OPTIONS = { names: ["name", "body"], switches: [] } as const;

/** Material that may help to verify it. */
interface Aids {
  readonly platform?: KnownPlatform | undefined;
  /** A participant's folder: its keys decrypt and verify. */
  readonly folder?: string | undefined;
  /** The body that a payload signature is for. */
  readonly body?: Uint8Array | undefined;
}

/** A key set and whose it is. */
interface KeySet {
  readonly whose: string;
  readonly keys: readonly jose.JWK[];
}

/** Describes the token, one line after the other. @throws {Error} if it is none */
export async function inspect(token: string, aids: Aids): Promise<readonly string[]> {
  const parts = token.split(".");
  if (parts.length === 5) return await inspectSealed(token, aids);
  if (parts.length !== 3) throw new Error(`A token has 3 or 5 parts between dots; this has ${parts.length}.`);
  const header = jose.decodeProtectedHeader(token);
  const claims = parts[1] === "" ? undefined : jose.decodeJwt(token);
  return [
    `${guessKind(header, claims)}`,
    `header ${pretty(header)}`,
    ...(claims === undefined ? [] : [`claims ${pretty(claims)}`]),
    ...timesOf(claims ?? header, aids.platform?.now() ?? Date.now()),
    await verdictOf(token, header, claims === undefined, aids),
  ];
}

async function inspectSealed(token: string, aids: Aids): Promise<readonly string[]> {
  const header = jose.decodeProtectedHeader(token);
  const outer = [`encrypted JWT`, `header ${pretty(header)}`];
  const pem = aids.folder === undefined ? undefined : await decryptionKeyIn(aids.folder);
  if (pem === undefined) return [...outer, "Not decrypted: give --name of the bank that it is for."];
  const options = {
    keyManagementAlgorithms: [KEY_MANAGEMENT_ALG],
    contentEncryptionAlgorithms: [CONTENT_ENCRYPTION_ALG],
  };
  const key = await jose.importPKCS8(pem, KEY_MANAGEMENT_ALG);
  const opened = await jose.compactDecrypt(token, key, options).catch(ofJose);
  if (opened instanceof Error) {
    const isOtherKey = opened instanceof jose.errors.JWEDecryptionFailed;
    const why = isOtherKey ? ` The key of ${aids.folder} is not that of kid.` : "";
    return [...outer, `NOT DECRYPTED: ${opened.message}.${why}`];
  }
  return [...outer, "", ...await inspect(new TextDecoder().decode(opened.plaintext), aids)];
}

function ofJose(error: unknown): jose.errors.JOSEError {
  if (error instanceof jose.errors.JOSEError) return error;
  throw error;
}

/** Decision A10: without an `enc` key the platform encrypts to the `tls` key. */
async function decryptionKeyIn(folder: string): Promise<string> {
  const hasOwn = (await readDescription(folder))?.encryption_kid !== undefined;
  return await Deno.readTextFile(`${folder}/${hasOwn ? "encryption" : "transport"}.key.pem`);
}

/** Names the kind by what only it has. */
function guessKind({ typ }: jose.ProtectedHeaderParameters, claims: jose.JWTPayload | undefined): string {
  if (claims === undefined) return "payload signature (x-jws-signature)";
  const has = (name: string): boolean => Object.hasOwn(claims, name);
  if (typ === "dpop+jwt") return "DPoP proof";
  if (has("org_jwks_endpoint")) return "software statement of the directory";
  if (has("software_statement")) return "registration JWT";
  if (has("act")) return "handover JWT of the platform to a bank";
  if (has("status_code")) return "result JWT of a bank";
  if (has("Data")) return "payment order of the platform";
  return claims.iss !== undefined && claims.iss === claims.sub ? "client assertion" : "JWT";
}

function pretty(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}

function timesOf(members: object, nowMs: number): string[] {
  return Object.entries(members).flatMap(([name, value]) => {
    const short = name.replace(/^.*\//, ""); // OBIE members have a URL as their name
    if (!["iat", "nbf", "exp"].includes(short) || typeof value !== "number") return [];
    const date = new Date(value * 1000);
    if (Number.isNaN(date.getTime())) return [`${short} is no time in seconds`];
    const seconds = Math.round(value - nowMs / 1000);
    const when = seconds < 0 ? `${-seconds} s ago` : `in ${seconds} s`;
    return [`${short} ${date.toISOString()}, ${when}`];
  });
}

async function verdictOf(
  token: string,
  header: jose.ProtectedHeaderParameters,
  isDetached: boolean,
  aids: Aids,
): Promise<string> {
  if (header.alg !== SIGNATURE_ALG) return `NOT ACCEPTED: alg is ${header.alg}; only ${SIGNATURE_ALG} is.`;
  if (isDetached && aids.body === undefined) return "Not verified: give --body with the bytes of the body.";
  // A DPoP proof alone may bring its key (RFC 9449 §4.2).
  const embedded = header.typ === "dpop+jwt" ? (header as { readonly jwk?: jose.JWK }).jwk : undefined;
  const sets = embedded === undefined
    ? await keySetsOf(aids)
    : [{ whose: "its own header", keys: [{ ...embedded, kid: header.kid ?? "" }] }];
  const [whose, jwk] = find(sets, header.kid ?? "");
  if (jwk === undefined) {
    const asked = sets.map(({ whose }) => whose).join(", ") || "no one";
    return `Not verified: no key has the kid ${header.kid} (asked: ${asked}).`;
  }
  const key = await jose.importJWK({ ...jwk, alg: SIGNATURE_ALG }, SIGNATURE_ALG);
  try {
    if (aids.body !== undefined && isDetached) await verifyPayload(token, aids.body, () => key);
    else await jose.compactVerify(token, key, { algorithms: [SIGNATURE_ALG] });
    return `Verified with the key of ${whose}.`;
  } catch (error) {
    return `NOT ACCEPTED by the key of ${whose}: ${error instanceof Error ? error.message : error}`;
  }
}

function find(sets: readonly KeySet[], kid: string): [whose: string, key: jose.JWK | undefined] {
  for (const { whose, keys } of sets) {
    const key = keys.find((candidate) => candidate.kid === kid);
    if (key !== undefined) return [whose, key];
  }
  return ["", undefined];
}

async function keySetsOf({ platform, folder }: Aids): Promise<readonly KeySet[]> {
  const sets: KeySet[] = [];
  if (folder !== undefined) {
    const description = await readDescription(folder);
    if (description !== undefined) {
      const text = await Deno.readTextFile(`${folder}/${description.software_client_id}.jwks`);
      const { keys } = JSON.parse(text) as jose.JSONWebKeySet;
      sets.push({ whose: description.org_name, keys });
    }
  }
  if (platform === undefined) return sets;
  const { auth_url, directory_url } = platform.addresses;
  for (const [whose, url] of [["the platform", auth_url], ["the directory", directory_url]] as const) {
    const { keys } = await (await fetch(`${url}/jwks`)).json() as jose.JSONWebKeySet;
    sets.push({ whose, keys });
  }
  return sets;
}

if (import.meta.main) {
  await runProgram(USAGE, async (args, print) => {
    const { words: [given, ...more], given: options } = wordsAndOptions(args, OPTIONS);
    const { name, body } = options as Options<"name" | "body", never>;
    if (given === undefined || more.length > 0) throw new UsageError(USAGE);
    const text = (given === "-" ? await new Response(Deno.stdin.readable).text() : given).trim();
    const dir = sandboxFolder(Deno.env.toObject());
    const lines = await inspect(URL.parse(text)?.searchParams.get("oAuthUrl") ?? text, {
      platform: await openPlatform(dir).catch(() => undefined), // without one, less is verified
      folder: name === undefined ? undefined : `${dir}/participants/${name}`,
      body: body === undefined ? undefined : await Deno.readFile(body),
    });
    for (const line of lines) print(line);
    return !lines.at(-1)?.startsWith("NOT ");
  });
}
