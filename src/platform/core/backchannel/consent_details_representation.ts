/** A consent for its bank (contract BF1 to BF4). */
import type { ReadableConsent } from "../consents/consent.ts";
import { z } from "@hono/zod-openapi";
import { type OnWire, toWire } from "../../guards/http/wire_fields.ts";
import type { PayerAccountsReport } from "./payer_accounts_schema.ts";
import { bankInitiation, bankInitiationSchema } from "../consents/initiation_representation.ts";
import { riskSchema } from "../consents/initiation_schema.ts";

/** Schema of the response, for the OpenAPI document. */
export const consentDetailsSchema = z.strictObject({
  Data: z.strictObject({
    ReadRefundAccount: z.enum(["Yes", "No"]),
    Initiation: bankInitiationSchema,
    Authorisation: z.strictObject({ AuthorisationType: z.enum(["Any", "Single"]) }).optional(),
  }),
  Risk: riskSchema,
}).openapi("ConsentDetails");

/** Represents the consent for its bank. Only the bank gets the payer's name. */
export function representConsentDetails(consent: ReadableConsent): object {
  const { readRefundAccount, authorisation, initiation, risk } = consent.request;
  const type = authorisation?.authorisationType;
  return {
    Data: {
      ReadRefundAccount: readRefundAccount ?? "No",
      Initiation: bankInitiation(initiation),
      ...(type === undefined ? {} : { Authorisation: { AuthorisationType: type } }),
    },
    Risk: toWire(risk),
  };
}

/** Represents the report as the bank sent it. */
export function representPayerAccounts(report: PayerAccountsReport): { Data: OnWire<PayerAccountsReport> } {
  return { Data: toWire(report) };
}
