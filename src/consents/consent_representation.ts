/** Consents on the wire: what the POST echoes, what the GET reduces to, and the funds confirmation. */
import { z } from "@hono/zod-openapi";
import { wireDateTime } from "../kernel/clock.ts";
import type { Consent } from "./consent.ts";
import { echoedInitiation, reducedInitiation } from "./initiation.ts";

const envelope = {
  Links: z.object({ Self: z.string() }),
  Meta: z.object({}),
};
const consentData = {
  ConsentId: z.uuid(),
  CreationDateTime: z.string(),
  Status: z.enum(["AwaitingAuthorisation", "Rejected", "Authorized", "Consumed"]),
  StatusUpdateDateTime: z.string(),
};
const account = z.object({
  SchemeName: z.string(),
  Identification: z.string(),
  Name: z.string().optional(),
  SecondaryIdentification: z.string().optional(),
});
const reduced = {
  InstructedAmount: z.object({ Amount: z.string(), Currency: z.string() }),
  DebtorAccount: account.optional(),
  CreditorAccount: account,
  RemittanceInformation: z.object({ Unstructured: z.string().optional(), Reference: z.string().optional() })
    .optional(),
};

/** Answer of POST, for the OpenAPI document. */
export const createdConsentSchema = z.object({
  Data: z.object({
    ...consentData,
    ReadRefundAccount: z.string().optional(),
    Initiation: z.object({
      InstructionIdentification: z.string().optional(),
      EndToEndIdentification: z.string().optional(),
      ...reduced,
    }),
    Authorisation: z.object({ AuthorisationType: z.string(), CompletionDateTime: z.string().optional() })
      .optional(),
    SCASupportData: z.object({}).optional(),
  }),
  Risk: z.object({}),
  ...envelope,
}).openapi("CreatedConsent");

/** Answer of GET, for the OpenAPI document. */
export const consentSchema = z.object({
  Data: z.object({ ...consentData, Initiation: z.object(reduced) }),
  Risk: z.object({}),
  ...envelope,
}).openapi("Consent");

/** Answer of the funds confirmation, for the OpenAPI document. */
export const fundsConfirmationSchema = z.object({
  Data: z.object({
    FundsAvailableResult: z.object({ FundsAvailableDateTime: z.string(), FundsAvailable: z.boolean() })
      .optional(),
  }),
  ...envelope,
}).openapi("FundsConfirmation");

/** The consent's address, from configuration (Decision A6). */
export function consentUrl(baseUrl: string, consent: Consent): string {
  return `${baseUrl}/${consent.bank}/domestic-payment-consents/v1/${consent.id}`;
}

/** What POST answers: the request's own data without the payer's name, postal address and mobile number. */
export function representCreated(consent: Consent, baseUrl: string): object {
  const { ReadRefundAccount, Authorisation, SCASupportData, Initiation } = consent.request.Data;
  return {
    Data: {
      ...statusOf(consent),
      ...(ReadRefundAccount === undefined ? {} : { ReadRefundAccount }),
      Initiation: echoedInitiation(Initiation),
      ...(Authorisation === undefined ? {} : { Authorisation }),
      ...(SCASupportData === undefined ? {} : { SCASupportData }),
    },
    Risk: consent.request.Risk,
    Links: { Self: consentUrl(baseUrl, consent) },
    Meta: {},
  };
}

/** What GET answers. */
export function representConsent(consent: Consent, baseUrl: string): object {
  return {
    Data: { ...statusOf(consent), Initiation: reducedInitiation(consent.request.Data.Initiation) },
    Risk: consent.request.Risk,
    Links: { Self: consentUrl(baseUrl, consent) },
    Meta: {},
  };
}

/** What the funds confirmation answers; the result is left out where no balance is known (Decision C8). */
export function representFunds(
  available: boolean | undefined,
  consent: Consent,
  baseUrl: string,
  now: number,
): object {
  const result = { FundsAvailableDateTime: wireDateTime(now), FundsAvailable: available };
  return {
    Data: available === undefined ? {} : { FundsAvailableResult: result },
    Links: { Self: `${consentUrl(baseUrl, consent)}/funds-confirmation` },
    Meta: {},
  };
}

function statusOf(consent: Consent): object {
  return {
    ConsentId: consent.id,
    CreationDateTime: wireDateTime(consent.createdAt),
    Status: consent.status,
    StatusUpdateDateTime: wireDateTime(consent.statusUpdatedAt),
  };
}
