/** The data of a consent or payment in responses: its schemas for the OpenAPI document, and what each reader gets. */
import { z } from "@hono/zod-openapi";
import { type OnWire, text, toWire } from "../../guards/http/wire_fields.ts";
import {
  accountFields,
  creditorAccountSchema,
  debtorAccountSchema,
  initiationSchema,
} from "./initiation_schema.ts";
import { type Initiation, withoutName } from "./initiation.ts";

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
const ids = { InstructionIdentification: text(35).optional(), EndToEndIdentification: text(35).optional() };
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

/** In lists of consents and payments, beside their ids and statuses. */
export const listedInitiationSchema = {
  EndToEndIdentification: ids.EndToEndIdentification,
  InstructedAmount,
};

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

/** For the POST of a consent (contract CR2): without the payer's name, address and mobile number. */
export function echoedInitiation(
  initiation: Initiation,
): OnWire<Omit<Initiation, "creditorPostalAddress" | "supplementaryData">> {
  const { instructionIdentification, endToEndIdentification } = initiation;
  return {
    ...toWire({
      ...(instructionIdentification === undefined ? {} : { instructionIdentification }),
      ...(endToEndIdentification === undefined ? {} : { endToEndIdentification }),
    }),
    ...reducedInitiation(initiation),
  };
}

/** For a payment: everything except the payer's name (contract PR3). */
export function paidInitiation(initiation: Initiation): OnWire<Initiation> {
  const { debtorAccount, ...rest } = initiation;
  return toWire(debtorAccount === undefined ? rest : { ...rest, debtorAccount: withoutName(debtorAccount) });
}

/** For the GET of a consent. It has the payer's account only if the TPP named it. */
export function listedInitiation({ endToEndIdentification, instructedAmount }: Initiation): object {
  const id = endToEndIdentification === undefined ? {} : { endToEndIdentification };
  return toWire({ ...id, instructedAmount });
}

export function reducedInitiation(
  { instructedAmount, debtorAccount, creditorAccount, remittanceInformation }: Initiation,
): OnWire<
  Pick<Initiation, "instructedAmount" | "debtorAccount" | "creditorAccount" | "remittanceInformation">
> {
  return toWire({
    instructedAmount,
    ...(debtorAccount === undefined ? {} : { debtorAccount: withoutName(debtorAccount) }),
    creditorAccount,
    ...(remittanceInformation === undefined ? {} : { remittanceInformation }),
  });
}

/** For the bank on the back channel (contract BF2): an absent id is null. Only the bank gets the payer's name. */
export function bankInitiation(initiation: Initiation): z.infer<typeof bankInitiationSchema> {
  const { instructedAmount, debtorAccount, creditorAccount } = initiation;
  return toWire({
    instructionIdentification: initiation.instructionIdentification ?? null,
    endToEndIdentification: initiation.endToEndIdentification ?? null,
    instructedAmount,
    ...(debtorAccount === undefined ? {} : { debtorAccount }),
    creditorAccount,
  });
}
