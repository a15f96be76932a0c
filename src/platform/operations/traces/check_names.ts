/** The names of checks in traces, in words. */
/** What each check of a participant's or a customer's request examines. */
export const CHECKS = {
  accessToken: "Access token, its DPoP proof and its certificate",
  activeBank: "The bank is active",
  bank: "The bank in the path",
  bankCode: "The bank in the path",
  bankItself: "The caller is the bank in the path",
  certificate: "Client certificate and its participant",
  clientAuthentication: "Client assertion and DPoP proof",
  codesFirst: "A free place: requests with a code come first",
  decode: "Fields of the body",
  fapiHeaders: "x-fapi headers",
  formBody: "The body is a form",
  idempotency: "x-idempotency-key",
  jsonBody: "The body is JSON",
  jwtBody: "The body is a JWT",
  sealedBody: "The body is an encrypted JWT",
  linkQuery: "Parameters of the link",
  payloadSignature: "x-jws-signature over the body",
  rateLimit: "Rate limit",
  strictJson: "The JSON has no member twice",
} as const;

export type CheckName = keyof typeof CHECKS;
