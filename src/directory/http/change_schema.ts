/** Decodes requests that change a participant (Decision E3). Strict; reports all errors at once. */
import { z } from "zod";
import { isCredentialName } from "../../base/http/credentials.ts";
import type { SigningRequests } from "../changes/certify_keys.ts";
import { invalidRequest, schemaFaults } from "../participants/rejections.ts";
import {
  ORGANISATION_STATUSES,
  type OrganisationStatus,
  type Role,
  SOFTWARE_STATUSES,
  type SoftwareStatus,
} from "../participants/participant.ts";
import { reason, signingRequestPem, softwareFields } from "../participants/participant_fields.ts";
import type { SoftwareChanges } from "../changes/renew_statement.ts";
import type { SetStatusCommand } from "../changes/set_status.ts";
import { type AddressRules, oncePerRules, webAddress } from "../participants/web_address.ts";
import { MAX_CERTIFICATION_REPORT_CHARACTERS } from "../../base/limits.ts";

const bankChanges = oncePerRules((rules: AddressRules) =>
  z.strictObject(softwareFields("ASPSP", rules)).partial().extend({
    consent_managedby_bank: z.boolean("must be true or false").optional(),
    results_on_back_channel: z.boolean("must be true or false").optional(),
    payment_orders_uri: webAddress(rules).nullable().optional(),
  })
);

const tppChanges = oncePerRules((rules: AddressRules) =>
  z.strictObject(softwareFields("PISP", rules)).partial().extend({
    event_notification_uri: webAddress(rules).nullable().optional(),
  })
);

/** Changed software members of a renewal; may be empty. @throws {ApiError} `directory.invalid_request` */
export function decodeSoftwareChanges(body: unknown, role: Role, rules: AddressRules): SoftwareChanges {
  const [banks, tpps] = [bankChanges(rules), tppChanges(rules)];
  const wire: Partial<z.infer<typeof banks> & z.infer<typeof tpps>> = role === "ASPSP"
    ? decode(banks, body)
    : decode(tpps, body);
  return {
    clientName: wire.client_name,
    description: wire.description,
    version: wire.version,
    clientUri: wire.client_uri,
    logoUri: wire.logo_uri,
    redirectUris: wire.redirect_uris,
    consentManagedByBank: wire.consent_managedby_bank,
    resultsOnBackChannel: wire.results_on_back_channel,
    paymentOrdersUri: wire.payment_orders_uri,
    eventNotificationUri: wire.event_notification_uri,
  };
}

/** The body of a renewal, with the members that only banks or only TPPs may change. */
export function softwareChangesBody(rules: AddressRules): z.ZodType {
  return bankChanges(rules).extend(tppChanges(rules).pick({ event_notification_uri: true }).shape);
}

/** The body of a request for new certificates. */
export const signingRequestsBody = z.strictObject({
  csrs: z.strictObject({
    signing: signingRequestPem,
    transport: signingRequestPem,
    encryption: signingRequestPem,
  })
    .partial()
    .refine((csrs) => Object.keys(csrs).length > 0, "must have a signing, transport or encryption request"),
});

/** Signing requests for new certificates, at least one. @throws {ApiError} `directory.invalid_request` */
export function decodeSigningRequests(body: unknown): SigningRequests {
  return decode(signingRequestsBody, body).csrs;
}

/** The body of a revocation. */
export const revocationBody = z.strictObject({ reason });

/** The reason of a revocation. @throws {ApiError} `directory.invalid_request` */
export function decodeRevocation(body: unknown): { readonly reason: string } {
  return decode(revocationBody, body);
}

/** The body that sets a software status. */
export const softwareStatusBody = z.strictObject({
  status: z.enum(SOFTWARE_STATUSES, `must be ${SOFTWARE_STATUSES.join(", ")}`),
  reason,
});

/** A software status and the reason. @throws {ApiError} `directory.invalid_request` */
export function decodeSoftwareStatus(body: unknown): SetStatusCommand<SoftwareStatus> {
  return decode(softwareStatusBody, body);
}

/** The body that sets an organisation status. */
export const organisationStatusBody = z.strictObject({
  status: z.enum(ORGANISATION_STATUSES, `must be ${ORGANISATION_STATUSES.join(", ")}`),
  reason,
});

/** An organisation status and the reason. @throws {ApiError} `directory.invalid_request` */
export function decodeOrganisationStatus(body: unknown): SetStatusCommand<OrganisationStatus> {
  return decode(organisationStatusBody, body);
}

/** The body of a request for a login. */
export const loginBody = z.strictObject({
  name: z.string("must be text").refine(
    isCredentialName,
    "must be 1 to 64 letters, digits, . _ @ + or -, beginning with a letter or digit",
  ),
});

/** The name of a person who gets a login. @throws {ApiError} `directory.invalid_request` */
export function decodeLogin(body: unknown): string {
  return decode(loginBody, body).name;
}

/** The body with a certification report. */
export const certificationBody = z.strictObject({
  report: z.string("must be a signed JWT").max(
    MAX_CERTIFICATION_REPORT_CHARACTERS,
    `must have at most ${MAX_CERTIFICATION_REPORT_CHARACTERS} characters`,
  ),
});

/** A certification report that is not verified yet. @throws {ApiError} `directory.invalid_request` */
export function decodeCertification(body: unknown): string {
  return decode(certificationBody, body).report;
}

function decode<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw invalidRequest(schemaFaults(parsed.error));
  return parsed.data;
}
