/** The operators' controls: blocks, revocations and outages, and the copy of them that this process keeps. */
import type { BankCode, ClientId } from "../../../base/kernel/identifiers.ts";
import { MAX_PROCESS_SKEW_MS, type WallTime } from "../../../base/kernel/clock.ts";
import { ACCESS_TOKEN_SECONDS } from "../../../base/profile.ts";
import { type AccessToken, issuedAt } from "./access_token.ts";

// Controls that operators have set: blocked participants, revoked tokens, held banks and planned outages. All of them
// together are one stored object, which each process reads once a second. No I/O.

/** An organisation, with all its software, or one software that may start nothing here (Decision G5). */
export interface Block {
  readonly kind: "organisation" | "software";
  /** `org_id`, which is also a bank's code, or client id. */
  readonly id: string;
  /** Milliseconds. */
  readonly at: WallTime;
  /** `operator <name>`. */
  readonly by: string;
}

/** A client whose access tokens of this time and before are not valid. */
export interface Revocation {
  readonly clientId: ClientId;
  /** Milliseconds. */
  readonly at: WallTime;
}

/** A bank whose orders are not pushed until an operator releases it. Payments are still made. */
export interface BankHold {
  readonly bank: BankCode;
  readonly at: WallTime;
  readonly by: string;
}

/** A time in which a bank takes no requests. */
export interface Outage {
  readonly id: string;
  readonly bank: BankCode;
  /** Milliseconds. */
  readonly from: WallTime;
  readonly until: WallTime;
  /** For TPPs: printable ASCII without `"` and `\`, because OAuth errors carry it (RFC 6749 §5.2). */
  readonly text: string;
  readonly by: string;
}

/** A change of a planned outage, of which TPPs are told (contract EVT18). */
export interface OutageChange extends Omit<Outage, "by"> {
  readonly status: "announced" | "changed" | "withdrawn";
  /** When it was made, milliseconds. */
  readonly at: WallTime;
  /** Of its entry in the history of the bank, milliseconds. It grows with every change. */
  readonly position: number;
}

export interface Controls {
  readonly blocks: readonly Block[];
  readonly revocations: readonly Revocation[];
  readonly holds: readonly BankHold[];
  readonly outages: readonly Outage[];
}

export const NO_CONTROLS: Controls = { blocks: [], revocations: [], holds: [], outages: [] };

/** The stored object has room for these at their largest. */
export const MAX_CONTROLS: Readonly<Record<keyof Controls, number>> = {
  blocks: 100,
  revocations: 100,
  holds: 50,
  outages: 50,
};

export function isBlocked(
  { blocks }: Controls,
  { clientId, orgId }: { readonly clientId: string; readonly orgId: string },
): boolean {
  return blocks.some(({ kind, id }) => id === (kind === "software" ? clientId : orgId));
}

/** A token counts as issued before the revocation if the clock of the process that issued it may have been ahead. */
export function isRevoked(
  { revocations }: Controls,
  token: Pick<AccessToken, "clientId" | "expiresAt">,
): boolean {
  const at = issuedAt(token) - MAX_PROCESS_SKEW_MS;
  return revocations.some((one) => one.clientId === token.clientId && at <= one.at);
}

/** Returns the outage of the bank that is under way at `now`, milliseconds. */
export function outageAt({ outages }: Controls, bank: BankCode, now: WallTime): Outage | undefined {
  return outages.find((one) => one.bank === bank && one.from <= now && now < one.until);
}

/** Returns the controls without those that have no effect any more at `now`, milliseconds. */
export function inForce(controls: Controls, now: WallTime): Controls {
  return {
    ...controls,
    revocations: controls.revocations.filter(({ at }) =>
      now <= at + ACCESS_TOKEN_SECONDS * 1000 + MAX_PROCESS_SKEW_MS
    ),
    outages: controls.outages.filter(({ until }) => now < until),
  };
}
