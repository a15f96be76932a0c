/**
 * Leads the browser that began a session on after the bank has delivered its result on the back channel (contract
 * ARS5). The step is that of the same result in the customer's return, in the same one commit, and only now a code
 * exists.
 */
import { type Evidence, sharedDocument } from "../../evidence/evidence.ts";
import type { BankClient } from "../registration/client.ts";
import type { AdvanceSession, ChooseStep, SessionVisit } from "./advance_session.ts";
import type { SessionEnds } from "./session_ends.ts";
import type { AuthorizationSession, DeliveredResult } from "./authorization_session.ts";
import type { UrlIfInactive } from "./inactive_party.ts";
import { screenUrl } from "./screen_url.ts";
import { stepAfterResult } from "./step_after_result.ts";

export interface ContinueDeps {
  readonly advance: AdvanceSession;
  readonly urlIfInactive: UrlIfInactive;
  readonly finishedUrl: SessionEnds["finishedUrl"];
  readonly authUrl: string;
}

/**
 * Takes the step and returns the next URL. The visit is that of the browser that began the session.
 *
 * @throws {ApiError} `interaction.*`
 */
export type ContinueDelivered = (
  bank: BankClient,
  session: AuthorizationSession,
  visit: SessionVisit,
) => Promise<string>;

export function continueDelivered(
  { advance, urlIfInactive, finishedUrl, authUrl }: ContinueDeps,
): ContinueDelivered {
  return async (bank, session, { browser, reads, interactionId }) => {
    const { result } = session;
    if (result === undefined) throw new Error("a delivered session has a result");
    const inactive = result.outcome === "success" ? await urlIfInactive(bank, session, reads) : null;
    if (inactive !== null) return inactive; // a failure may still be recorded
    const choose: ChooseStep = (at) =>
      at.session.result === undefined ? "stay" : stepAfterResult(at.session.result, bank, at);
    const evidence = [evidenceOf(result)];
    const taken = await advance(session, choose, { browser, reads, interactionId, evidence });
    if (taken.kind === "over") return await finishedUrl(taken.session, browser);
    return taken.kind === "led" ? taken.url : screenUrl(authUrl, session); // a parallel request was first
  };
}

function evidenceOf({ jws, key }: DeliveredResult): Evidence {
  const bytes = new TextEncoder().encode(jws);
  return { kind: "sca_result", bytes, ...(key === undefined ? {} : { key: sharedDocument(key) }) };
}
