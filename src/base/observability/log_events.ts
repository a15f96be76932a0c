/** The events that every program logs, and those of a program's listener. */
import type { EventLog, LogEvents } from "./log.ts";

export const BASE_EVENTS = {
  "log.dropped": {
    level: "warn",
    fields: ["lines"],
    meaning: "Standard output did not take lines fast enough, and lines were dropped.",
    act: "The log collector was too slow, or its disk is full.",
  },
  "listener.accept_failed": {
    level: "error",
    fields: ["why", "connections"],
    meaning: "The listener could not accept a connection.",
    act: "The limit of open files. See Limits of connections in deployment.md.",
  },
  "platform.stopping": { level: "info", fields: ["signal"], meaning: "The process was asked to stop." },
  "platform.stopped_late": {
    level: "error",
    fields: ["seconds"],
    meaning: "A request did not end in time, and the process ended.",
  },
  "platform.stopped_at_once": {
    level: "error",
    fields: ["signal"],
    meaning: "A second signal ended the process. Requests in work got no response.",
  },
  "directory.stopping": { level: "info", fields: ["signal"], meaning: "The process was asked to stop." },
  "directory.stopped_late": {
    level: "error",
    fields: ["seconds"],
    meaning: "A request did not end in time, and the process ended.",
  },
  "directory.stopped_at_once": {
    level: "error",
    fields: ["signal"],
    meaning: "A second signal ended the process. Requests in work got no response.",
  },
  "request.answered": {
    level: "info",
    fields: ["interactionId", "method", "path", "status", "milliseconds"],
    meaning: "A request was answered. The query is not logged.",
    act: "Rates of 5xx, of 401 and 429, and times, by path.",
  },
} as const satisfies LogEvents;

/** The log as the base uses it. */
export type Log = Pick<EventLog<typeof BASE_EVENTS>, "info" | "warn" | "error">;
