/** What the browser routes do with an authorization session, opened once for all of them. */
import type { RequestReads } from "../../../base/store/request_reads.ts";
import { type AdvanceDeps, type AdvanceSession, advanceSession } from "./advance_session.ts";
import { openSessionEnds, type SessionEnds } from "./session_ends.ts";
import type { AuthorizationSession } from "./authorization_session.ts";
import { type ContinueDelivered, continueDelivered } from "./continue_delivered.ts";
import { type InactivePartyDeps, type UrlIfInactive, urlIfInactive } from "./inactive_party.ts";
import { openSessionStanding, type StandingDeps } from "./session_standing.ts";

export type SessionStepDeps = Omit<AdvanceDeps, "standing" | "ends"> & StandingDeps & InactivePartyDeps;

export interface SessionSteps extends SessionEnds {
  readonly prefetch: (session: AuthorizationSession, reads: RequestReads) => void;
  readonly advance: AdvanceSession;
  readonly urlIfInactive: UrlIfInactive;
  readonly continueDelivered: ContinueDelivered;
}

export function openSessionSteps(deps: SessionStepDeps): SessionSteps {
  const standing = openSessionStanding(deps);
  const ends = openSessionEnds({ ...deps, standing });
  const advance = advanceSession({ ...deps, standing, ends });
  const inactive = urlIfInactive(deps);
  return {
    ...ends,
    prefetch: standing.prefetch,
    advance,
    urlIfInactive: inactive,
    continueDelivered: continueDelivered({ ...deps, ...ends, advance, urlIfInactive: inactive }),
  };
}
