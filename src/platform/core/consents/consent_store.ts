/** Stores consents. Each change checks the version that it is based on, so of parallel changes only one commits. */
import { personalDataMember } from "../../evidence/personal_data.ts";
import { z } from "zod";
import { isJsonObject } from "../../../base/kernel/json.ts";
import {
  bankCode,
  clientId,
  consentId,
  convertedRecord,
  count,
  defineRecord,
  instant,
  optional,
  type StoredRecord,
  text,
} from "../../../base/store/record.ts";
import { asConsentId, type ClientId, type ConsentId } from "../../../base/kernel/identifiers.ts";
import { type AuditEvent, record, recordedMembers } from "../../evidence/audit_trail.ts";
import { type EventType, type StatusChange, whyOf } from "../../events/event.ts";
import type { StageEvent } from "../../events/event_store.ts";
import { stageErasure } from "../../evidence/data_keys/erasure_store.ts";
import { consentDeadlineKey, consentErasureKey, consentKey } from "../../config/store_keys.ts";
import type { Entry, Key, Reader, Store } from "../../../base/store/store.ts";
import { check, remove, type Transaction } from "../../../base/store/transaction.ts";
import {
  type AtBank,
  type Consent,
  type ConsentRequest,
  type ConsentStatus,
  deadlineOf,
  type ErasedConsent,
  isNeverAuthorised,
  isSettled,
  minimiseConsent,
  type Payer,
  type PayerAccount,
  reportsToDelete,
  wasAtBank,
} from "./consent.ts";
import {
  listedAmount,
  stageListed,
  stageListedGone,
  stageLookup,
  stageLookupGone,
} from "../../guards/lists/lookup_store.ts";
import { fromWire, type OnWire, toWire } from "../../guards/http/wire_fields.ts";
import { REASON_CODES } from "../../../base/values/reason_codes.ts";

// The form of a consent in the store: what the TPP and the bank sent keeps the names of the API, which never change, so
// that every version reads the records of every other one.

/** A payer with accounts as they are stored. */
export interface StoredPayer extends Omit<Payer, "accounts"> {
  readonly accounts?: OnWire<readonly PayerAccount[]>;
}

export interface StoredConsent extends Omit<Consent, "request" | "payer" | "selectedAccount"> {
  readonly request: {
    readonly Data: OnWire<Omit<ConsentRequest, "risk">>;
    readonly Risk: OnWire<ConsentRequest["risk"]>;
  };
  readonly payer?: StoredPayer;
  readonly selectedAccount?: OnWire<PayerAccount>;
}

export function storedConsent({ request, payer, selectedAccount, ...consent }: Consent): StoredConsent {
  const { risk, ...data } = request;
  return {
    ...consent,
    request: { Data: toWire(data), Risk: toWire(risk) },
    ...(payer === undefined ? {} : { payer: storedPayer(payer) }),
    ...(selectedAccount === undefined ? {} : { selectedAccount: toWire(selectedAccount) }),
  };
}

export function consentOf({ request, payer, selectedAccount, ...consent }: StoredConsent): Consent {
  return {
    ...consent,
    request: { ...fromWire(request.Data), risk: fromWire(request.Risk) },
    ...(payer === undefined ? {} : { payer: payerOf(payer) }),
    ...(selectedAccount === undefined ? {} : { selectedAccount: fromWire(selectedAccount) }),
  };
}

export function storedPayer({ accounts, ...payer }: Payer): StoredPayer {
  return accounts === undefined ? payer : { ...payer, accounts: toWire(accounts) };
}

export function payerOf({ accounts, ...payer }: StoredPayer): Payer {
  return accounts === undefined ? payer : { ...payer, accounts: fromWire(accounts) };
}

const account = z.looseObject({
  SchemeName: text,
  Identification: text,
  Balance: z.optional(text),
  Currency: z.optional(text),
  SecondaryIdentification: z.optional(text),
});

/** Also a part of an authorization session. */
export const storedPayerSchema: z.ZodType<StoredPayer> = z.looseObject({
  sub: text,
  reports: z.array(count),
  accounts: optional(z.array(account)),
});

/** `consent_schema.ts` has checked its contents. */
const request = z.custom<StoredConsent["request"]>((value) =>
  isJsonObject(value) && "Data" in value && "Risk" in value
);

export const consentRecord = convertedRecord(
  defineRecord<StoredConsent>({
    name: "consent",
    keyParts: ["consent id"],
    what: "A consent: the TPP's request, its status, and the account that the customer chose.",
    schema: z.looseObject({
      id: consentId,
      clientId,
      bank: bankCode,
      request,
      status: z.enum(["AwaitingAuthorisation", "Rejected", "Authorized", "Consumed"]),
      statusReasonCode: optional(z.enum(REASON_CODES)),
      createdAt: instant,
      statusUpdatedAt: instant,
      authoriseBy: instant,
      sentToBank: optional(z.literal(true)),
      sessionsAtBank: optional(z.record(text, instant)),
      payer: optional(storedPayerSchema),
      selectedAccount: optional(account),
      personalData: personalDataMember,
      ...recordedMembers,
    }),
    version: 1,
    lifetime: "Personal data: until the case is erased. The rest: as long as its history.",
    personalData: "customer",
    retention: "evidence",
    restore: "voided",
  }),
  consentOf,
  storedConsent,
);

/** The actor of a change, its reason and its evidence, for the history. */
export interface Cause extends Omit<AuditEvent, "at" | "event" | "deleted"> {
  readonly reason: string;
}

export interface ConsentStore {
  find(from: Reader, id: ConsentId): Promise<Entry<Consent> | null>;
  stageCreation(tx: Transaction, consent: Consent, cause: Cause): void;
  /**
   * Stages the changed consent. The commit fails if the consent changed meanwhile.
   *
   * @returns the position of the history entry, milliseconds
   */
  stageChange(tx: Transaction, former: Entry<Consent>, changed: Consent, cause: Cause, at: number): number;
  /**
   * Stages an entry in the consent's history that does not change its status. The commit fails if the consent changed
   * meanwhile.
   *
   * @param factsOf the facts that the entry is about, which follow from the consent as it is stored
   */
  stageNote(
    tx: Transaction,
    id: ConsentId,
    entry: AuditEvent,
    factsOf?: (consent: Consent) => Pick<Consent, "sentToBank" | "sessionsAtBank">,
  ): Promise<void>;
  /** Stages the sessions at the bank, without an entry. The commit fails if the consent changed meanwhile. */
  stageAtBank(tx: Transaction, former: Entry<Consent>, sessions: AtBank): void;
  /** Returns deadlines before `now`, earliest first, after the one given. Their consents may have changed meanwhile. */
  deadlinesBefore(now: number, limit: number, after?: Deadline): Promise<readonly Deadline[]>;
  /** Returns consents whose personal data is due to be deleted, by `now` in milliseconds, earliest first. */
  dueToErase(now: number, limit: number): Promise<readonly Deadline[]>;
  /**
   * Stages the consent without personal data and the deletion of its evidence at these places.
   *
   * @param isLast whether no evidence is left. Then the case's data key is deleted too.
   */
  stageCustomerErased(
    tx: Transaction,
    former: Entry<Consent>,
    changed: ErasedConsent,
    deleted: readonly string[],
    isLast: boolean,
  ): void;
  /** Stages the consent of an erased case, and the entry that says when and why. */
  stageErased(tx: Transaction, former: Entry<Consent>, changed: ErasedConsent, cause: Cause): void;
  /** Whether the deadline is still stored. */
  standsDeadline(from: Reader, deadline: Deadline): Promise<boolean>;
  /** Stages a later time for a deadline of {@link ConsentStore.dueToErase}. `at` is in milliseconds. */
  stageErasureLater(tx: Transaction, deadline: Deadline, at: number): Promise<void>;
  /** Stages the deletion of a deadline. */
  stageDeadlineGone(tx: Transaction, deadline: Deadline): void;
}

/** A time at which a consent may expire. */
export interface Deadline {
  readonly key: Key;
  readonly consentId: ConsentId;
}

/** Keys to prefetch for the consent that a path or a token names. */
export function consentAhead(idText: unknown): readonly Key[] {
  const id = asConsentId(idText);
  return id === undefined ? [] : [consentKey(id)];
}

export const consentDeadlineRecord = defineRecord<ConsentId>({
  name: "consent_deadline",
  keyParts: ["deadline (ms)", "consent id"],
  what: "The id of a consent, by the time at which it expires.",
  schema: consentId,
  version: 1,
  lifetime: "Until the consent changes its status.",
  personalData: "pseudonymous",
  retention: "protocol",
  restore: "follows",
});

export const consentErasureRecord = defineRecord<{ readonly consentId: ConsentId }>({
  name: "consent_erasure",
  keyParts: ["due time (ms)", "consent id"],
  what: "The id of a consent that was never authorised, by the time at which its personal data is deleted.",
  schema: z.looseObject({ consentId }),
  version: 1,
  lifetime: "Until the personal data is deleted.",
  personalData: "pseudonymous",
  retention: "protocol",
  restore: "kept",
});

/** How long the personal data of a consent whose customer never came is kept after its end, milliseconds (contract EN10). */
const KEEP_UNOPENED_MS = 86_400_000;

/**
 * @param keepMs how long the personal data of a consent that was never authorised is kept, milliseconds
 * @param stageEvent stages what the TPP is told of a change
 * @param onSettled runs after a commit by which a consent of the client awaits authorisation no more
 */
export function openConsentStore(
  store: Store,
  keepMs: number,
  stageEvent: StageEvent,
  onSettled: (clientId: ClientId) => void,
): ConsentStore {
  return {
    find: (from, id) => consentRecord.get(from, consentKey(id)),
    stageCreation,
    stageChange(tx, former, changed, cause, at) {
      const deleted = reportsToDelete(former.value, changed);
      const more = deleted.length === 0 ? {} : { deleted };
      const event = { at, event: `consent.${changed.status}`, ...cause, ...more };
      const position = stageRecorded(tx, minimiseConsent(changed), former, event);
      const told = eventOf(former.value, changed, cause, position);
      if (told !== undefined) stageEvent(tx, told); // contract EVT1
      moveDeadline(tx, deadlineOf(former.value), changed);
      if (isNeverAuthorised(former.value, changed)) {
        noteErasureDue(tx, changed.id, at + (changed.sentToBank === true ? keepMs : KEEP_UNOPENED_MS));
      }
      if (isSettled(former.value, changed)) tx.onCommit.push(() => onSettled(changed.clientId));
      return position;
    },
    stageNote,
    stageAtBank,
    deadlinesBefore: (now, limit, after) =>
      dueIn(store, consentDeadlineRecord, (id) => id, now, limit, after),
    dueToErase: (now, limit) => dueIn(store, consentErasureRecord, ({ consentId }) => consentId, now, limit),
    stageCustomerErased,
    stageErased,
    standsDeadline: async (from, { key }) => await from.get(key) !== null,
    async stageErasureLater(tx, { key, consentId }, at) {
      check(tx, key, (await tx.get(key))?.version ?? null);
      remove(tx, key);
      noteErasureDue(tx, consentId, at);
    },
    stageDeadlineGone: (tx, deadline) => remove(tx, deadline.key),
  };
}

const EVENT_TYPES: Partial<Record<ConsentStatus, EventType>> = {
  Authorized: "consent-authorised",
  Rejected: "consent-rejected",
  Consumed: "consent-consumed",
};

/** Returns what the TPP is told of a change of status, or undefined of another change. */
function eventOf(
  former: Consent,
  changed: Consent,
  { actor }: Cause,
  position: number,
): StatusChange | undefined {
  const { id, clientId, bank, status, statusUpdatedAt: at } = changed;
  const type = actor === "clock" ? "consent-expired" : EVENT_TYPES[status]; // only a passed deadline is the clock's doing
  if (type === undefined || status === former.status) return undefined;
  const why = whyOf({ reasonCode: changed.statusReasonCode });
  const change = { type, resource: id, consentId: id, clientId, bank, status, ...why, at, position };
  const isEnd = type === "consent-rejected" || type === "consent-expired";
  return isEnd && wasAtBank(former) ? { ...change, forBank: type } : change; // contract EVT19
}

async function stageNote(
  tx: Transaction,
  id: ConsentId,
  entry: AuditEvent,
  factsOf: Parameters<ConsentStore["stageNote"]>[3] = () => ({}),
): Promise<void> {
  const consent = await consentRecord.get(tx, consentKey(id)); // as stored: a deadline may have passed
  if (consent === null) throw new Error("a history entry without its consent");
  stageRecorded(tx, { ...consent.value, ...factsOf(consent.value) }, consent, entry);
}

function stageAtBank(tx: Transaction, former: Entry<Consent>, sessions: AtBank): void {
  consentRecord.replace(tx, former.key, former, { ...former.value, ...sessions });
}

function moveDeadline(tx: Transaction, before: number | undefined, changed: Consent): void {
  const after = deadlineOf(changed);
  if (before === after) return;
  if (before !== undefined) remove(tx, consentDeadlineKey(before, changed.id));
  if (after !== undefined) consentDeadlineRecord.set(tx, consentDeadlineKey(after, changed.id), changed.id);
}

function noteErasureDue(tx: Transaction, consentId: ConsentId, at: number): void {
  consentErasureRecord.set(tx, consentErasureKey(at, consentId), { consentId });
}

/** Returns the entries of a record whose keys begin with a time before `now`, earliest first. */
async function dueIn<T>(
  store: Store,
  record: StoredRecord<T>,
  idOf: (value: T) => ConsentId,
  now: number,
  limit: number,
  after?: Deadline,
): Promise<readonly Deadline[]> {
  const start = after === undefined ? {} : { after: after.key };
  const entries = await store.list({ prefix: [record.name], ...start, limit });
  return entries.filter(({ key }) => Number(key[1]) <= now).map(record.decode)
    .map(({ key, value }) => ({ key, consentId: idOf(value) }));
}

function stageErased(tx: Transaction, former: Entry<Consent>, changed: ErasedConsent, cause: Cause): void {
  const { at } = changed.personalData;
  stageRecorded(tx, changed, former, { ...cause, at, event: "consent.erased" });
  stageUnlisted(tx, former.value);
}

function stageCustomerErased(
  tx: Transaction,
  former: Entry<Consent>,
  changed: ErasedConsent,
  deleted: readonly string[],
  isLast: boolean,
): void {
  const { at } = changed.personalData;
  const reason = "never authorised; the time to keep its personal data has passed";
  const event = { at, event: "consent.personal_data_deleted", actor: "clock", reason, deleted };
  if (isLast) stageErasure(tx, { consentId: changed.id, actor: "clock", reason, at });
  stageRecorded(tx, changed, former, event);
  stageUnlisted(tx, former.value);
}

/** Removes the entries by which the consent is found: a case without personal data is not found. */
function stageUnlisted(tx: Transaction, former: Consent): void {
  stageListedGone(tx, "consent", former);
  const endToEndId = endToEndIdOf(former);
  if (endToEndId !== undefined) stageLookupGone(tx, "end-to-end id", endToEndId, former);
}

function stageCreation(tx: Transaction, consent: Consent, cause: Cause): void {
  stageRecorded(tx, consent, null, { at: consent.createdAt, event: `consent.${consent.status}`, ...cause });
  moveDeadline(tx, undefined, consent);
  const endToEndId = endToEndIdOf(consent);
  if (endToEndId !== undefined) stageLookup(tx, "end-to-end id", endToEndId, consent);
  stageListed(tx, "consent", consent, listedAmount(consent.request.initiation.instructedAmount));
}

function endToEndIdOf({ request }: Consent): string | undefined {
  return request.initiation.endToEndIdentification;
}

/** Stages the consent and its entry. The commit fails if the consent changed meanwhile. */
function stageRecorded(
  tx: Transaction,
  consent: Consent,
  former: Entry<Consent> | null,
  entry: AuditEvent,
): number {
  const recorded = record(tx, consent.id, former?.value ?? null, entry);
  consentRecord.replace(tx, consentKey(consent.id), former, { ...consent, ...recorded });
  return recorded.recorded;
}
