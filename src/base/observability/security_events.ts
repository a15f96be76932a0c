/** The log events of rejections that hint at an attack, at a level of their own. */
import type { SecurityEvent } from "../kernel/api_error.ts";
import type { LogEvents } from "./log.ts";

export const SECURITY_EVENTS = {
  "security.replay": {
    level: "security",
    fields: ["reason", "detail"],
    meaning:
      "A single-use token id (DPoP proof, client assertion, registration or result JWT) was used again.",
    act:
      "A client that repeats requests, or a captured one. Look at the certificate and at other requests of it.",
  },
  "security.code_reuse": {
    level: "security",
    fields: ["reason", "detail"],
    meaning: "An authorization code was redeemed twice. Its token is revoked.",
    act: "Ask the TPP. If it did not repeat the request, the code was captured.",
  },
  "security.certificate_mismatch": {
    level: "security",
    fields: ["reason", "detail"],
    meaning: "The certificate's key is not one of the client that the request names.",
    act: "A stolen token or assertion, or a key that the directory does not list yet.",
  },
  "security.proof_key_mismatch": {
    level: "security",
    fields: ["reason", "detail"],
    meaning: "The DPoP proof is by another key than the one that the token or code is bound to.",
    act: "A stolen token or code, or a client that mixes up its keys.",
  },
  "security.client_not_authenticated": {
    level: "security",
    fields: ["reason", "detail"],
    meaning: "A client assertion was not valid.",
    act: "Many of one certificate: ask the participant.",
  },
  "security.signature_invalid": {
    level: "security",
    fields: ["reason", "detail"],
    meaning: "The signature of a payload does not verify.",
    act: "A changed body, or a client with a wrong key.",
  },
  "security.bank_return_not_authentic": {
    level: "security",
    fields: ["reason", "detail"],
    meaning: "A browser brought a result JWT that is not the bank's.",
    act: "Many of one bank: ask it whether its keys have changed.",
  },
  "security.session_of_another_browser": {
    level: "security",
    fields: ["reason", "detail"],
    meaning: "A browser opened an authorization session that began in another one.",
    act: "A link that was passed on, or an attempt to have another person approve.",
  },
} as const satisfies Readonly<Record<SecurityEvent, LogEvents[string]>>;
