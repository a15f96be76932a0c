/** Registrations, payments and stopped orders as their participants see them, on the wire. */
import { z } from "@hono/zod-openapi";
import { wireDateTime } from "../../../base/kernel/clock.ts";
import type { Consent, ReadableConsent } from "../../core/consents/consent.ts";
import { type Dispute, DISPUTE_ACTIONS, type DisputeAction, isOverdue } from "../../core/disputes/dispute.ts";
import { disputeData, representStatements } from "../../core/disputes/dispute_representation.ts";
import type { Statement } from "../../core/disputes/read_dispute.ts";
import type { KeySetAge } from "../../core/participants/participant_keys.ts";
import type { Payment, ReadablePayment } from "../../core/payments/payment.ts";
import type { DeadOrder, HeldOrder } from "../../core/payments/payment_order.ts";
import { tppMember, tppName } from "../../guards/http/operation_answers.ts";
import { toWire } from "../../guards/http/wire_fields.ts";
import { glanceSchema } from "../cases/case_representation.ts";
import { partiesOf } from "../disputes/dispute_routes.ts";
import type { Client } from "../../core/registration/client.ts";

const at = z.string().openapi({ format: "date-time" });

export const ownRegistrationSchema = z.strictObject({
  ClientId: z.string(),
  Role: z.enum(["PISP", "ASPSP"]),
  OrganisationId: z.string(),
  OrganisationName: z.string(),
  SoftwareName: z.string(),
  Status: z.string().openapi({
    description:
      "active, suspended, withdrawn or blocked; `unknown` while the directory's list cannot be read.",
  }),
  RedirectUri: z.array(z.string()),
  PaymentOrdersUri: z.string().optional(),
  JwksUri: z.string(),
  KeyCopy: z.strictObject({ AgeSeconds: z.int(), Failing: z.boolean() }).optional().openapi({
    description:
      "The platform's copy of the key set. Absent if this process has none. Over 900 s it is not used.",
  }),
  RegistrationDateTime: at,
  UpdateDateTime: at,
}).openapi("OwnRegistration");

const made = {
  ConsentId: z.uuid(),
  BankId: z.string(),
  Bank: z.string().optional().openapi({ description: "Its name. Absent if its registration was deleted." }),
  ClientId: z.string(),
  Tpp: tppName,
  InstructedAmount: z.strictObject({ Amount: z.string(), Currency: z.string() }),
  Status: z.string(),
  CreationDateTime: at,
  StatusUpdateDateTime: at,
};
export const ownConsentSchema = z.strictObject(made).openapi("OwnConsent");
export const ownPaymentSchema = z.strictObject({ DomesticPaymentId: z.uuid(), ...made }).openapi(
  "OwnPayment",
);

/** Without the payer's account: a TPP learns it from its own API, or not at all. */
export const ownCaseSchema = glanceSchema.omit({ Debtor: true }).openapi("OwnCase");

export const ownOrderSchema = z.strictObject({
  DomesticPaymentId: z.uuid(),
  ConsentId: z.uuid(),
  BankId: z.string(),
  State: z.enum(["dead", "held"]).openapi({ description: "`dead` if it was given up." }),
  CreationDateTime: at,
  StoppedDateTime: at.openapi({ description: "When it was given up, or since when it is held." }),
}).openapi("OwnPaymentOrder");

export const ownDisputeSchema = disputeData.extend({
  BankId: z.string(),
  TppId: z.string(),
  Tpp: tppName,
  IsOverdue: z.boolean(),
  NextAction: z.array(z.enum(DISPUTE_ACTIONS)).openapi({
    description: "The steps that the organisation can take now with `POST /{BANK}/disputes/v1`.",
  }),
}).openapi("OwnDispute");

export type OwnConsent = z.infer<typeof ownConsentSchema>;
export type OwnPayment = z.infer<typeof ownPaymentSchema>;

/** What people read for TPPs, by client id, and for banks, by code. */
type Names = ReadonlyMap<string, string>;

export function representRegistration(
  client: Client,
  status: string,
  copy: KeySetAge | undefined,
): z.infer<typeof ownRegistrationSchema> {
  return {
    ClientId: client.clientId,
    Role: client.role,
    OrganisationId: client.orgId,
    OrganisationName: client.orgName,
    SoftwareName: client.softwareName,
    Status: status,
    RedirectUri: [...client.redirectUris],
    PaymentOrdersUri: client.paymentOrdersUri,
    JwksUri: client.jwksUri,
    ...(copy === undefined
      ? {}
      : { KeyCopy: { AgeSeconds: Math.round(copy.seconds), Failing: copy.failing } }),
    RegistrationDateTime: wireDateTime(client.registeredAt),
    UpdateDateTime: wireDateTime(client.updatedAt),
  };
}

export function representOwnDispute(
  dispute: Dispute,
  { statements, actions, now, names }: {
    readonly statements: readonly Statement[];
    readonly actions: readonly DisputeAction[];
    readonly now: number;
    readonly names: Names;
  },
): z.infer<typeof ownDisputeSchema> {
  return {
    ...representStatements(dispute, statements),
    ...partiesOf(dispute, names),
    IsOverdue: isOverdue(dispute, now),
    NextAction: [...actions],
  };
}

export function representOwnConsent(consent: ReadableConsent, names: Names): OwnConsent {
  const { instructedAmount } = consent.request.initiation;
  return { ConsentId: consent.id, ...representMade(consent, instructedAmount, names) };
}

export function representPayment(payment: ReadablePayment, names: Names): OwnPayment {
  const { id, consentId, initiation: { instructedAmount } } = payment;
  return { DomesticPaymentId: id, ConsentId: consentId, ...representMade(payment, instructedAmount, names) };
}

function representMade(
  made: Consent | Payment,
  instructedAmount: ReadablePayment["initiation"]["instructedAmount"],
  names: Names,
): Omit<OwnConsent, "ConsentId"> {
  const bank = names.get(made.bank);
  return {
    BankId: made.bank,
    Bank: bank,
    ClientId: made.clientId,
    ...tppMember(names, made.clientId),
    InstructedAmount: toWire(instructedAmount),
    Status: made.status,
    CreationDateTime: wireDateTime(made.createdAt),
    StatusUpdateDateTime: wireDateTime(made.statusUpdatedAt),
  };
}

/** Without the reasons: they are the operators' texts about the bank, and the bank's about its customer. */
export function representOwnOrder(
  order: DeadOrder | HeldOrder,
  payment: Payment,
): z.infer<typeof ownOrderSchema> {
  return {
    DomesticPaymentId: order.paymentId,
    ConsentId: payment.consentId,
    BankId: order.bank,
    State: order.state,
    CreationDateTime: wireDateTime(payment.createdAt),
    StoppedDateTime: wireDateTime(order.state === "dead" ? order.diedAt : order.heldAt),
  };
}
