/** Documentation of the errors of clients, their tokens, proofs and registrations. */
import { help } from "./error_help_entry.ts";

export const OAUTH_HELP = {
  "client.second_mechanism": help(
    "The request authenticates the client in two ways.",
    "client_assertion alone",
    "client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    "Remove the Authorization header and client_secret.",
  ),
  "client.assertion_missing": help(
    "The form has no client_assertion.",
    "A JWT signed with your signing key (private_key_jwt)",
    "client_assertion=eyJhbGciOiJQUzI1NiIsImtpZCI6…",
    "Sign an assertion for each request.",
  ),
  "client.assertion_type_unsupported": help(
    "client_assertion_type is missing or unknown.",
    "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    "client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    "Send this value.",
  ),
  "client.not_authenticated": help(
    "The client assertion is not valid, or client_id is not the client of the certificate.",
    "PS256, kid of your signing key, iss and sub your client_id, aud the issuer of the bank in the path, exp at most 330 s ahead, a new jti",
    '{"iss": "SC-…", "sub": "SC-…", "aud": "{auth_url}/BANKA", "exp": 1763719260, "jti": "<UUID>"}',
    "error_description names the faulty part. Take the issuer from the metadata of the bank.",
  ),
  "oauth.invalid_request": help(
    "A parameter of the form is missing or wrong. error_description names it.",
    "The parameters of the API reference",
    "code_challenge_method=S256",
    "Correct the parameter.",
  ),
  "oauth.invalid_scope": help(
    "scope is missing or not the one of your role.",
    "payments for a TPP, bank for a bank at its own code",
    "scope=payments",
    "Send the scope of your role.",
  ),
  "oauth.unsupported_grant_type": help(
    "The platform does not have this grant.",
    "client_credentials or authorization_code",
    "grant_type=client_credentials",
    "Use one of the two.",
  ),
  "oauth.unauthorized_client": help(
    "Your role may not use this endpoint or grant.",
    "A TPP (role PISP)",
    "-",
    "Use the client of a TPP.",
  ),
  "oauth.unsupported_response_type": help(
    "The platform does not have this response_type.",
    "code",
    "response_type=code",
    "Send response_type=code.",
  ),
  "oauth.invalid_grant": help(
    "The code is unknown, expired or used, or redirect_uri or code_verifier does not match the pushed request.",
    "A code of at most 60 s, once, with the redirect_uri and the code_verifier of the pushed request",
    "redirect_uri=https://tpp.example.com/callback",
    "Redeem the code as soon as the customer returns. If it has expired, push a new request.",
  ),
  "dpop.invalid_proof": help(
    "The DPoP proof is missing, malformed, or made for another request.",
    "typ dpop+jwt, PS256, jwk, htm, htu without query, iat of the last 60 s, a new jti, and ath at resources",
    '{"htm": "POST", "htu": "{base_url}/BANKA/token.oauth2/v1", "iat": 1763719200, "jti": "<UUID>"}',
    "Make a proof for each request, immediately before you send it. Synchronize your clock.",
  ),
  "dpop.replayed": help(
    "A proof with this jti was used before.",
    "A new jti in each proof",
    '"jti": "7f3d1c9e-4b52-4d0a-9c55-0f6b6f2a1e11"',
    "Make a new proof for each request, also for retries.",
  ),
  "dpop.key_mismatch": help(
    "The proof is signed by another key than the one to which the token or the code is bound.",
    "The key that signed the proof of the token request, or that dpop_jkt named",
    "-",
    "Use one DPoP key from the pushed request to the last request with the token.",
  ),
  "token.missing": help(
    "The request has no access token, or another scheme than DPoP.",
    "Authorization: DPoP <access token>",
    "authorization: DPoP Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU",
    "Send the token with the DPoP scheme. Bearer is not accepted.",
  ),
  "token.malformed_request": help(
    "The token was sent twice, or in the query.",
    "One Authorization header with one token",
    "authorization: DPoP Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU",
    "Send the token in the Authorization header alone.",
  ),
  "token.invalid": help(
    "The token is unknown, expired, revoked, of another bank or of another client.",
    "A token that the token endpoint of the bank in the path issued to you within 3600 s",
    "-",
    "Request a new token. A code that is redeemed twice revokes its token.",
  ),
  "token.insufficient_scope": help(
    "The token is valid, but its scope, grant or consent does not allow this request.",
    "client_credentials for consents and reads, authorization_code for the payment of its own consent",
    "grant_type=authorization_code",
    "Use the token that the answer names.",
  ),
  "registration.unsupported_media_type": help(
    "The Content-Type of the registration is wrong.",
    "application/jose",
    "content-type: application/jose",
    "Send the compact JWT itself as the body.",
  ),
  "registration.invalid_software_statement": help(
    "The software statement is missing, changed, expired, or not newer than the registered one.",
    "The newest statement (.jks) of the directory, unchanged",
    '"software_statement": "eyJhbGciOiJQUzI1NiIs…"',
    "Get a statement from the directory and send it unchanged.",
  ),
  "registration.unapproved_software_statement": help(
    "The statement is of another directory or environment, or its software is not active.",
    "An active statement of this platform's directory and environment",
    '"software_environment": "Sandbox"',
    "Onboard at the directory of this platform.",
  ),
  "registration.invalid_redirect_uri": help(
    "redirect_uris is not a subset of those of the software statement.",
    "1 to 4 https URLs (a bank: 1), character by character as in the statement",
    '"redirect_uris": ["https://tpp.example.com/callback"]',
    "Copy them from software_redirect_uris. Let the directory renew the statement to add one.",
  ),
  "registration.invalid_client_metadata": help(
    "The registration JWT is not valid, or a claim is wrong.",
    "PS256, typ JWT, kid of your signing key, aud the registration audience, and the claims of your role",
    '{"iss": "<org_name>", "aud": "<registration_audience>", "token_endpoint_auth_method": "private_key_jwt", …}',
    "error_description names the faulty claim.",
  ),
} as const;
