/** Stores the controls that operators have set, and the place of the newest entry in each controlled party's history. */
import { keepFor, type KeptValue } from "../../../base/kernel/recently_used.ts";
import { z } from "zod";
import { bankCode, clientId, defineRecord, instant, text } from "../../../base/store/record.ts";
import type { Entry, Reader } from "../../../base/store/store.ts";
import type { Transaction } from "../../../base/store/transaction.ts";
import { type AuditEvent, record, type Recorded, recordedMembers } from "../../evidence/audit_trail.ts";
import { controlledPartyKey, CONTROLS_KEY } from "../../config/store_keys.ts";
import type { BankCode, ClientId } from "../../../base/kernel/identifiers.ts";
import {
  type Clock,
  MAX_PROCESS_SKEW_MS,
  type SteadyClock,
  type WallTime,
} from "../../../base/kernel/clock.ts";
import { type AccessToken, type FindAccessToken, issuedAt } from "./access_token.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import type { StandingOf } from "./standing.ts";
import { ACCESS_TOKEN_SECONDS } from "../../../base/profile.ts";

export const controlsRecord = defineRecord<Controls>({
  name: "operator_controls",
  keyParts: [],
  what: "What operators have blocked, revoked, held or announced.",
  schema: z.looseObject({
    blocks: z.array(
      z.looseObject({ kind: z.enum(["organisation", "software"]), id: text, at: instant, by: text }),
    ),
    revocations: z.array(z.looseObject({ clientId, at: instant })),
    holds: z.array(z.looseObject({ bank: bankCode, at: instant, by: text })),
    outages: z.array(
      z.looseObject({ id: text, bank: bankCode, from: instant, until: instant, text, by: text }),
    ),
  }),
  version: 1,
  lifetime: "Kept. Its entries: until an operator ends them, or their time has passed.",
  personalData: "pseudonymous",
  retention: "protocol",
  restore: "kept",
});

export const controlledPartyRecord = defineRecord<Recorded>({
  name: "controlled_party",
  keyParts: ["subject of its history"],
  what:
    "The place of the newest entry in a history without another record: of a party that operators have controlled, of an operator, of a bank's ended holds, or of what retention has deleted.",
  schema: z.looseObject(recordedMembers),
  version: 1,
  lifetime: "Kept.",
  personalData: "none",
  retention: "register",
  restore: "kept",
});

export function readControls(from: Reader): Promise<Entry<Controls> | null> {
  return controlsRecord.get(from, CONTROLS_KEY);
}

/** Stages the changed controls. Of parallel changes only one commits. */
export function stageControls(tx: Transaction, former: Entry<Controls> | null, changed: Controls): void {
  controlsRecord.replace(tx, CONTROLS_KEY, former, { ...former?.value, ...changed });
}

/** Stages an entry in the history of `subject`. Returns its place in the history. */
export async function stageControlEvent(
  tx: Transaction,
  subject: string,
  event: AuditEvent,
): Promise<Required<Recorded>> {
  const key = controlledPartyKey(subject);
  const former = await controlledPartyRecord.get(tx, key);
  const recorded = record(tx, subject, former?.value ?? null, event);
  controlledPartyRecord.replace(tx, key, former, recorded);
  return recorded;
}

/** Returns the controls of an entry. */
export function controlsIn(entry: Entry<Controls> | null): Controls {
  return entry?.value ?? NO_CONTROLS;
}

// The controls as this process knows them: a copy that is at most a second old when a request uses it, so that a control
// is effective on every process within two seconds.

/** `get` throws {ApiError} `store.unavailable` if the copy is too old and the store fails. A change of this process forgets it. */
export type CurrentControls = KeptValue<Controls>;

const MAX_AGE_MS = 1000;

/** Longest `Retry-After` of an outage. */
const MAX_RETRY_SECONDS = 86_400;

/** @param steady the time for the age of the copy */
export function openCurrentControls(store: Reader, steady: SteadyClock): CurrentControls {
  return keepFor(MAX_AGE_MS, steady, () => readControls(store).then(controlsIn));
}

/** The standing of participants with the operator's blocks before the directory's word (Decision G5). */
export function withBlocks(current: CurrentControls, standingOf: StandingOf): StandingOf {
  return async (participant) =>
    isBlocked(await current.get(), participant) ? "blocked" : await standingOf(participant);
}

/** Finds no access token that an operator has revoked. */
export function withoutRevoked(current: CurrentControls, find: FindAccessToken): FindAccessToken {
  return async (from, hash) => {
    const token = await find(from, hash);
    return token !== null && isRevoked(await current.get(), token) ? null : token;
  };
}

/** Rejects requests that would start something at a bank with an outage. */
export type RejectInOutage = (bank: BankCode) => Promise<void>;

/** @param clock the time of outages */
export function rejectInOutage(current: CurrentControls, clock: Clock): RejectInOutage {
  return async (bank) => {
    const outage = outageAt(await current.get(), bank, clock());
    if (outage !== undefined) throw inOutage(outage, clock());
  };
}

/** Returns the outages of a bank that have not ended. */
export function outagesOf(
  current: CurrentControls,
  clock: Clock,
): (bank: BankCode) => Promise<readonly Outage[]> {
  return async (bank) => inForce(await current.get(), clock()).outages.filter((one) => one.bank === bank);
}

function inOutage({ until, text }: Outage, now: number): ApiError {
  const message = `The bank has a planned outage: ${text}`;
  return new ApiError("platform.unavailable", {
    detail: "planned outage of the bank",
    description: message,
    faults: [{ code: "UnexpectedError", message }],
    retryAfterSeconds: Math.min(MAX_RETRY_SECONDS, Math.max(1, Math.ceil((until - now) / 1000))),
  });
}

// The operators' controls: blocks, revocations and outages, and the copy of them that this process keeps.

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

/** Returns the outage of the bank that is under way at `now` (milliseconds); of several, the one that ends last. */
export function outageAt({ outages }: Controls, bank: BankCode, now: WallTime): Outage | undefined {
  return outages.filter((one) => one.bank === bank && one.from <= now && now < one.until)
    .toSorted((one, other) => one.until - other.until).at(-1);
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
