/** Stores authorization sessions by correlation id. Each change checks the version that it is based on. */
import { z } from "zod";
import {
  bankCode,
  clientId,
  consentId,
  convertedRecord,
  defineRecord,
  flag,
  instant,
  type MembersOf,
  optional,
  text,
  texts,
} from "../../../base/store/record.ts";
import { payerOf, type StoredPayer, storedPayer, storedPayerSchema } from "../consents/consent_store.ts";
import { BANK_REASON_CODES } from "../../../base/values/reason_codes.ts";
import { authorizationSessionKey } from "../../config/store_keys.ts";
import type { Clock } from "../../../base/kernel/clock.ts";
import type { BankCode } from "../../../base/kernel/identifiers.ts";
import type { Entry, Reader } from "../../../base/store/store.ts";
import type { Transaction } from "../../../base/store/transaction.ts";
import { type AuthorizationSession, keptUntil } from "./authorization_session.ts";

const party = { legalName: text, clientId: text, role: text, registeredSince: instant };

/** The accounts of the payer are stored as in a consent. */
interface StoredSession extends Omit<AuthorizationSession, "payer"> {
  readonly payer?: StoredPayer;
}

const storedRecord = defineRecord<StoredSession>({
  name: "authorization_session",
  keyParts: ["correlation id"],
  what: "An authorization session: the customer's browser from the TPP's link to the return to the TPP.",
  schema: z.looseObject({
    correlationId: text,
    stage: z.enum(["at_bank", "delivered", "deciding", "finished"]),
    clientId,
    bank: bankCode,
    consentId,
    requestHash: text,
    bindingHash: text,
    debtorAccountPresent: flag,
    transactionDigest: optional(text),
    uiLocales: optional(texts),
    payer: optional(storedPayerSchema),
    resultSha256: optional(text),
    result: optional(z.looseObject(
      {
        outcome: z.enum(["success", "failure", "unknown"]),
        statusCode: optional(text),
        isShortOfFunds: flag,
        reasonCode: optional(z.enum(BANK_REASON_CODES)),
        sub: optional(text),
        jws: text,
        key: optional(text),
      } satisfies MembersOf<NonNullable<StoredSession["result"]>>,
    )),
    parties: optional(z.looseObject({
      tpp: z.looseObject(
        { ...party, registrationNumber: optional(text), clientUri: optional(text) } satisfies MembersOf<
          NonNullable<StoredSession["parties"]>["tpp"]
        >,
      ),
      bank: z.looseObject({ code: text, name: text }),
    })),
    expiresAt: instant,
    outcome: optional(z.looseObject(
      { sealed: text, until: instant, accepted: optional(flag) } satisfies MembersOf<
        NonNullable<StoredSession["outcome"]>
      >,
    )),
  }),
  version: 1,
  lifetime: "Expires after 900 s. Kept for 24 h more, for late customers.",
  personalData: "customer",
  retention: "protocol",
  restore: "ended",
});

export const authorizationSessionRecord = convertedRecord(storedRecord, sessionOf, storedSession);

export function findSession(
  from: Reader,
  correlationId: string,
): Promise<Entry<AuthorizationSession> | null> {
  return authorizationSessionRecord.get(from, authorizationSessionKey(correlationId));
}

/** Returns the bank's session, unless the time to keep it has passed: the database may delete it later. */
export async function findKeptSession(
  from: Reader,
  correlationId: string,
  bank: BankCode,
  clock: Clock,
): Promise<AuthorizationSession | undefined> {
  const session = (await findSession(from, correlationId))?.value;
  return session?.bank === bank && clock() < keptUntil(session) ? session : undefined;
}

export function stageSession(tx: Transaction, session: AuthorizationSession): void {
  const key = authorizationSessionKey(session.correlationId);
  authorizationSessionRecord.replace(tx, key, null, session, keptUntil(session));
}

/** Stages a change. Of parallel changes, only one commits. */
export function stageSessionChange(
  tx: Transaction,
  former: Entry<AuthorizationSession>,
  changed: AuthorizationSession,
): void {
  authorizationSessionRecord.replace(tx, former.key, former, changed, keptUntil(changed));
}

function storedSession({ payer, ...session }: AuthorizationSession): StoredSession {
  return payer === undefined ? session : { ...session, payer: storedPayer(payer) };
}

function sessionOf({ payer, ...session }: StoredSession): AuthorizationSession {
  return payer === undefined ? session : { ...session, payer: payerOf(payer) };
}
