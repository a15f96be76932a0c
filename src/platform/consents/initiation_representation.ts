/** The shapes in which answers carry a consent's or a payment's own data, for the OpenAPI document. */
import { z } from "@hono/zod-openapi";
import { text } from "../http/wire_fields.ts";
import { accountFields, creditorAccountSchema, debtorAccountSchema } from "./account_schema.ts";
import { initiationSchema } from "./initiation_schema.ts";

/** A date-time of the platform: `2030-01-31T12:00:00+00:00`. */
export const wireDateTimeSchema = z.string().openapi({
  format: "date-time",
  example: "2030-01-31T12:00:00+00:00",
});

/** The payer's account as a TPP reads it: without the payer's name. */
export const namelessAccountSchema = z.strictObject(accountFields).openapi("AccountWithoutName");

/** The payer's account as the bank reads it. */
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

/** In the answer to the GET of a consent. */
export const reducedInitiationSchema = z.strictObject(reduced).openapi("ConsentInitiation");

/** In the answer to the POST of a consent. */
export const echoedInitiationSchema = z.strictObject({ ...ids, ...reduced }).openapi(
  "CreatedConsentInitiation",
);

/** In the answers about a payment. */
export const paidInitiationSchema = z.strictObject({
  ...ids,
  ...reduced,
  CreditorPostalAddress,
  SupplementaryData,
}).openapi("PaymentInitiation");

/** In a payment order: all that the TPP sent. */
export const orderedInitiationSchema = z.strictObject({
  ...ids,
  ...reduced,
  DebtorAccount: namedAccountSchema.optional(),
  CreditorPostalAddress,
  SupplementaryData,
}).openapi("PaymentOrderInitiation");

/** What the bank reads of a consent: an id that the TPP did not send is null. */
export const bankInitiationSchema = z.strictObject({
  InstructionIdentification: text(35).nullable(),
  EndToEndIdentification: text(35).nullable(),
  InstructedAmount,
  DebtorAccount: namedAccountSchema.optional(),
  CreditorAccount: creditorAccountSchema,
}).openapi("ConsentDetailsInitiation");
