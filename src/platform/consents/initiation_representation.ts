/** Schemas of the data of a consent or payment in responses, for the OpenAPI document. */
import { z } from "@hono/zod-openapi";
import { text } from "../http/wire_fields.ts";
import { accountFields, creditorAccountSchema, debtorAccountSchema } from "./account_schema.ts";
import { initiationSchema } from "./initiation_schema.ts";

/** A date-time of the platform: `2030-01-31T12:00:00+00:00`. */
export const wireDateTimeSchema = z.string().openapi({
  format: "date-time",
  example: "2030-01-31T12:00:00+00:00",
});

/** The payer's account for a TPP, without the payer's name. */
export const namelessAccountSchema = z.strictObject(accountFields).openapi("AccountWithoutName");

/** The payer's account for the bank. */
export const namedAccountSchema = debtorAccountSchema;

const { InstructedAmount, RemittanceInformation, CreditorPostalAddress, SupplementaryData } =
  initiationSchema.shape;
const ids = {
  InstructionIdentification: text(35).optional(),
  EndToEndIdentification: text(35).optional(),
};
const reduced = {
  InstructedAmount,
  DebtorAccount: namelessAccountSchema.optional(),
  CreditorAccount: creditorAccountSchema,
  RemittanceInformation,
};

/** In the response to the GET of a consent. */
export const reducedInitiationSchema = z.strictObject(reduced).openapi("ConsentInitiation");

/** In the response to the POST of a consent. */
export const echoedInitiationSchema = z.strictObject({ ...ids, ...reduced }).openapi(
  "CreatedConsentInitiation",
);

/** In responses about a payment. */
export const paidInitiationSchema = z.strictObject({
  ...ids,
  ...reduced,
  CreditorPostalAddress,
  SupplementaryData,
}).openapi("PaymentInitiation");

/** In a payment order: all data that the TPP sent. */
export const orderedInitiationSchema = z.strictObject({
  ...ids,
  ...reduced,
  DebtorAccount: namedAccountSchema.optional(),
  CreditorPostalAddress,
  SupplementaryData,
}).openapi("PaymentOrderInitiation");

/** A consent for the bank. An id that the TPP did not send is null. */
export const bankInitiationSchema = z.strictObject({
  InstructionIdentification: text(35).nullable(),
  EndToEndIdentification: text(35).nullable(),
  InstructedAmount,
  DebtorAccount: namedAccountSchema.optional(),
  CreditorAccount: creditorAccountSchema,
}).openapi("ConsentDetailsInitiation");
