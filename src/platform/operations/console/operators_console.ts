/** The operators' console: its name, its pages and who may open them. */
import type { Site } from "../../../pages/site.ts";
import type { ConsoleProgram } from "../../../console/program.ts";
import type { Log } from "../../observed/log_events.ts";
import type { RecordAttempt } from "../../guards/security/operator_audit.ts";
import { admits } from "../../guards/security/operation.ts";
import { OPERATION_ROLES } from "../../guards/security/operator_roles.ts";
import { OWN_PATH } from "./console_page.ts";
import { type PlainKey, words } from "./phrase.ts";

const PAGES: readonly (readonly [path: string, title: PlainKey])[] = [
  ["/console", "dashboard.title"],
  ["/console/own", "own.title"],
  ["/console/orders", "orders.title"],
  ["/console/unsettled", "unsettled.title"],
  ["/console/disputes", "disputes.title"],
  ["/console/events", "events.title"],
  ["/console/banks", "banks.title"],
  ["/console/participants", "participants.title"],
  ["/console/proposals", "proposals.title"],
  ["/console/reports", "reports.title"],
  ["/console/keys", "keys.title"],
  ["/console/search", "search.title"],
  ["/console/audit", "audit.title"],
];

/** The console without its sessions and its way to the operations API. */
export function operatorsConsole(
  site: Site,
  log: Log,
  recordAttempt: RecordAttempt,
): Omit<ConsoleProgram, "sessions" | "call" | "clock"> {
  return {
    site,
    product: (language) => words(language, "layout.product"),
    signIn: (language) => words(language, "signIn.title"),
    pages: PAGES.map(([path, title]) => [path, (language) => words(language, title)]),
    home: ({ organisation }) => organisation === undefined ? "/console" : OWN_PATH,
    may: (person, endpoint) => admits(OPERATION_ROLES[endpoint] ?? [], person),
    numberOf: (c) => c.get("interactionId"),
    log: {
      async signedIn(name) {
        log.info("operator.signed_in", { operator: name });
        const reason = "at the console";
        await recordAttempt({ operator: `operator ${name}`, event: "operator.signed_in", reason });
      },
      async forbidden(interactionId, name, page) {
        log.warn("operator.forbidden", { interactionId, operator: name });
        await recordAttempt({ operator: `operator ${name}`, event: "operator.forbidden", reason: page });
      },
      formRejected: (interactionId, operator) =>
        log.warn("operator.form_rejected", { interactionId, operator }),
    },
  };
}
