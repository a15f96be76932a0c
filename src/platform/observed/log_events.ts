/** The events that the platform logs. docs/operations/log-events.md is generated from them. */
import type { EventLog, LogEvents } from "../../base/observability/log.ts";
import { BASE_EVENTS } from "../../base/observability/log_events.ts";
import { DELIVERIES } from "./delivery_events.ts";
import { CONTROLS, PROPOSALS } from "./operator_events.ts";
import { SECURITY_EVENTS } from "../../base/observability/security_events.ts";

const ALWAYS = "Always.";

const PROCESS = {
  "platform.listening": {
    level: "info",
    fields: ["only", "host", "port", "baseUrl", "authUrl", "operations"],
    meaning: "The process serves, with `only` that part of the platform.",
  },
  "platform.started": {
    level: "info",
    fields: ["baseUrl", "authUrl", "scheduler"],
    meaning: "`deno serve`: the process serves. `scheduler` is `cron` or `timers`.",
  },
  "platform.operator_unnamed": {
    level: "warn",
    fields: ["missing"],
    meaning: "In production: customers cannot see whose pages they are on.",
    act: "Set the variables that `missing` names.",
  },
  "platform.no_signals": {
    level: "warn",
    fields: ["why"],
    meaning: "`deno serve`: the runtime has no signals, and ends the process as it likes.",
  },
  "platform.stopped": { level: "info", fields: [], meaning: "The process has stopped." },
  "platform_keys.renewed": {
    level: "info",
    fields: ["signingKid", "published"],
    meaning: "The keys were read again.",
  },
  "platform_keys.not_renewed": {
    level: "error",
    fields: ["why"],
    meaning: "The reload failed and the old keys are still in use.",
    act: "Act immediately.",
  },
  "wrapping_keys.renewed": {
    level: "info",
    fields: ["wrappedBy", "known"],
    meaning: "The wrapping keys were read again.",
  },
  "wrapping_keys.not_renewed": {
    level: "error",
    fields: ["why"],
    meaning: "The reload of the wrapping keys failed and the old ones are still in use.",
    act: "Act immediately. See Replace the wrapping key in data-keys.md.",
  },
  "work.failed": { level: "error", fields: ["error"], meaning: "A background job failed.", act: ALWAYS },
  "store.failing": {
    level: "error",
    fields: ["why"],
    meaning: "The database cannot be read or written. Requests that write get 503.",
    act: "Act immediately. See If the database fails in database-failures.md.",
  },
  "store.working": {
    level: "warn",
    fields: ["failedSeconds"],
    meaning: "The database can be read and written again.",
  },
  "signer.failing": {
    level: "error",
    fields: ["why"],
    meaning:
      "The signer of PLATFORM_KEYS, or its token, does not answer. Requests that need a signature get 503.",
    act: "Act immediately. See The keys in a token in keys.md.",
  },
  "signer.working": { level: "warn", fields: ["failedSeconds"], meaning: "The signer answers again." },
  "store.restored": {
    level: "warn",
    fields: ["epoch", "copyTakenAt", "banksHeld", "consentsVoided"],
    meaning: "The database is a restored copy.",
    act: "Reconcile the banks. See backup.md.",
  },
  "clock.differs": {
    level: "error",
    fields: ["aheadSeconds"],
    meaning: "This computer's clock differs from the directory's. Negative: it is behind.",
    act: "NTP of this computer or of the directory's. See docs/clocks.md.",
  },
  "clock.agrees": { level: "info", fields: ["aheadSeconds"], meaning: "The clocks agree again." },
  "clock.behind_process": {
    level: ["info", "error"],
    fields: ["seconds"],
    meaning: "The clock of another process on the same database is ahead by this much.",
    act: "Keep both in step with NTP.",
  },
  "clock.stored_ahead": {
    level: ["info", "error"],
    fields: ["seconds"],
    meaning:
      "An order or event is due later than any delay allows: this clock or another process's is or was wrong.",
    act: "Keep the clocks in step with NTP. The message is pushed; its other delays are kept.",
  },
  "clock.behind_store": {
    level: ["info", "error"],
    fields: ["seconds"],
    meaning: "At a start: the clock is behind the time at which the database was last used.",
    act: "NTP of this computer.",
  },
} as const satisfies LogEvents;

const REQUESTS = {
  "request.rejected": {
    level: "info",
    fields: ["interactionId", "reason", "detail"],
    meaning: "A request was rejected, for a reason that the response may not contain.",
    act: "`detail` begins with `contended`: requests that lost eight races in a row.",
  },
  "requests.rejected": {
    level: "warn",
    fields: ["lane", "inWork", "waiting", "rejectedFull", "rejectedLate"],
    meaning: "Too many requests.",
    act: "See Overload in configuration.md.",
  },
  "request.failed": {
    level: "error",
    fields: ["interactionId", "error"],
    meaning: "A fault of the platform, with its stack.",
    act: ALWAYS,
  },
  "bank_return.unusable": {
    level: "warn",
    fields: ["interactionId", "bank", "why"],
    meaning: "A result JWT could not be used.",
    act: "A bank whose results are late, replayed or about another consent.",
  },
} as const satisfies LogEvents;

const BANKS = {
  "bank.state_changed": {
    level: "warn",
    fields: ["bank", "state", "since"],
    meaning: "The state of a bank that everyone sees has changed.",
    act: "A bank that stays `down` or `degraded`: its desk.",
  },
} as const satisfies LogEvents;

const PARTICIPANTS = {
  "participants.keys_unavailable": {
    level: "warn",
    fields: ["url", "why"],
    meaning: "Keys of a participant could not be fetched.",
    act: "The directory. After 900 s, requests of these participants get 503.",
  },
  "participants.status_list_unavailable": {
    level: "warn",
    fields: ["url", "why"],
    meaning: "The status list could not be fetched.",
    act: "The directory. After 900 s, requests of every participant get 503.",
  },
  "participants.key_set_emptied": {
    level: "error",
    fields: ["url"],
    meaning: "The directory publishes no usable keys and does not say why.",
    act: "Look at the directory within 900 s, for which the former keys are used.",
  },
  "participants.status_list_emptied": {
    level: "error",
    fields: ["url"],
    meaning: "The directory lists no participant.",
    act: "Look at the directory within 900 s, for which the former list is used.",
  },
  "participants.copy_not_kept": {
    level: "warn",
    fields: ["name", "error"],
    meaning:
      "A copy of the directory's data was not stored. A restart while the directory is down would lack it.",
    act: "The store.",
  },
  "client.statement_applied": {
    level: "info",
    fields: ["clientId", "issuedAt"],
    meaning: "A new software statement of a client is in use.",
  },
  "client.statement_not_applied": {
    level: "error",
    fields: ["clientId", "why"],
    meaning: "A new software statement could not be used.",
    act: "If this continues for 900 s, requests of the client get 503.",
  },
} as const satisfies LogEvents;

const OPERATORS = {
  "operator.wrong_credential": {
    level: "warn",
    fields: ["interactionId", "credential"],
    meaning: "A request has a wrong operator's token.",
    act: "Many: an attack, or a revoked token in a script.",
  },
  "operator.token_rejected": {
    level: "warn",
    fields: ["why"],
    meaning: "A token of the operators' identity provider is not valid.",
  },
  "operator.provider_unavailable": {
    level: "warn",
    fields: ["issuer", "why"],
    meaning: "The keys of the operators' identity provider could not be fetched.",
    act: "The provider. Operators with tokens of their own are not affected.",
  },
  "operator.signed_in": { level: "info", fields: ["operator"], meaning: "An operator opened the console." },
  "operator.sign_in_rejected": {
    level: "warn",
    fields: ["why"],
    meaning: "A sign-in to the console at the operators' identity provider did not succeed.",
    act: "Often: look at `why`, and at the registration of the console at the provider.",
  },
  "operator.form_rejected": {
    level: "warn",
    fields: ["interactionId", "operator"],
    meaning: "A form of the console without the token of its session. Nothing was changed.",
    act: "Often: another site may send forms in an operator's name.",
  },
  "operator.forbidden": {
    level: "warn",
    fields: ["interactionId", "operator"],
    meaning: "An operator lacks the role for a request.",
  },
} as const satisfies LogEvents;

export const PLATFORM_EVENTS = {
  ...BASE_EVENTS,
  ...PROCESS,
  ...REQUESTS,
  ...BANKS,
  ...PARTICIPANTS,
  ...DELIVERIES,
  ...OPERATORS,
  ...CONTROLS,
  ...PROPOSALS,
  ...SECURITY_EVENTS,
} as const;

/** The platform's log. */
export type Log = EventLog<typeof PLATFORM_EVENTS>;

export type { ControlEvent } from "./operator_events.ts";
