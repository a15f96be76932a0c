/** How each signature is computed, with a worked example of it that can be checked step by step. */
import { CONTENT_ENCRYPTION_ALG, KEY_MANAGEMENT_ALG } from "../base/limits.ts";
import { DPOP_MAX_AGE_SECONDS } from "../base/profile.ts";
import type { Block, Guide, GuideAddresses } from "./guide.ts";
import {
  BANK_RETURN,
  CLIENT_ASSERTION,
  DPOP_PROOF,
  PAYLOAD_PROFILE_A,
  PAYLOAD_PROFILE_B,
  type SignatureVector,
  VECTOR_ACCESS_TOKEN,
  VECTOR_KEY,
  VECTOR_KEY_THUMBPRINT,
} from "./signature_vectors.ts";

const IN_ANY_SHELL = `printf %s "$SIGNING_INPUT" | sha256sum`;

/** The guide. */
export function signaturesGuide({ authUrl }: GuideAddresses): Guide {
  return {
    title: "Signatures",
    lead:
      "One algorithm everywhere: PS256 (RSASSA-PSS, SHA-256, salt of 32 bytes), RSA keys of 2048 to 4096 bits.",
    sections: [
      { id: "checking", title: "How to check yourself", blocks: checking() },
      { id: "client-assertion", title: "Client assertion", blocks: clientAssertion(authUrl) },
      { id: "dpop-proof", title: "DPoP proof", blocks: dpopProof() },
      { id: "profile-a", title: "x-jws-signature, profile A", blocks: profileA() },
      { id: "profile-b", title: "x-jws-signature, profile B", blocks: profileB() },
      { id: "bank-return", title: "Handover JWT", blocks: bankReturn(authUrl) },
    ],
  };
}

function checking(): Block[] {
  return [
    "PS256 is randomised: the same input gives another signature each time. So each example gives the SHA-256 of its signing input, which must be yours to the last bit, and one signature, which must verify with the key below. The times in the examples have passed: the platform would reject them.",
    { about: "Hash a signing input", code: IN_ANY_SHELL },
    { about: "Public key of the examples", code: JSON.stringify(VECTOR_KEY) },
  ];
}

function clientAssertion(authUrl: string): Block[] {
  return [
    `A JWT in \`client_assertion\` of token and pushed authorization requests. \`iss\` and \`sub\` are your \`client_id\`; \`aud\` is the bank’s issuer, ${authUrl}/BANK, as a string and nothing else; \`exp\` at most five minutes ahead; \`jti\` new each time; \`kid\` of your \`sig\` key.`,
    {
      about: "With the jose library",
      code: `const assertion = await new jose.SignJWT({})
  .setProtectedHeader({ alg: "PS256", typ: "JWT", kid })
  .setIssuer(clientId).setSubject(clientId).setAudience(issuer)
  .setIssuedAt().setNotBefore("0s").setExpirationTime("5m")
  .setJti(crypto.randomUUID()).sign(signingKey);`,
    },
    ...worked(CLIENT_ASSERTION),
  ];
}

function dpopProof(): Block[] {
  return [
    `A JWT in the \`DPoP\` header, signed with a key of its own whose public half it carries. \`htm\` and \`htu\` are the request’s method and address without query; \`iat\` at most ${DPOP_MAX_AGE_SECONDS} seconds old; \`jti\` new each time. With an access token also \`ath\`, the base64url SHA-256 of it.`,
    {
      about: "With the jose library",
      code: `const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token));
const proof = await new jose.SignJWT({ htm, htu, ath: jose.base64url.encode(new Uint8Array(hash)) })
  .setProtectedHeader({ alg: "PS256", typ: "dpop+jwt", jwk: { kty, n, e } })
  .setIssuedAt().setJti(crypto.randomUUID()).sign(dpopKey);`,
    },
    {
      terms: [
        ["Access token of the example", `\`${VECTOR_ACCESS_TOKEN}\``],
        ["Thumbprint of the key (`dpop_jkt`)", `\`${VECTOR_KEY_THUMBPRINT}\``],
      ],
    },
    ...worked(DPOP_PROOF),
  ];
}

function profileA(): Block[] {
  return [
    "A detached JWS over the exact bytes of the body: `base64url(header)`, two dots, `base64url(signature)`. In profile A (OBIE v3.1.2) the header says `b64: false` and names it in `crit`, and the body enters the signing input as it is (RFC 7797).",
    {
      about: "With the jose library",
      code: `const jws = await new jose.FlattenedSign(bodyBytes).setProtectedHeader(header)
  .sign(signingKey, { crit: { [iatName]: true, [issName]: true, [tanName]: true } });
const signature = \`\${jws.protected}..\${jws.signature}\`;`,
    },
    ...worked(PAYLOAD_PROFILE_A),
    {
      terms: [
        ["`http://openbanking.org.uk/iat`", "Now, in seconds."],
        ["`http://openbanking.org.uk/iss`", "Who signs: a TPP `org_id/software_id`, a bank its `org_id`."],
        ["`http://openbanking.org.uk/tan`", "The directory’s host."],
      ],
    },
  ];
}

function profileB(): Block[] {
  return [
    "Profile B (OBIE v3.1.4 and later) has no `b64`, and the body enters in base64url. The header alone tells which profile it is; answers come in the profile of the request.",
    ...worked(PAYLOAD_PROFILE_B),
  ];
}

function bankReturn(authUrl: string): Block[] {
  return [
    `Platform and bank exchange customers in nested JWTs: signed first, then encrypted (\`alg\` ${KEY_MANAGEMENT_ALG}, \`enc\` ${CONTENT_ENCRYPTION_ALG}, \`cty\` JWT, \`kid\` of the recipient’s key, no \`zip\`). \`aud\` is ${authUrl} itself, not an issuer. The \`kid\` of the signature is the x5t of the signing certificate.`,
    {
      about: "With the jose library",
      code: `const signed = await new jose.SignJWT(claims)
  .setProtectedHeader({ alg: "PS256", typ: "JWT", kid: x5t }).sign(signingKey);
const sealed = await new jose.CompactEncrypt(new TextEncoder().encode(signed))
  .setProtectedHeader({ alg: "${KEY_MANAGEMENT_ALG}", enc: "${CONTENT_ENCRYPTION_ALG}", cty: "JWT", kid: platformEncKid })
  .encrypt(platformEncKey);`,
    },
    ...worked(BANK_RETURN),
  ];
}

function worked({ header, payload, encoded, sha256, signature }: SignatureVector): Block[] {
  return [
    { about: "Example: header", code: header },
    { about: encoded ? "Example: payload" : "Example: body, in the signing input as it is", code: payload },
    {
      about: "Example: signing input",
      code: `${base64url(header)}.${encoded ? base64url(payload) : payload}`,
    },
    { about: "Example: SHA-256 of the signing input", code: sha256 },
    { about: "Example: a signature", code: signature },
  ];
}

/** The examples are ASCII. */
function base64url(ascii: string): string {
  return btoa(ascii).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
