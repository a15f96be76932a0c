/** A case at a glance: what the payment is and where it stands, its order, its history and its newest requests (contract OP23). */
import { decide, type Erased, type PersonalData } from "../../evidence/personal_data.ts";
import { z } from "@hono/zod-openapi";
import { wireDateTime } from "../../../base/kernel/clock.ts";
import type { ConsentId } from "../../../base/kernel/identifiers.ts";
import type { Account } from "../../../base/values/account.ts";
import { asOf, type Consent, isImplicit, type ReadableConsent } from "../../core/consents/consent.ts";
import type { ConsentStore } from "../../core/consents/consent_store.ts";
import { openOrderSchema, representOpenOrder } from "../../core/payments/open_order_representation.ts";
import type { OrderOutboxStore } from "../../core/payments/order_outbox_store.ts";
import type { Payment } from "../../core/payments/payment.ts";
import type { PaymentStore } from "../../core/payments/payment_store.ts";
import { type BankClient, type Client, nameOfClient } from "../../core/registration/client.ts";
import type { ClientStore } from "../../core/registration/client_store.ts";
import { type CaseEntry, readCase } from "../../evidence/read_case.ts";
import { reasonCodeSchema, representReasonCode, toWire } from "../../guards/http/wire_fields.ts";
import { type ErrorUri, representTraceInFull, traceSchema } from "../traces/trace_representation.ts";
import type { TraceStore } from "../traces/trace_store.ts";
import { type BundleDeps, deletionEntry } from "./case_bundle.ts";
import { at, dataSchema } from "../../guards/http/operation_answers.ts";

export interface CaseSummaryDeps extends BundleDeps {
  readonly consents: ConsentStore;
  readonly payments: PaymentStore;
  readonly outbox: Pick<OrderOutboxStore, "find">;
  readonly clients: Pick<ClientStore, "find" | "findBank">;
  readonly traces: Pick<TraceStore, "about">;
  readonly errorUri: ErrorUri;
}

/** Traces of an answer. */
const TRACES = 50;

const account = z.strictObject({
  SchemeName: z.string(),
  Identification: z.string(),
  Name: z.string().optional(),
}).openapi("CaseAccount");
const party = z.strictObject({ Id: z.string(), Name: z.string().optional() }).openapi("CaseParty");

/** Schema of what a payment is and where it stands. */
export const glanceSchema = z.strictObject({
  ConsentId: z.uuid(),
  ConsentStatus: z.string(),
  ConsentCreationDateTime: at,
  DomesticPaymentId: z.uuid().optional(),
  Status: z.string().openapi({ description: "Of the payment, or of the consent before it." }),
  StatusUpdateDateTime: at,
  StatusReasonCode: reasonCodeSchema,
  StatusReason: z.string().optional(),
  InstructedAmount: z.strictObject({ Amount: z.string(), Currency: z.string() }),
  Creditor: account.optional().openapi({ description: "Absent if it was erased." }),
  Debtor: account.optional().openapi({ description: "Absent until it is known, and if it was erased." }),
  EndToEndIdentification: z.string().optional(),
  Reference: z.string().optional(),
  ConsentType: z.enum(["implicit", "explicit"]).optional().openapi({
    description: "`implicit`: the TPP named the account that pays. Absent if it was erased.",
  }),
  Bank: party,
  Tpp: party,
  ErasedDateTime: at.optional().openapi({ description: "When its personal data was erased." }),
});

/** Schema of a case at a glance. */
export const caseSummarySchema = dataSchema({
  Case: glanceSchema.optional().openapi({ description: "Absent if retention has deleted the case." }),
  PaymentOrder: openOrderSchema.optional().openapi({ description: "Until the bank has answered it." }),
  Entry: z.array(
    z.strictObject({
      Subject: z.string(),
      DateTime: at.openapi({ description: "With milliseconds." }),
      Event: z.string(),
      Actor: z.string(),
      ActorName: z.string().optional().openapi({ description: "Of the TPP or the bank." }),
      Reason: z.string().optional(),
      InteractionId: z.string().optional(),
      Evidence: z.array(z.strictObject({ Kind: z.string(), IsDeleted: z.boolean() })),
    }).openapi("CaseHistoryEntry"),
  ).openapi({
    description: "Of the consent and its payment, oldest first, in the order of the bundle's `entries`.",
  }),
  Trace: z.array(traceSchema).openapi({ description: "The newest ones of the TPP about the consent." }),
}).openapi("CaseSummary");

type Summary = z.infer<typeof caseSummarySchema>["Data"];
type Glance = z.infer<typeof glanceSchema>;

/** Returns the summary of a case, or null if it never existed. `id` is the consent's or the payment's. */
export async function caseSummary(
  deps: CaseSummaryDeps,
  id: string,
  consentId: ConsentId | undefined,
): Promise<Summary | null> {
  const file = consentId === undefined ? null : await readCase(deps.store, consentId);
  const consent = file === null ? null : await deps.consents.find(deps.store, file.consentId);
  if (file === null || consent === null) {
    const deletion = await deletionEntry(deps.store, id);
    return deletion === null ? null : { Entry: [representEntry(deletion, new Map())], Trace: [] };
  }
  const { paymentId } = file;
  const [payment, order, tpp, bank, traces] = await Promise.all([
    deps.payments.find(deps.store, paymentId),
    deps.outbox.find(deps.store, paymentId),
    deps.clients.find(deps.store, consent.value.clientId),
    deps.clients.findBank(deps.store, consent.value.bank),
    deps.traces.about(consent.value.clientId, file.consentId),
  ]);
  const names = new Map(tpp === null ? [] : [[tpp.clientId, nameOfClient(tpp)]]);
  return {
    Case: representGlance(asOf(consent.value, deps.clock()), payment?.value, { tpp, bank }),
    ...(order === null || payment === null
      ? {}
      : { PaymentOrder: representOpenOrder({ order: order.value, payment: payment.value, names }) }),
    Entry: file.entries.map((entry) => representEntry(entry, namesOf({ tpp, bank }))),
    Trace: traces.slice(0, TRACES).map((trace) => representTraceInFull(trace, deps.errorUri)),
  };
}

interface Parties {
  readonly tpp: Client | null;
  readonly bank: BankClient | null;
}

/** Returns the names of the parties by the words with which histories name them. */
function namesOf({ tpp, bank }: Parties): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  if (tpp !== null) names.set(tpp.clientId, tpp.orgName);
  if (bank !== null) names.set(bank.clientId, bank.orgName).set(`bank ${bank.code}`, bank.orgName);
  return names;
}

/** Represents a consent and its payment. */
export function representGlance(
  consent: Consent,
  payment: Payment | undefined,
  { tpp, bank }: Parties,
): Glance {
  const { status, statusUpdatedAt } = payment ?? consent;
  const reason = payment?.statusReason;
  const erasure = [consent, payment].flatMap((part) => part?.personalData ?? []).find(isOfCase);
  return {
    ConsentId: consent.id,
    ConsentStatus: consent.status,
    ConsentCreationDateTime: wireDateTime(consent.createdAt),
    ...(payment === undefined ? {} : { DomesticPaymentId: payment.id }),
    Status: status,
    StatusUpdateDateTime: wireDateTime(statusUpdatedAt),
    ...representReasonCode(payment ?? consent),
    StatusReason: reason,
    InstructedAmount: toWire(consent.request.initiation.instructedAmount),
    ...decide(consent, {
      present: (readable) => personal(readable, payment),
      erased: () => ({}),
      lost: () => ({}),
    }),
    Bank: { Id: consent.bank, ...(bank === null ? {} : { Name: bank.orgName }) },
    Tpp: { Id: consent.clientId, ...(tpp === null ? {} : { Name: nameOfClient(tpp) }) },
    ...(erasure === undefined ? {} : { ErasedDateTime: wireDateTime(erasure.at) }),
  };
}

/** Whether the case was erased. A restored copy may not know it, but the data key store does. */
function isOfCase(personalData: PersonalData): personalData is Erased {
  return personalData.state === "erased" && personalData.scope !== "consent";
}

function personal(consent: ReadableConsent, payment: Payment | undefined): Partial<Glance> {
  const { creditorAccount, endToEndIdentification, remittanceInformation, debtorAccount } =
    consent.request.initiation;
  const debtor = payment?.debtorAccount ?? consent.selectedAccount ?? debtorAccount;
  const reference = remittanceInformation?.reference ?? remittanceInformation?.unstructured;
  return {
    Creditor: representAccount(creditorAccount),
    Debtor: debtor && representAccount(debtor),
    EndToEndIdentification: endToEndIdentification,
    Reference: reference,
    ConsentType: isImplicit(consent) ? "implicit" : "explicit",
  };
}

function representAccount({ schemeName, identification, name }: Account): z.infer<typeof account> {
  return {
    SchemeName: schemeName,
    Identification: identification,
    Name: name,
  };
}

function representEntry(
  { subject, entry, items }: CaseEntry,
  names: ReadonlyMap<string, string>,
): Summary["Entry"][number] {
  const { at, event, actor, reason, interactionId } = entry;
  const name = names.get(actor);
  return {
    Subject: subject,
    DateTime: new Date(at).toISOString(),
    Event: event,
    Actor: actor,
    ActorName: name,
    Reason: reason,
    InteractionId: interactionId,
    Evidence: items.map(({ item, body }) => ({ Kind: item.kind, IsDeleted: body === null })),
  };
}
