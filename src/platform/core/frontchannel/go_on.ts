/**
 * Leads the browser that began a session on after the bank has delivered its result on the back channel (contract
 * ARS5). The step is that of the same result in the customer's return, in the same one commit, and only now a code
 * exists.
 */
import { type Evidence, sharedDocument } from "../../evidence/evidence.ts";
import type { BankClient } from "../registration/client.ts";
import type { RequestReads } from "../../../base/store/request_reads.ts";
import { advanceSession, type ChooseStep, type StepDeps } from "./advance_session.ts";
import { answeredBefore, whereItLed } from "./after_session.ts";
import type { AuthorizationSession, DeliveredResult } from "./authorization_session.ts";
import type { AskingBrowser } from "./browser_binding.ts";
import { type InactivePartyDeps, wayOutOfInactive } from "./inactive_party.ts";
import { screenUrl } from "./screen_url.ts";
import { stepAfterResult } from "./step_after_result.ts";

interface Visit {
  /** The browser that began the session. */
  readonly browser: AskingBrowser;
  readonly reads: RequestReads;
  readonly interactionId: string;
}

/**
 * Takes the step and returns the next URL.
 *
 * @throws {ApiError} `interaction.*`
 */
export async function goOn(
  deps: StepDeps & InactivePartyDeps,
  bank: BankClient,
  session: AuthorizationSession,
  { browser, reads, interactionId }: Visit,
): Promise<string> {
  const { correlationId, result } = session;
  if (result === undefined) throw new Error("a delivered session has a result");
  const wayOut = result.outcome === "success" ? await wayOutOfInactive(deps, bank, session, reads) : null;
  if (wayOut !== null) return wayOut; // a failure may still be recorded
  const choose: ChooseStep = (at) =>
    at.session.result === undefined ? "stay" : stepAfterResult(at.session.result, bank, at);
  const evidence = [evidenceOf(result)];
  const taken = await advanceSession(deps, correlationId, choose, {
    browser,
    reads,
    interactionId,
    evidence,
  });
  if (taken.kind === "answered") throw await answeredBefore(deps, session, browser, taken.consent);
  if (taken.kind === "over") return await whereItLed(deps, taken.session, browser);
  return taken.kind === "led" ? taken.url : screenUrl(deps.authUrl, session); // a parallel request was first
}

function evidenceOf({ jws, key }: DeliveredResult): Evidence {
  const bytes = new TextEncoder().encode(jws);
  return { kind: "sca_result", bytes, ...(key === undefined ? {} : { key: sharedDocument(key) }) };
}
