/** What the bank reads of a consent (interface "Back-channel consent details"; reference 1.5). */
import { z } from "@hono/zod-openapi";
import type { Consent } from "../consents/consent.ts";
import { bankInitiation } from "../consents/initiation.ts";

const account = z.object({
  SchemeName: z.string(),
  Identification: z.string(),
  Name: z.string().optional(),
  SecondaryIdentification: z.string().optional(),
});

/** Its shape, for the OpenAPI document. */
export const consentDetailsSchema = z.object({
  Data: z.object({
    ReadRefundAccount: z.enum(["Yes", "No"]),
    Initiation: z.object({
      InstructionIdentification: z.string().nullable(),
      EndToEndIdentification: z.string().nullable(),
      InstructedAmount: z.object({ Amount: z.string(), Currency: z.string() }),
      DebtorAccount: account.optional(),
      CreditorAccount: account,
    }),
    Authorisation: z.object({ AuthorisationType: z.string() }).optional(),
  }),
  Risk: z.object({}),
}).openapi("ConsentDetails");

/** The consent for its bank: the only reader of the payer's name. */
export function representConsentDetails(consent: Consent): object {
  const { ReadRefundAccount, Authorisation, Initiation } = consent.request.Data;
  const type = Authorisation?.AuthorisationType;
  return {
    Data: {
      ReadRefundAccount: ReadRefundAccount ?? "No",
      Initiation: bankInitiation(Initiation),
      ...(type === undefined ? {} : { Authorisation: { AuthorisationType: type } }),
    },
    Risk: consent.request.Risk,
  };
}
