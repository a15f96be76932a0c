/** The responses about consents: to the POST, to the GET, and to the funds confirmation. */
import { z } from "@hono/zod-openapi";
import { CONSENTS_PATH, filledPath } from "../../config/paths.ts";
import { wireDateTime } from "../../../base/kernel/clock.ts";
import type { Consent, ReadableConsent } from "./consent.ts";
import { consentRequestSchema } from "./consent_schema.ts";
import {
  linksOf,
  type ListPage,
  pageData,
  pageLinks,
  representPage,
} from "../../guards/lists/list_representation.ts";
import { reasonCodeSchema, representReasonCode, toWire } from "../../guards/http/wire_fields.ts";
import {
  echoedInitiation,
  echoedInitiationSchema,
  listedInitiation,
  listedInitiationSchema,
  reducedInitiation,
  reducedInitiationSchema,
  wireDateTimeSchema,
} from "./initiation_representation.ts";
import { riskSchema } from "./initiation_schema.ts";

const envelope = {
  Links: z.strictObject({ Self: z.string().openapi({ format: "uri" }) }),
  Meta: z.strictObject({}),
};
const consentData = {
  ConsentId: z.uuid(),
  CreationDateTime: wireDateTimeSchema,
  Status: z.enum(["AwaitingAuthorisation", "Rejected", "Authorized", "Consumed"]),
  StatusReasonCode: reasonCodeSchema,
  StatusUpdateDateTime: wireDateTimeSchema,
};
const { ReadRefundAccount, Authorisation, SCASupportData } = consentRequestSchema.shape.Data.shape;

/** Schema of the POST response, for the OpenAPI document. */
export const createdConsentSchema = z.strictObject({
  Data: z.strictObject({
    ...consentData,
    ReadRefundAccount,
    Initiation: echoedInitiationSchema,
    Authorisation,
    SCASupportData,
  }),
  Risk: riskSchema,
  ...envelope,
}).openapi("CreatedConsent");

/** Schema of the GET response, for the OpenAPI document. */
export const consentSchema = z.strictObject({
  Data: z.strictObject({ ...consentData, Initiation: reducedInitiationSchema }),
  Risk: riskSchema,
  ...envelope,
}).openapi("Consent");

const listedConsent = z.strictObject({ ...consentData, ...listedInitiationSchema }).openapi("ListedConsent");

/** Schema of a list, for the OpenAPI document. */
export const consentsSchema = z.strictObject({
  Data: z.strictObject({ Consent: z.array(listedConsent), ...pageData }),
  ...envelope,
  Links: pageLinks,
}).openapi("Consents");

/** Schema of the funds confirmation, for the OpenAPI document. */
export const fundsConfirmationSchema = z.strictObject({
  Data: z.strictObject({
    FundsAvailableResult: z.strictObject({
      FundsAvailableDateTime: wireDateTimeSchema,
      FundsAvailable: z.boolean(),
    }).optional().openapi({ description: "Absent if no balance in the payment's currency is known." }),
  }),
  ...envelope,
}).openapi("FundsConfirmation");

/** Returns the consent's URL, built from configuration (Decision A6). */
export function consentUrl(baseUrl: string, consent: Consent): string {
  return `${baseUrl}${filledPath(CONSENTS_PATH, consent)}/${consent.id}`;
}

/** The POST response: the request's own data without the payer's name, postal address and mobile number. */
export function representCreated(consent: ReadableConsent, baseUrl: string): object {
  const { readRefundAccount, authorisation, scaSupportData, initiation, risk } = consent.request;
  return {
    Data: {
      ...statusOf(consent),
      ...(readRefundAccount === undefined ? {} : { ReadRefundAccount: readRefundAccount }),
      Initiation: echoedInitiation(initiation),
      ...toWire({
        ...(authorisation === undefined ? {} : { authorisation }),
        ...(scaSupportData === undefined ? {} : { scaSupportData }),
      }),
    },
    Risk: toWire(risk),
    Links: { Self: consentUrl(baseUrl, consent) },
    Meta: {},
  };
}

export function representConsent(consent: ReadableConsent, baseUrl: string): object {
  return {
    Data: { ...statusOf(consent), Initiation: reducedInitiation(consent.request.initiation) },
    Risk: toWire(consent.request.risk),
    Links: { Self: consentUrl(baseUrl, consent) },
    Meta: {},
  };
}

export function representConsents(
  page: ListPage<ReadableConsent>,
  url: string,
  query: Readonly<Record<string, readonly string[]>>,
): object {
  const listed = page.found.map((consent) => {
    return { ...statusOf(consent), ...listedInitiation(consent.request.initiation) };
  });
  return { Data: { Consent: listed, ...representPage(page) }, Links: linksOf(url, query, page), Meta: {} };
}

/** The funds confirmation. The result is omitted if no balance is known (Decision C8). */
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
    ...representReasonCode(consent),
    StatusUpdateDateTime: wireDateTime(consent.statusUpdatedAt),
  };
}
