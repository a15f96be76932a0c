/** The TPP that has its events pushed: joins the system, subscribes, and gathers what was pushed to it. */
import { z } from "zod";
import { decodeJwt } from "jose";
import { grantClientToken } from "../../../src/client/tpp/authorization.ts";
import { pollEvents, subscribeToEvents, type TppEvent, verifyEvent } from "../../../src/client/tpp/events.ts";
import type { PaymentFlow } from "../../../src/client/tpp/payment_journey.ts";
import { openTpp, type Tpp } from "../../../src/client/tpp/tpp.ts";
import { addressesAt } from "../../../src/sandbox/ecosystem/addresses.ts";
import { onboard, participantKeys } from "../../../src/sandbox/ecosystem/onboarding.ts";
import type { ParticipantPlan } from "../../../src/sandbox/ecosystem/participants_plan.ts";
import { registerParticipant } from "../../../src/sandbox/ecosystem/registration.ts";
import { sandboxFiles } from "../../../src/sandbox/ecosystem/sandbox_files.ts";
import { pause, persistently } from "./calls.ts";
import type { PushEvidence } from "./event_checks.ts";
import type { PushReceiver } from "./push_receiver.ts";
import type { ProvedSystem } from "./system.ts";

const NAME = "pushed-shop";
const endpointsSchema = z.object({ directory_admin_token: z.string() });
/** For every event that waits. Retries are up to 10 s apart, and the lease of a killed process has 15 s. */
const WITHIN_MS = 120_000;
const PAUSE_MS = 500;
/**
 * A process that does not know a client fetches the status list again if its last fetch began a second ago. One that began
 * just before the client was listed makes the client inactive for that long.
 */
const KNOWN_EVERYWHERE_MS = 1500;
const MAX_EVENTS = 50;

/** Has the directory take up the TPP, and registers it at the platform. Waits until every process can know it. */
export async function joinPushTpp({ dir, endpoints }: ProvedSystem, { uri }: PushReceiver): Promise<Tpp> {
  const files = sandboxFiles(dir);
  const plan = planOf(uri);
  const { directory_admin_token: adminToken } = endpointsSchema.parse(
    JSON.parse(await Deno.readTextFile(files.endpoints)),
  );
  const access = { directoryUrl: endpoints.directory_url, adminToken };
  await onboard(access, files, plan, await participantKeys(files, plan));
  await registerParticipant(addressesAt(Number(new URL(endpoints.base_url).port)), files, plan);
  await pause(KNOWN_EVERYWHERE_MS);
  return await openTpp({ dir, name: NAME, endpoints, redirectUri: plan.redirectUris[0] ?? "" });
}

function planOf(uri: string): ParticipantPlan {
  const { origin } = new URL(uri);
  return {
    name: NAME,
    orgName: "Pushed Shop",
    registrationNumber: "SANDBOX-0004",
    role: "PISP",
    description: "A shop that has its events pushed",
    homeUrl: origin,
    logoUrl: `${origin}/logo.svg`,
    redirectUris: [`${origin}/callback`],
    eventNotificationUri: uri,
    keys: ["signing", "transport"],
  };
}

/** Subscribes at the bank of each flow. */
export async function subscribeAll(
  system: ProvedSystem,
  flows: readonly PaymentFlow[],
  { uri }: PushReceiver,
): Promise<void> {
  for (const flow of flows) {
    await persistently(system, async () => subscribeToEvents(flow, await grantClientToken(flow), uri));
  }
}

/** Lets the receiver acknowledge everything, waits until no event waits any more, and verifies what came. */
export async function endPushes(
  system: ProvedSystem,
  flows: readonly PaymentFlow[],
  { heal, deliveries }: PushReceiver,
): Promise<PushEvidence & { readonly events: readonly TppEvent[] }> {
  heal();
  const left = await leftAfterWait(system, flows);
  const unverified: string[] = [];
  const events = new Map<string, TppEvent>();
  for (const { token, isStored } of [...deliveries].sort((one, other) => one.begun - other.begun)) {
    try {
      const event = await verifyEvent(flowOf(flows, token), token);
      if (isStored && !events.has(event.jti)) events.set(event.jti, event);
    } catch (error) {
      unverified.push(`a pushed token does not verify: ${error}`);
    }
  }
  return { deliveries: [...deliveries], left, unverified, events: [...events.values()] };
}

/** By the issuer, which is the bank's. */
function flowOf(flows: readonly PaymentFlow[], token: string): PaymentFlow {
  const { iss } = decodeJwt(token);
  const flow = flows.find(({ tpp, bank }) => iss === `${tpp.authUrl}/${bank}`);
  if (flow === undefined) throw new Error(`no bank is ${iss}`);
  return flow;
}

/** A poll returns what is not acknowledged, whatever became of its pushes (contract EVT14). */
async function leftAfterWait(
  system: ProvedSystem,
  flows: readonly PaymentFlow[],
): Promise<readonly string[]> {
  for (const startedAt = Date.now();;) {
    const left: string[] = [];
    for (const flow of flows) {
      const request = { maxEvents: MAX_EVENTS, returnImmediately: true };
      const poll = async (): Promise<readonly TppEvent[]> =>
        (await pollEvents(flow, await grantClientToken(flow), request)).events;
      left.push(...(await persistently(system, poll)).map(({ jti }) => jti));
    }
    if (left.length === 0 || Date.now() - startedAt > WITHIN_MS) return left;
    await pause(PAUSE_MS);
  }
}
