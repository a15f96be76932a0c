/** What the bank reads of a consent (contract BF1 to BF4). */
import { z } from "@hono/zod-openapi";
import type { Consent } from "../consents/consent.ts";
import { bankInitiation } from "../consents/initiation.ts";
import { bankInitiationSchema } from "../consents/initiation_representation.ts";
import { riskSchema } from "../consents/initiation_schema.ts";

/** Its shape, for the OpenAPI document. */
export const consentDetailsSchema = z.strictObject({
  Data: z.strictObject({
    ReadRefundAccount: z.enum(["Yes", "No"]),
    Initiation: bankInitiationSchema,
    Authorisation: z.strictObject({ AuthorisationType: z.enum(["Any", "Single"]) }).optional(),
  }),
  Risk: riskSchema,
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
