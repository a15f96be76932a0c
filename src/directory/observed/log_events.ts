/** The events that the directory logs. docs/operations/log-events.md is generated from them. */
import type { EventLog, LogEvents } from "../../base/observability/log.ts";
import { BASE_EVENTS } from "../../base/observability/log_events.ts";

export const DIRECTORY_EVENTS = {
  ...BASE_EVENTS,
  "directory.started": {
    level: "info",
    fields: ["listen", "adminListen", "console", "issuer", "environment"],
    meaning: "The directory serves.",
  },
  "directory.stopped": { level: "info", fields: [], meaning: "The process has stopped." },
  "directory.answered": {
    level: "info",
    fields: ["requestId", "method", "path", "status", "administrator"],
    meaning: "A request was answered.",
  },
  "directory.rejected": {
    level: "info",
    fields: ["requestId", "status", "detail"],
    meaning: "A request was rejected.",
  },
  "directory.failed": {
    level: "error",
    fields: ["requestId", "error"],
    meaning: "A fault of the directory, with its stack.",
    act: "Always.",
  },
  "directory.unavailable": {
    level: "error",
    fields: ["requestId", "detail"],
    meaning: "A request needs a part that does not work now.",
    act: "Always.",
  },
  "directory.wrong_credential": {
    level: "warn",
    fields: ["requestId", "credential"],
    meaning: "A request has a wrong administrator's token.",
    act: "Many: an attack, or a revoked token in a script.",
  },
  "directory.signed_in": {
    level: "info",
    fields: ["administrator"],
    meaning: "An administrator has signed in to the console.",
  },
  "directory.sign_in_rejected": {
    level: "warn",
    fields: ["why"],
    meaning: "A sign-in at the OpenID provider did not succeed.",
    act: "Many: see the console in directory.md.",
  },
  "directory.provider_unavailable": {
    level: "warn",
    fields: ["issuer", "why"],
    meaning: "The OpenID provider cannot be reached, or its metadata cannot be used.",
    act: "If it lasts: nobody can sign in there.",
  },
  "directory.forbidden": {
    level: "warn",
    fields: ["requestId", "name"],
    meaning: "A person without the role of an administrator has opened a page of the console.",
    act: "Many: give the person the role, or ask why.",
  },
  "directory.form_rejected": {
    level: "warn",
    fields: ["requestId", "name"],
    meaning: "A form was sent without the token of its session, such as one of another site.",
    act: "Many: an attack on an administrator's browser.",
  },
  "directory.proposed": {
    level: "warn",
    fields: ["proposal", "administrator"],
    meaning: "An administrator has proposed a change that needs two.",
    act: "Another administrator approves or rejects it within 24 hours.",
  },
  "directory.proposal_approved": {
    level: "warn",
    fields: ["proposal", "administrator"],
    meaning: "An administrator has approved a change, which is made.",
  },
  "directory.proposal_refused": {
    level: "warn",
    fields: ["proposal", "administrator"],
    meaning:
      "The approval of a proposal was refused: one's own, one that is not open, or one that has changed.",
    act: "One's own proposal: ask the administrator why.",
  },
  "directory.history": {
    level: "info",
    fields: ["subject", "sequence", "sha256"],
    meaning: "The newest entry of a history. Keep these lines where nobody of the directory can change them.",
  },
  "directory.history_altered": {
    level: "error",
    fields: ["requestId", "subject"],
    meaning: "The entries of a history do not fit their hashes.",
    act: "Always: somebody has changed the database. Compare it with a backup and with `directory.history`.",
  },
  "directory.proposal_rejected": {
    level: "warn",
    fields: ["proposal", "administrator"],
    meaning: "An administrator has rejected a proposal, or withdrawn an own one.",
  },
  "directory.reminder_sent": {
    level: "info",
    fields: ["orgId", "messageId", "days", "rejectedAddresses"],
    meaning: "The mail server has taken a mail about something that ends.",
  },
  "directory.reminder_not_sent": {
    level: "warn",
    fields: ["orgId", "messageId", "days", "why", "state"],
    meaning:
      "The mail server cannot be reached, or has rejected a mail. It is tried again, unless it is given up.",
    act: "If it lasts: see Mails in directory.md.",
  },
  "directory.reminders_failed": {
    level: "error",
    fields: ["why"],
    meaning: "A pass that sends reminders has ended early. There is another one within an hour.",
    act: "If it repeats.",
  },
  "directory.restored": {
    level: "error",
    fields: ["takenAt"],
    meaning:
      "The database is a restored copy. The directory publishes nothing until an administrator confirms it.",
    act: "See directory.md.",
  },
  "directory.restore_confirmed": {
    level: "warn",
    fields: ["requestId", "administrator"],
    meaning: "An administrator has confirmed the restored copy.",
  },
  "directory.signer_failing": {
    level: "error",
    fields: ["why"],
    meaning:
      "The signer of DIRECTORY_SIGNING_KEYS, or its token, does not answer. No statement is issued: 503.",
    act: "Act immediately. See SignerFailing in runbooks.",
  },
  "directory.signer_working": {
    level: "warn",
    fields: ["failedSeconds"],
    meaning: "The signer answers again.",
  },
  "directory.store_failing": {
    level: "error",
    fields: ["why"],
    meaning: "The database cannot be read or written.",
    act: "Act immediately.",
  },
  "directory.store_working": {
    level: "warn",
    fields: ["failedSeconds"],
    meaning: "The database can be read and written again.",
  },
  "directory.keys_renewed": {
    level: "info",
    fields: ["signingKid", "published"],
    meaning: "The keys were read again.",
  },
  "directory.keys_not_renewed": {
    level: "error",
    fields: ["why"],
    meaning: "The reload failed and the old keys are still in use.",
    act: "Act immediately.",
  },
} as const satisfies LogEvents;

/** The directory's log. */
export type DirectoryLog = Pick<EventLog<typeof DIRECTORY_EVENTS>, "info" | "warn" | "error">;
