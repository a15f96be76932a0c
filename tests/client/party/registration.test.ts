import { assert, assertEquals, assertRejects } from "@std/assert";
import { decodeJwt, decodeProtectedHeader, generateKeyPair, jwtVerify, SignJWT } from "jose";
import { ApiErrorResponse } from "../../../src/client/party/api_error.ts";
import type { HttpRequest } from "../../../src/client/party/http_request.ts";
import type { Participant } from "../../../src/client/party/participant.ts";
import { openSigner } from "../../../src/client/party/signer.ts";
import { register, registrationJwt } from "../../../src/client/party/register_client.ts";

const audience = "https://directory.example/registration";
const softwareId = "SC-2f6e6d0c-64b0-4f5b-9a53-6f0c1c2d3e4f";
const redirectUris = ["https://shop.example/callback"];
const { privateKey, publicKey } = await generateKeyPair("PS256");
const statement = await new SignJWT({ software_id: softwareId, software_redirect_uris: redirectUris })
  .setProtectedHeader({ alg: "PS256" })
  .sign(privateKey);
const participant: Participant = {
  orgId: "ORG-1",
  orgName: "Shop Ltd",
  softwareClientId: softwareId,
  clientId: softwareId,
  redirectUris,
  signer: await openSigner("kid-1", privateKey),
  softwareStatement: statement,
};

const byRole = [
  { role: "PISP", scope: "payments", grantTypes: ["client_credentials", "authorization_code"] },
  { role: "ASPSP", scope: "bank", grantTypes: ["authorization_code"] },
] as const;

for (const { role, scope, grantTypes } of byRole) {
  Deno.test(`registrationJwt of a ${role} carries the contract's claims`, async () => {
    const jwt = await registrationJwt(participant, role, audience);
    assertEquals(decodeProtectedHeader(jwt), { alg: "PS256", typ: "JWT", kid: "kid-1" });
    const { payload } = await jwtVerify(jwt, publicKey, { audience, issuer: "Shop Ltd" });
    const { iat = 0, exp = 0, jti, iss, aud, ...metadata } = payload;
    assertEquals([iss, aud], ["Shop Ltd", audience]);
    assertEquals(exp - iat, 300);
    assert(typeof jti === "string" && jti.length === 36);
    assertEquals(metadata, {
      redirect_uris: redirectUris,
      token_endpoint_auth_method: "private_key_jwt",
      grant_types: grantTypes,
      scope,
      response_types: ["code"],
      software_id: softwareId,
      software_statement: statement,
      application_type: "web",
      request_object_signing_alg: "PS256",
      token_endpoint_auth_signing_alg: "PS256",
      id_token_signed_response_alg: "PS256",
    });
  });
}

Deno.test("register posts application/jose and returns the client id", async () => {
  const seen: { url: string; request: HttpRequest }[] = [];
  const fetch = (url: string, request: HttpRequest): Promise<Response> => {
    seen.push({ url, request });
    return Promise.resolve(Response.json({ client_id: softwareId }, { status: 201 }));
  };
  assertEquals(await register(server(fetch), participant, "PISP"), { clientId: softwareId });
  const [sent] = seen;
  assertEquals(sent?.url, "https://api.example/register/v1");
  assertEquals(sent?.request.headers["content-type"], "application/jose");
  assertEquals(decodeJwt(String(sent?.request.body)).iss, "Shop Ltd");
});

Deno.test("register reports a rejection", async () => {
  const rejection = { error: "invalid_software_statement", error_description: "expired" };
  const fetch = (): Promise<Response> => Promise.resolve(Response.json(rejection, { status: 400 }));
  await assertRejects(
    () => register(server(fetch), participant, "PISP"),
    ApiErrorResponse,
    "400: invalid_software_statement expired",
  );
});

function server(
  fetch: (url: string, request: HttpRequest) => Promise<Response>,
): Parameters<typeof register>[0] {
  return { fetch, baseUrl: "https://api.example", audience };
}
