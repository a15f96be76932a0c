/** The events that operators' changes log. */
import type { LogEvents } from "../../base/observability/log.ts";

const changed = (meaning: string) => ({ level: "warn", fields: ["party", "by"], meaning } as const);

const proposed = (
  meaning: string,
) => ({ level: "warn", fields: ["proposal", "path", "by"], meaning } as const);

/** Changes that need two operators. */
export const PROPOSALS = {
  "proposal.made": proposed("An operator has proposed a change that a second one must approve."),
  "proposal.approved": proposed("A second operator has approved a change, which is carried out."),
  "proposal.withdrawn": proposed("A proposed change was withdrawn or declined."),
  "proposal.refused": {
    level: "warn",
    fields: ["proposal", "by"],
    meaning:
      "An operator may not approve this proposal now, such as its proposer. The history has the reason.",
  },
} as const satisfies LogEvents;

/** Changes by operators, which histories name alike. */
export const CONTROLS = {
  "participant.blocked": changed("An operator has blocked a participant."),
  "participant.unblocked": changed("An operator has ended the block of a participant."),
  "participant.tokens_revoked": changed("An operator has revoked the tokens of a client."),
  "bank.held": changed("An operator holds the orders of a bank back."),
  "bank.released": changed("An operator has released the orders of a bank."),
  "bank.inquired": changed("An operator had a bank asked about payments that are not final."),
  "bank.outage_planned": changed("An operator has announced an outage of a bank."),
  "bank.outage_changed": changed("An operator has changed the times or the text of an outage of a bank."),
  "bank.outage_cancelled": changed("An operator has ended or cancelled an outage of a bank."),
} as const satisfies LogEvents;
export type ControlEvent = keyof typeof CONTROLS;
