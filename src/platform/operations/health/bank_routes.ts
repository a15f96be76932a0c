/** `GET /banks.json` (contract BH1, BH4): what a TPP's choice of banks needs, for everyone. */
import { keepFor } from "../../../base/kernel/recently_used.ts";
import { createRoute, z } from "@hono/zod-openapi";
import { answerDocument, textDocument } from "../../../base/http/public_document.ts";
import { type Clock, type SteadyClock, wireDateTime } from "../../../base/kernel/clock.ts";
import { LANGUAGES } from "../../../pages/language.ts";
import type { AccountSchemes } from "../../../base/values/account.ts";
import { BANKS_PATH } from "../../config/paths.ts";
import { plannedOutagesSchema, representOutages } from "../../core/oauth/discovery_representation.ts";
import type { BankClient } from "../../core/registration/client.ts";
import { endpoint, type PlatformEndpoint } from "../../guards/http/endpoint.ts";
import { oauthErrors, taggedAnswers } from "../../guards/http/openapi_answers.ts";
import type { Outage } from "../../guards/security/controls_store.ts";
import type { StandingOf } from "../../guards/security/standing.ts";
import { type BankHealth, HEALTH_STATES } from "./bank_health.ts";
import type { CurrentHealth } from "./bank_health_store.ts";

export interface BankRouteDeps {
  readonly authUrl: string;
  readonly listBanks: () => Promise<readonly BankClient[]>;
  readonly standingOf: StandingOf;
  readonly currentHealth: CurrentHealth;
  readonly outagesOf: (bank: BankClient["code"]) => Promise<readonly Outage[]>;
  readonly accountSchemes: AccountSchemes;
  readonly currencies: readonly string[];
  readonly clock: Clock;
  readonly steady: SteadyClock;
}

/** The states are at most 10 s old wherever they are read. */
export const STATE_CACHE = "public, max-age=2";
const BANKS_MAX_AGE_MS = 60_000;

const dateTime = z.string().openapi({ format: "date-time" });

export const bankStateSchema = z.enum(HEALTH_STATES).openapi({
  description:
    "`degraded`: it did not answer half of its last orders or took over a second for half of them, or its orders are held " +
    "back. `down`: it did not answer the last five orders.",
});

const banksSchema = z.strictObject({
  banks: z.array(
    z.strictObject({
      bank: z.string().openapi({ description: "Its code, which paths begin with." }),
      name: z.string(),
      logo_uri: z.url().optional(),
      issuer: z.url(),
      state: bankStateSchema,
      state_since: dateTime.optional().openapi({
        description: "Of a bank that is down: its first failure. Absent if the state was never another one.",
      }),
      planned_outages: plannedOutagesSchema,
      consent_types: z.array(z.enum(["explicit", "implicit"])).openapi({
        description: "`implicit`: you name the account that pays. `explicit`: the customer chooses it.",
      }),
      consent_screen: z.enum(["bank", "platform"]).openapi({
        description: "Who asks the customer to decide.",
      }),
      account_schemes: z.array(z.string()),
      currencies: z.array(z.string()),
      languages: z.array(z.enum(LANGUAGES)).openapi({ description: "Of the platform's pages." }),
    }).openapi("PublicBank"),
  ),
}).openapi("Banks");
type BankOnWire = z.infer<typeof banksSchema>["banks"][number];

const route = createRoute({
  method: "get",
  path: BANKS_PATH,
  tags: ["Operation"],
  operationId: "getBanks",
  summary: "Every bank that takes payments, with its state",
  description:
    "For a choice of banks: the active banks by code. A state is at most 10 s old, and changes of it are events too.",
  security: [],
  responses: { ...taggedAnswers("The banks", banksSchema), ...oauthErrors(405, 500, 503) },
});

export function bankRoutes(deps: BankRouteDeps): readonly PlatformEndpoint[] {
  const banks = keepFor(BANKS_MAX_AGE_MS, deps.steady, deps.listBanks); // however many ask
  return [
    endpoint("oauth", "public", route, [], async (c) => {
      const [known, health] = await Promise.all([banks.get(), deps.currentHealth()]);
      const shown = await Promise.all(known.map((bank) => represent(deps, bank, health.get(bank.code))));
      const body = JSON.stringify({ banks: shown.filter((one) => one !== undefined) });
      return answerDocument(c, await textDocument(body, "application/json"), STATE_CACHE);
    }),
  ];
}

/** Undefined for a bank that may take no payment. */
async function represent(
  { authUrl, standingOf, outagesOf, accountSchemes, currencies }: BankRouteDeps,
  bank: BankClient,
  health: BankHealth | undefined,
): Promise<BankOnWire | undefined> {
  if (await standingOf(bank) !== "active") return undefined;
  return {
    bank: bank.code,
    name: bank.orgName,
    logo_uri: bank.logoUri,
    issuer: `${authUrl}/${bank.code}`,
    state: health?.state ?? "available",
    ...(health === undefined ? {} : { state_since: wireDateTime(health.since) }),
    ...representOutages(await outagesOf(bank.code)),
    consent_types: ["explicit", "implicit"],
    consent_screen: bank.consentManagedByBank ? "bank" : "platform",
    account_schemes: [...accountSchemes.keys()],
    currencies: [...currencies],
    languages: [...LANGUAGES],
  };
}
