/**
 * Dynamic client registration of a TPP or bank: builds and signs the registration JWT from the software statement and
 * posts it (contract EP13, RJ1 to RJ12). Leaves the statement unchanged.
 */
import { decodeJwt } from "jose";
import * as z from "zod/mini";
import { SIGNATURE_ALG } from "./profile.ts";
import { readRejection } from "./api_error.ts";
import type { Fetch } from "./http_request.ts";
import { signJwt } from "./signer.ts";
import type { Participant } from "./participant.ts";

/** `PISP` is a TPP, `ASPSP` a bank. */
export type RegistrationRole = "PISP" | "ASPSP";

/** Where to register. `fetch` must present the participant's own network certificate. */
export interface RegistrationServer {
  readonly fetch: Fetch;
  readonly baseUrl: string;
  /** `aud` of every registration JWT of this platform. */
  readonly audience: string;
}

const statementClaims = z.object({ software_id: z.string(), software_redirect_uris: z.array(z.string()) });
const registered = z.object({ client_id: z.string().check(z.minLength(1)) });
const lifetimeSeconds = 300;

// Contract RJ6 and RJ9: the values that each role registers.
const byRole = {
  PISP: { grant_types: ["client_credentials", "authorization_code"], scope: "payments" },
  ASPSP: { grant_types: ["authorization_code"], scope: "bank" },
} as const;

/**
 * Registers the participant's software. With a newer statement it updates the registration (Decision B6).
 * @returns the client id to authenticate with.
 * @throws {ApiErrorResponse} if rejected.
 */
export async function register(
  server: RegistrationServer,
  participant: Participant,
  role: RegistrationRole,
): Promise<{ readonly clientId: string }> {
  const response = await server.fetch(`${server.baseUrl}/register/v1`, {
    method: "POST",
    headers: { "content-type": "application/jose", "accept": "application/json" },
    body: await registrationJwt(participant, role, server.audience),
  });
  const text = await response.text();
  if (response.status !== 201) throw readRejection(response, text);
  return { clientId: registered.parse(JSON.parse(text)).client_id };
}

/** The signed registration JWT, valid for five minutes from `nowMs`, milliseconds since the Unix epoch. */
export async function registrationJwt(
  participant: Participant,
  role: RegistrationRole,
  audience: string,
  nowMs: number = Date.now(),
): Promise<string> {
  const statement = statementClaims.parse(decodeJwt(participant.softwareStatement));
  const now = Math.floor(nowMs / 1000);
  const claims = {
    redirect_uris: statement.software_redirect_uris,
    token_endpoint_auth_method: "private_key_jwt",
    ...byRole[role],
    response_types: ["code"],
    software_id: statement.software_id,
    software_statement: participant.softwareStatement,
    application_type: "web",
    request_object_signing_alg: SIGNATURE_ALG,
    token_endpoint_auth_signing_alg: SIGNATURE_ALG,
    id_token_signed_response_alg: SIGNATURE_ALG,
  };
  const times = { iat: now, exp: now + lifetimeSeconds };
  const ids = { iss: participant.orgName, aud: audience, jti: crypto.randomUUID() };
  return await signJwt(participant.signer, { ...claims, ...ids, ...times });
}
