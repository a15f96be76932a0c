/** Decodes the onboarding request (Decision E1). Strict, by role; reports all errors at once. */
import { z } from "zod";
import { isReservedName } from "../../base/kernel/identifiers.ts";
import { asOrgId, type OrgId } from "../participants/identifiers.ts";
import type { OnboardingCommand } from "../changes/onboard_participant.ts";
import type { Role } from "../participants/participant.ts";
import { contacts, signingRequestPem, softwareFields, text } from "../participants/participant_fields.ts";
import { type AddressRules, webAddress } from "../participants/web_address.ts";

/** The requests that this deployment accepts. */
export interface OnboardingRules extends AddressRules {
  /** The only `software.environment` that may be onboarded here. */
  readonly environment: string;
}

const ORG_ID_RULE = "must be 2 to 32 letters, digits, - or _";
const orgId = z.string(ORG_ID_RULE).regex(/^[A-Za-z0-9_-]{2,32}$/, ORG_ID_RULE).transform(
  (value, context): OrgId => {
    const id = asOrgId(value);
    if (id !== undefined && !isReservedName(id)) return id;
    const message = id === undefined
      ? ORG_ID_RULE
      : "is a reserved name: it is the first segment of addresses of the platform; choose another one";
    context.addIssue({ code: "custom", message });
    return z.NEVER;
  },
);

/** The body of an onboarding. */
export function onboardingBody(rules: OnboardingRules): z.ZodType<OnboardingCommand> {
  return onboardingWire(rules).transform(asCommand);
}

function onboardingWire(rules: OnboardingRules) {
  const pisp = z.strictObject({
    role: z.literal("PISP"),
    org_id: orgId.optional(),
    ...commonFields("PISP", rules),
    event_notification_uri: webAddress(rules).optional(),
  });
  const aspsp = z.strictObject({
    role: z.literal("ASPSP"),
    org_id: orgId,
    ...commonFields("ASPSP", rules),
    consent_managedby_bank: z.boolean("must be true or false"),
    results_on_back_channel: z.boolean("must be true or false").optional(),
    payment_orders_uri: webAddress(rules).optional(),
  });
  return z.discriminatedUnion("role", [pisp, aspsp], "must be PISP or ASPSP");
}

function commonFields(role: Role, rules: OnboardingRules) {
  return {
    org_name: text(128),
    registration_number: text(64),
    contacts,
    software: z.strictObject({
      ...softwareFields(role, rules),
      environment: z.literal(
        rules.environment,
        `must be ${rules.environment}, the environment of this directory`,
      ),
    }),
    csrs: z.strictObject({
      signing: signingRequestPem,
      transport: signingRequestPem,
      encryption: signingRequestPem.optional(),
    }).optional().meta({ description: "Without them, the participant's people add them (Decision E7)." }),
  };
}

function asCommand(wire: z.infer<ReturnType<typeof onboardingWire>>): OnboardingCommand {
  const { client_name, description, version, client_uri, logo_uri, redirect_uris } = wire.software;
  const bank = wire.role === "ASPSP" ? wire : undefined;
  const eventsUri = wire.role === "PISP" ? wire.event_notification_uri : undefined;
  return {
    ...(wire.org_id === undefined ? {} : { orgId: wire.org_id }),
    orgName: wire.org_name,
    registrationNumber: wire.registration_number,
    role: wire.role,
    contacts: wire.contacts,
    software: {
      clientName: client_name,
      description,
      version,
      clientUri: client_uri,
      logoUri: logo_uri,
      redirectUris: redirect_uris,
      consentManagedByBank: bank?.consent_managedby_bank ?? false,
      resultsOnBackChannel: bank?.results_on_back_channel ?? false,
      ...(bank?.payment_orders_uri === undefined ? {} : { paymentOrdersUri: bank.payment_orders_uri }),
      ...(eventsUri === undefined ? {} : { eventNotificationUri: eventsUri }),
    },
    csrs: wire.csrs ?? {},
  };
}
