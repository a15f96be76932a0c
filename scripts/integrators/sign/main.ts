/** `deno task sign`: prints one thing that a participant signs, for scripts and for comparing with one's own. */
import { type AuthorizationServer, generateKeyPair } from "oauth4webapi";
import { SIGNATURE_ALG } from "../../../src/client/party/profile.ts";
import { type KnownPlatform, openPlatform } from "../../command_line/platform.ts";
import { oneOf, required } from "../../command_line/option_values.ts";
import { optionsOf, runProgram, unknownCommand, UsageError } from "../../command_line/run.ts";
import { writeSecretFile } from "../../command_line/secret_file.ts";
import { sandboxFolder } from "../../command_line/sandbox_folder.ts";
import * as jose from "jose";
import { loadParticipant } from "../../../src/client/party/participant.ts";
import { clientAuthentication } from "../../../src/client/party/client_authentication.ts";
import { signPayload } from "../../../src/client/party/payload_signature.ts";
import { registrationJwt } from "../../../src/client/party/register_client.ts";
import { loadBankCredentials, openBank } from "../../../src/client/bank/bank.ts";
import { openHandover } from "../../../src/client/bank/open_handover.ts";
import { type ResultStatusCode, resultUrl } from "../../../src/client/bank/seal_result.ts";
import { readDescription } from "../participant/folder.ts";
import { sha256 } from "../../../src/base/kernel/identifiers.ts";

const USAGE = `deno task sign <what> --name <folder> [options]

  assertion     --bank <code>                    client assertion for a bank's issuer
  dpop          --method <GET> --url <url> [--token <access token>] [--key <file.jwk>]
                                                 DPoP proof; the key is made if the file is missing
  payload       --body <file> [--profile a|b]    x-jws-signature over the bytes of the file
  registration                                   registration JWT with the software statement
  bank-result   --handover <oAuthUrl> [--sub <id>] [--status-code success|failure|insufficient_funds]
                                                 the address to which a bank returns its customer

  --name is a folder below participants/ of SANDBOX_DIR (default .data/sandbox).`;

const OPTIONS = [
  "name",
  "bank",
  "method",
  "url",
  "token",
  "key",
  "body",
  "profile",
  "handover",
  "sub",
  "status-code",
] as const;
type Given = { readonly [name in typeof OPTIONS[number]]?: string };

const KINDS = ["assertion", "dpop", "payload", "registration", "bank-result"];
const STATUS_CODES = ["success", "failure", "insufficient_funds"] as const;

async function sign(what: string, given: Given, platform: KnownPlatform, dir: string): Promise<string> {
  const folder = (): string => `${dir}/participants/${required(given, "name")}`;
  switch (what) {
    case "assertion":
      return await signAssertion(platform, folder(), required(given, "bank"));
    case "dpop": {
      const target = { method: given.method ?? "GET", url: required(given, "url"), accessToken: given.token };
      return await signProof(platform, await proofKeys(given.key ?? `${dir}/dpop.jwk`), target);
    }
    case "payload": {
      const body = await Deno.readFile(required(given, "body"));
      return await signBody(platform, folder(), body, oneOf("profile", given.profile ?? "b", ["a", "b"]));
    }
    case "registration":
      return await signRegistration(platform, folder());
    case "bank-result": {
      const statusCode = oneOf("status-code", given["status-code"] ?? "success", STATUS_CODES);
      const result = { sub: given.sub ?? "customer-1", statusCode };
      return await signBankResult(platform, folder(), required(given, "handover"), result);
    }
    default:
      throw new UsageError(USAGE);
  }
}

/** As the file has it; a private one beside these members. */
type RsaKey = JsonWebKey & { readonly kty: string; readonly n: string; readonly e: string };

/** Reads the pair that tokens are bound to, or makes it. */
async function proofKeys(file: string): Promise<CryptoKeyPair> {
  const text = await Deno.readTextFile(file).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
  if (text === undefined) {
    const made = await generateKeyPair(SIGNATURE_ALG, { extractable: true });
    await writeSecretFile(file, JSON.stringify(await jose.exportJWK(made.privateKey)), { replace: false });
    return made;
  }
  const { kty, n, e, ...secret } = JSON.parse(text) as RsaKey;
  const imported = (jwk: JsonWebKey, use: KeyUsage): Promise<CryptoKey> =>
    crypto.subtle.importKey("jwk", jwk, { name: "RSA-PSS", hash: "SHA-256" }, true, [use]);
  const [publicKey, privateKey] = await Promise.all([
    imported({ kty, n, e }, "verify"),
    imported({ kty, n, e, ...secret }, "sign"),
  ]);
  return { publicKey, privateKey };
}

/** A client assertion for a bank's issuer. */
export async function signAssertion(
  { addresses, now }: KnownPlatform,
  folder: string,
  bank: string,
): Promise<string> {
  const participant = await loadParticipant(folder);
  const server: AuthorizationServer = { issuer: `${addresses.auth_url}/${bank}` };
  const form = new URLSearchParams();
  const client = { client_id: participant.clientId };
  await clientAuthentication({ participant, now })(server, client, form, new Headers());
  return form.get("client_assertion") ?? "";
}

/** The request that a proof is for. */
interface ProofTarget {
  readonly method: string;
  readonly url: string;
  /** Of a request of a resource. */
  readonly accessToken?: string | undefined;
}

/** A DPoP proof (RFC 9449 §4.2). `keys` is the pair that the token is bound to. */
export async function signProof(
  { now }: KnownPlatform,
  keys: CryptoKeyPair,
  { method, url, accessToken }: ProofTarget,
): Promise<string> {
  const { kty, n, e } = await jose.exportJWK(keys.publicKey);
  const ath = accessToken === undefined ? {} : { ath: await sha256(accessToken) };
  return await new jose.SignJWT({ htm: method, htu: url.split(/[?#]/)[0] ?? url, ...ath })
    .setProtectedHeader({ alg: SIGNATURE_ALG, typ: "dpop+jwt", jwk: { kty, n, e } as jose.JWK })
    .setIssuedAt(Math.floor(now() / 1000))
    .setJti(crypto.randomUUID())
    .sign(keys.privateKey);
}

/** The value of `x-jws-signature` for these bytes. */
export async function signBody(
  { addresses, now }: KnownPlatform,
  folder: string,
  body: Uint8Array,
  profile: "a" | "b",
): Promise<string> {
  const [{ signer: own, orgId, softwareClientId }, description] = await Promise.all([
    loadParticipant(folder),
    readDescription(folder),
  ]);
  const signer = {
    ...own,
    iss: description?.role === "ASPSP" ? orgId : `${orgId}/${softwareClientId}`,
    tan: new URL(addresses.directory_url).host,
    profile,
  };
  return await signPayload(signer, body, now());
}

/** A registration JWT. */
export async function signRegistration({ addresses, now }: KnownPlatform, folder: string): Promise<string> {
  const [participant, description] = await Promise.all([loadParticipant(folder), readDescription(folder)]);
  const role = description?.role === "ASPSP" ? "ASPSP" : "PISP";
  return await registrationJwt(participant, role, addresses.registration_audience, now());
}

/** The result that a bank sends back. */
interface BankResult {
  readonly sub: string;
  readonly statusCode: ResultStatusCode;
}

/**
 * The address to which a bank returns its customer.
 *
 * @param handover `oAuthUrl` of the platform's redirect, or the address that has it
 * @throws {Error} if it is not one for this bank
 */
export async function signBankResult(
  { addresses, now }: KnownPlatform,
  folder: string,
  handover: string,
  { sub, statusCode }: BankResult,
): Promise<string> {
  const credentials = await loadBankCredentials(folder);
  const bank = await openBank({ credentials, fetch, endpoints: addresses, now });
  const token = URL.parse(handover)?.searchParams.get("oAuthUrl") ?? handover;
  return await resultUrl(bank, await openHandover(bank, token), { sub, statusCode, status: statusCode });
}

if (import.meta.main) {
  await runProgram(USAGE, async (args, print) => {
    const [what = "", ...rest] = args[0]?.startsWith("-") ? ["", ...args] : args;
    const given = optionsOf(rest, OPTIONS);
    if (what !== "" && !KINDS.includes(what)) throw unknownCommand(what, KINDS);
    const dir = sandboxFolder(Deno.env.toObject());
    print(await sign(what, given, await openPlatform(dir), dir));
  });
}
