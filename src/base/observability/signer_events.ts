/** The events that the signer logs, one JSON object a line. Names and ids only, never what is signed or decrypted. */
import type { EventLog, LogEvents } from "./log.ts";

export const SIGNER_EVENTS = {
  "signer.listening": {
    level: "info",
    fields: ["socket", "keys"],
    meaning: "The signer serves. It has found so many keys in its tokens.",
  },
  "signer.keys_read": {
    level: "info",
    fields: ["keys"],
    meaning: "A platform has asked for the keys, and the key file was read again.",
  },
  "signer.used": {
    level: "info",
    fields: ["operation", "kid", "status", "milliseconds"],
    meaning:
      "A key was used, or was not: 404 without such a key, 422 for an undecryptable text, 503 without the token.",
    act: "More than the platforms count: another program reaches the socket. 503: see signer.failed.",
  },
  "signer.failed": {
    level: "error",
    fields: ["operation", "why"],
    meaning: "The token has not answered, or has failed.",
    act: "Act immediately. The platform answers 503.",
  },
  "signer.stopped": { level: "info", fields: [], meaning: "The process has stopped." },
} as const satisfies LogEvents;

export type SignerLog = EventLog<typeof SIGNER_EVENTS>;
