/** A TPP whose events are pushed to it: subscribes, and answers the pushes as its plan says. */
import type { Entry } from "../../../src/base/store/store.ts";
import type { Line } from "./calls.ts";
import type { Database } from "./database.ts";
import { isDead, pushedEvent } from "./event_watch.ts";
import { redriveEvents } from "./operator.ts";
import type { Incoming, Outgoing } from "./outgoing.ts";
import type { Party } from "./parties.ts";
import type { SimulatedPayment } from "./plan.ts";
import type { Simulation } from "./simulation.ts";
import { callResource } from "./tokens.ts";

const ALL = 100_000;
const REJECTION = { status: 400, body: JSON.stringify({ err: "invalid_request" }) };

/** Subscribes if it is planned. A repetition whose first answer was lost is told that there is a subscription. */
export async function subscribe(
  line: Line,
  who: Party,
  { bank, isSubscriber }: SimulatedPayment,
): Promise<void> {
  if (who.eventNotificationUri === undefined || !isSubscriber) return;
  const body = { Data: { CallbackUrl: who.eventNotificationUri, Version: "4.0" } };
  const path = `/${bank}/event-subscriptions/v1`;
  const { status, text } = await callResource(line, { who, method: "POST", path, body });
  if (status === 201 || status === 409) return;
  line.simulation.violated("nothing valid is rejected", `the subscription was answered ${status} ${text}`);
}

/** Answers a push; undefined: no answer. Only 202 acknowledges, and comes after the event is stored. */
export async function receive(simulation: Simulation, { body }: Incoming): Promise<Outgoing | undefined> {
  const event = pushedEvent(body);
  const random = simulation.random("receiver");
  const away = simulation.fault("receiver away");
  const passed = simulation.passed();
  if (away !== undefined && passed >= away.after && passed < away.after + away.for) return undefined;
  if (simulation.fault("receiver rejects")?.status === event.status) return REJECTION;
  const isFaulty = random.below(1000) < (simulation.fault("receiver faults")?.rate ?? 0);
  const fault = isFaulty ? random.below(7) : undefined;
  if (fault === 0) return { status: 503, body: "" }; // before it has stored anything, as the next two
  if (fault === 1) return REJECTION;
  if (fault === 6) return { status: 200, body: "" };
  await simulation.scheduler.sleep(fault === 2 ? random.below(8000) : random.below(200));
  simulation.events.received(event);
  if (fault === 3) return undefined; // stored, and the platform is not told
  if (fault === 4) return { status: 500, body: "" };
  if (fault === 5) return { status: 429, body: "", headers: { "retry-after": "3" } };
  return { status: 202, body: "" };
}

/** Returns the events that are for a TPP that takes pushes, and have not been acknowledged. */
export function eventsToPush(database: Database): readonly Entry<unknown>[] {
  const owners = subscribers(database);
  if (owners.size === 0) return [];
  return database.list({ prefix: ["event"], limit: ALL }).filter(({ key }) => owners.has(ownerOf(key)));
}

/** Has every event that is dead pushed again. */
export async function redriveDead(line: Line): Promise<void> {
  const dead = eventsToPush(line.simulation.database).filter(isDead);
  for (const owner of new Set(dead.map(({ key }) => ownerOf(key)))) await redriveEvents(line, owner);
}

/** The checks of the events when everything has come to its end. */
export function judgeEvents({ database, events }: Simulation): void {
  const owners = subscribers(database);
  events.judge(database.list({ prefix: ["event"], limit: ALL }), (owner) => owners.has(owner));
}

function subscribers(database: Database): ReadonlySet<string> {
  return new Set(
    database.list({ prefix: ["event_subscription"], limit: ALL }).map(({ key }) => ownerOf(key)),
  );
}

function ownerOf([, client, bank]: readonly string[]): string {
  return `${client} ${bank}`;
}
