/** The directory's console: its name, its pages and who may open them. */
import type { ConsoleProgram } from "../../console/program.ts";
import { HOME_PATH } from "../../console/paths.ts";
import type { DirectoryLog } from "../observed/log_events.ts";
import type { RecordAttempt } from "../changes/record_attempt.ts";
import { mayOpen, OWN_PATH, PEOPLE_PATH } from "./people.ts";
import { words } from "./phrase.ts";
import { PROPOSALS_PATH } from "./proposals_page.tsx";

/** The console without its sessions and its way to the administrators' endpoints. */
export function directoryConsole(
  environment: string,
  log: DirectoryLog,
  recordAttempt: RecordAttempt,
): Omit<ConsoleProgram, "sessions" | "call" | "clock"> {
  const operator = { name: undefined, logo: undefined, support: undefined, timeZone: "UTC" };
  return {
    site: { sandbox: environment === "Sandbox", operator },
    product: (language) => words(language, "layout.product"),
    signIn: (language) => words(language, "signIn.title"),
    pages: [
      ["/console", (language) => words(language, "participants.title")],
      [OWN_PATH, (language) => words(language, "own.title")],
      [PROPOSALS_PATH, (language) => words(language, "proposals.title")],
      [PEOPLE_PATH, (language) => words(language, "people.title")],
      ["/console/onboard", (language) => words(language, "change.onboard")],
    ],
    home: ({ organisation }) => organisation === undefined ? HOME_PATH : OWN_PATH,
    may: mayOpen,
    numberOf: (c) => c.get("requestId"),
    log: {
      async signedIn(administrator) {
        log.info("directory.signed_in", { administrator });
        await recordAttempt({ who: administrator, what: "person.signed_in", reason: "at the console" });
      },
      async forbidden(requestId, name, page) {
        log.warn("directory.forbidden", { requestId, name });
        await recordAttempt({ who: name, what: "person.forbidden", reason: page });
      },
      formRejected: (requestId, name) => log.warn("directory.form_rejected", { requestId, name }),
    },
  };
}
