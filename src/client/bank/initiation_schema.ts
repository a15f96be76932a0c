/** Reads what an order says of the payment. */
import * as z from "zod/mini";
import type { OrderedInitiation, PayingAccount } from "./initiation.ts";

const nonEmpty = z.string().check(z.minLength(1));
const some = z.optional(nonEmpty);
const accountSchema = z.object({
  SchemeName: nonEmpty,
  Identification: nonEmpty,
  SecondaryIdentification: some,
  Name: some,
});

export const payingAccountSchema: z.ZodMiniType<PayingAccount> = z.extend(accountSchema, { Currency: some });

export const initiationSchema: z.ZodMiniType<OrderedInitiation> = z.object({
  InstructionIdentification: some,
  EndToEndIdentification: some,
  InstructedAmount: z.object({ Amount: nonEmpty, Currency: nonEmpty }),
  DebtorAccount: z.optional(accountSchema),
  CreditorAccount: accountSchema,
  CreditorPostalAddress: z.optional(z.object({
    AddressType: some,
    Department: some,
    SubDepartment: some,
    AddressLine: z.optional(z.array(nonEmpty)),
    StreetName: some,
    BuildingNumber: some,
    PostCode: some,
    TownName: some,
    CountrySubDivision: some,
    Country: some,
  })),
  RemittanceInformation: z.optional(z.object({ Unstructured: some, Reference: some })),
  SupplementaryData: z.optional(z.object({ DebtorMobileNumber: some })),
});
