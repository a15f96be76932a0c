/** The sandbox's participants, one shop and two banks, with the data that the directory receives about them. */
import type { Addresses } from "./addresses.ts";
import type { KeyPurpose } from "./sandbox_files.ts";
import { merchant } from "../shop/catalogue.ts";

/** One participant before onboarding. */
export interface ParticipantPlan {
  /** Folder name under `participants/`. */
  readonly name: string;
  /** Required for banks, whose `org_id` is their code in every path (Decision A4). */
  readonly orgId?: string;
  readonly orgName: string;
  readonly registrationNumber: string;
  readonly role: "PISP" | "ASPSP";
  readonly description: string;
  readonly homeUrl: string;
  readonly logoUrl: string;
  readonly redirectUris: readonly string[];
  /** Banks only: who shows the consent screen. */
  readonly consentManagedByBank?: boolean;
  readonly resultsOnBackChannel?: boolean;
  /** Banks only: where the platform pushes payment orders (Decision D4). */
  readonly paymentOrdersUri?: string;
  /** TPPs only: where the platform pushes events. */
  readonly eventNotificationUri?: string;
  readonly keys: readonly KeyPurpose[];
}

/** The participants of a sandbox (Decision F2). */
export function participantPlans(addresses: Addresses): readonly ParticipantPlan[] {
  return [shopPlan(addresses), ...bankPlans(addresses)];
}

function shopPlan({ shopUrl }: Addresses): ParticipantPlan {
  return {
    name: "shop",
    orgName: merchant.name,
    registrationNumber: "SANDBOX-0001",
    role: "PISP",
    description: "A shop that takes payments from bank accounts",
    homeUrl: shopUrl,
    logoUrl: `${shopUrl}/assets/shop.svg`,
    redirectUris: [`${shopUrl}/callback`],
    eventNotificationUri: `${shopUrl}/events`,
    keys: ["signing", "transport"],
  };
}

function bankPlans({ banksUrl }: Addresses): readonly ParticipantPlan[] {
  return [
    {
      name: "bank-a",
      orgId: "BANKA",
      orgName: "Bank A",
      registrationNumber: "SANDBOX-0002",
      role: "ASPSP",
      description: "A bank that leaves the consent screen to the platform",
      homeUrl: `${banksUrl}/BANKA`,
      logoUrl: `${banksUrl}/logo.svg`,
      redirectUris: [`${banksUrl}/BANKA/sca`],
      consentManagedByBank: false,
      resultsOnBackChannel: true,
      paymentOrdersUri: `${banksUrl}/BANKA/payment-orders`,
      keys: ["signing", "transport", "encryption"],
    },
    {
      name: "bank-b",
      orgId: "BANKB",
      orgName: "Bank B",
      registrationNumber: "SANDBOX-0003",
      role: "ASPSP",
      description: "A bank with a consent screen of its own",
      homeUrl: `${banksUrl}/BANKB`,
      logoUrl: `${banksUrl}/logo.svg`,
      redirectUris: [`${banksUrl}/BANKB/sca`],
      consentManagedByBank: true,
      resultsOnBackChannel: true,
      paymentOrdersUri: `${banksUrl}/BANKB/payment-orders`,
      // No encryption key: the platform encrypts to its transport key (Decision A10).
      keys: ["signing", "transport"],
    },
  ];
}
