/** Stores the controls that operators have set, and the place of the newest entry in each controlled party's history. */
import { z } from "zod";
import { defineRecord } from "../../../base/store/record.ts";
import { bankCode, clientId, instant, text } from "../../../base/store/record_fields.ts";
import type { Entry, Reader } from "../../../base/store/store.ts";
import { check, type Transaction } from "../../../base/store/transaction.ts";
import { type AuditEvent, record, type Recorded, recordedMembers } from "../../evidence/audit_trail.ts";
import { controlledPartyKey, CONTROLS_KEY } from "../../config/store_keys.ts";
import {
  type Controls,
  inForce,
  isBlocked,
  isRevoked,
  NO_CONTROLS,
  type Outage,
  outageAt,
} from "./controls.ts";
import type { BankCode } from "../../../base/kernel/identifiers.ts";
import type { Clock, SteadyClock } from "../../../base/kernel/clock.ts";
import type { FindAccessToken } from "./access_token.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import type { StandingOf } from "./standing.ts";

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
    "The place of the newest entry in a history without another record: of a party that operators have controlled, of an operator, or of what retention has deleted.",
  schema: z.looseObject(recordedMembers),
  version: 1,
  lifetime: "Kept.",
  personalData: "none",
  retention: "register",
  restore: "kept",
});

export interface ControlsStore {
  read(from: Reader): Promise<Entry<Controls> | null>;
  /** Stages the changed controls. Of parallel changes only one commits. */
  stageChange(tx: Transaction, former: Entry<Controls> | null, changed: Controls): void;
  /** Stages an entry in the history of `subject`. Returns its place in the history. */
  stageEvent(tx: Transaction, subject: string, event: AuditEvent): Promise<Required<Recorded>>;
}

export function openControlsStore(): ControlsStore {
  return {
    read: (from) => controlsRecord.get(from, CONTROLS_KEY),
    stageChange(tx, former, changed) {
      check(tx, CONTROLS_KEY, former?.version ?? null);
      controlsRecord.set(tx, CONTROLS_KEY, { ...former?.value, ...changed });
    },
    async stageEvent(tx, subject, event) {
      const key = controlledPartyKey(subject);
      const former = await controlledPartyRecord.get(tx, key);
      check(tx, key, former?.version ?? null);
      const recorded = record(tx, subject, former?.value ?? null, event);
      controlledPartyRecord.set(tx, key, recorded);
      return recorded;
    },
  };
}

/** Returns the controls of an entry. */
export function controlsIn(entry: Entry<Controls> | null): Controls {
  return entry?.value ?? NO_CONTROLS;
}

// The controls as this process knows them: a copy that is at most a second old when a request uses it, so that a control
// is effective on every process within two seconds.

export interface CurrentControls {
  /** @throws {ApiError} `store.unavailable` if the copy is too old and the store fails */
  get(): Promise<Controls>;
  /** Makes the next `get` read the store, after a change of this process. */
  forget(): void;
}

const MAX_AGE_MS = 1000;

/** Longest `Retry-After` of an outage. */
const MAX_RETRY_SECONDS = 86_400;

/** @param steady the time for the age of the copy */
export function openCurrentControls(
  store: Reader,
  steady: SteadyClock,
  controls: ControlsStore,
): CurrentControls {
  let copy: { readonly at: number; readonly controls: Promise<Controls> } | undefined;
  return {
    get() {
      const now = steady();
      if (copy !== undefined && now - copy.at < MAX_AGE_MS) return copy.controls;
      const read = { at: now, controls: controls.read(store).then(controlsIn) };
      read.controls.catch(() => void (copy === read && (copy = undefined)));
      copy = read;
      return read.controls;
    },
    forget: () => void (copy = undefined),
  };
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
