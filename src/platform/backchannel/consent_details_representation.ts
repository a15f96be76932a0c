/** A consent for its bank (contract BF1 to BF4). */
import { z } from "@hono/zod-openapi";
import type { Consent } from "../consents/consent.ts";
import { bankInitiation } from "../consents/initiation.ts";
import { bankInitiationSchema } from "../consents/initiation_representation.ts";
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
