/** Bodies of requests that change a participant (Decision E3). Strict; all errors are reported at once. */
import { z } from "zod";
import { isCredentialName } from "../../base/http/credentials.ts";
import { ORGANISATION_STATUSES, type Role, SOFTWARE_STATUSES } from "../participants/participant.ts";
import { reason, signingRequestPem, softwareFields } from "../participants/participant_fields.ts";
import type { SoftwareChanges } from "../changes/renew_statement.ts";
import { type AddressRules, webAddress } from "../participants/web_address.ts";
import { MAX_CERTIFICATION_REPORT_CHARACTERS } from "../../base/limits.ts";

/** The body of a renewal with changed software members; may be empty. */
interface SoftwareChangesBody {
  /** With the members that only banks or only TPPs may change, for the document. */
  readonly both: z.ZodType;
  readonly byRole: Readonly<Record<Role, z.ZodType<SoftwareChanges>>>;
}

export function softwareChangesBody(rules: AddressRules): SoftwareChangesBody {
  const { banks, tpps, both } = softwareWire(rules);
  return {
    both,
    byRole: { ASPSP: banks.transform(asSoftwareChanges), PISP: tpps.transform(asSoftwareChanges) },
  };
}

function softwareWire(rules: AddressRules) {
  const banks = z.strictObject(softwareFields("ASPSP", rules)).partial().extend({
    consent_managedby_bank: z.boolean("must be true or false").optional(),
    results_on_back_channel: z.boolean("must be true or false").optional(),
    payment_orders_uri: webAddress(rules).nullable().optional(),
  });
  const tpps = z.strictObject(softwareFields("PISP", rules)).partial().extend({
    event_notification_uri: webAddress(rules).nullable().optional(),
  });
  return { banks, tpps, both: banks.extend(tpps.pick({ event_notification_uri: true }).shape) };
}

function asSoftwareChanges(
  wire: Partial<z.infer<ReturnType<typeof softwareWire>["both"]>>,
): SoftwareChanges {
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

/** Signing requests for new certificates, at least one. */
export const signingRequestsBody = z.strictObject({
  csrs: z.strictObject({
    signing: signingRequestPem,
    transport: signingRequestPem,
    encryption: signingRequestPem,
  })
    .partial()
    .refine((csrs) => Object.keys(csrs).length > 0, "must have a signing, transport or encryption request"),
});

/** Why a key or login is revoked, or a proposal decided. */
export const reasonBody = z.strictObject({ reason });

/** A software status and the reason. */
export const softwareStatusBody = z.strictObject({
  status: z.enum(SOFTWARE_STATUSES, `must be ${SOFTWARE_STATUSES.join(", ")}`),
  reason,
});

/** An organisation status and the reason. */
export const organisationStatusBody = z.strictObject({
  status: z.enum(ORGANISATION_STATUSES, `must be ${ORGANISATION_STATUSES.join(", ")}`),
  reason,
});

/** The name of a person who gets a login. */
export const loginBody = z.strictObject({
  name: z.string("must be text").refine(
    isCredentialName,
    "must be 1 to 64 letters, digits, . _ @ + or -, beginning with a letter or digit",
  ),
});

/** A certification report that is not verified yet. */
export const certificationBody = z.strictObject({
  report: z.string("must be a signed JWT").max(
    MAX_CERTIFICATION_REPORT_CHARACTERS,
    `must have at most ${MAX_CERTIFICATION_REPORT_CHARACTERS} characters`,
  ),
});
