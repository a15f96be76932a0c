/**
 * The form of a consent in the store: what the TPP and the bank sent keeps the names of the API, which never change, so
 * that every version reads the records of every other one.
 */
import { z } from "zod";
import { recordedMembers } from "../../evidence/audit_trail.ts";
import { convertedRecord, defineRecord, optional } from "../../../base/store/record.ts";
import { bankCode, clientId, consentId, count, instant, text } from "../../../base/store/record_fields.ts";
import { fromWire, type OnWire, toWire } from "../../guards/http/wire_names.ts";
import type { Consent, ConsentRequest, Payer, PayerAccount } from "./consent.ts";

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
  report: optional(count),
  accounts: optional(z.array(account)),
});

/** `consent_schema.ts` has checked its contents. */
const request = z.custom<StoredConsent["request"]>((value) => isRequest(value));

function isRequest(value: unknown): boolean {
  return typeof value === "object" && value !== null && "Data" in value && "Risk" in value;
}

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
      createdAt: instant,
      statusUpdatedAt: instant,
      authoriseBy: instant,
      sentToBank: optional(z.literal(true)),
      payer: optional(storedPayerSchema),
      selectedAccount: optional(account),
      forgottenAt: optional(instant),
      erasedAt: optional(instant),
      isLost: optional(z.literal(true)),
      ...recordedMembers,
    }),
    version: 1,
    lifetime: "Personal data: until the case is erased. The rest: as long as its history.",
    personalData: "customer",
    retention: "evidence",
  }),
  consentOf,
  storedConsent,
);
