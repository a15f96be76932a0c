/** Makes what a participant signs, with the code of the reference client and of the sandbox's bank. */
import * as jose from "jose";
import type { AuthorizationServer } from "oauth4webapi";
import { SIGNATURE_ALG } from "../../../src/client/party/profile.ts";
import { loadParticipant } from "../../../src/client/party/participant.ts";
import { clientAuthentication } from "../../../src/client/party/client_authentication.ts";
import { signPayload } from "../../../src/client/party/payload_signature.ts";
import { registrationJwt } from "../../../src/client/party/register_client.ts";
import { loadBankCredentials, openBank } from "../../../src/client/bank/bank.ts";
import { openHandover } from "../../../src/client/bank/open_handover.ts";
import { type ResultStatusCode, resultUrl } from "../../../src/client/bank/seal_result.ts";
import type { KnownPlatform } from "../../command_line/platform.ts";
import { readDescription } from "../participant/folder.ts";
import { sha256 } from "../../../src/base/kernel/identifiers.ts";

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
export interface ProofTarget {
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
export interface BankResult {
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
