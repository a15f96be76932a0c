/** TPPs that take pushed events. */
import { decodeJwt } from "jose";
import { type Environment, type EnvironmentOptions, openEnvironment } from "testing/environment.ts";
import { type Polled, verified } from "./poll.ts";
import { CALLBACK, OTHER_CALLBACK, subscribed } from "./subscribing.ts";

/** A request that reached a receiver. */
export interface Received {
  readonly request: Request;
  readonly token: string;
  /** When, milliseconds. */
  readonly at: number;
}

export type ReceiverAnswer = (received: Received) => Response | Promise<Response>;

export interface ReceiverEnvironment extends Environment {
  /** By `event_notification_uri`, in the order of their arrival. */
  readonly received: Received[];
  answer: ReceiverAnswer;
}

/** Both TPPs have a receiver. The TPP has subscribed at bank A. */
export async function openReceiver(
  answer: ReceiverAnswer = acknowledges,
  options: EnvironmentOptions = {},
): Promise<ReceiverEnvironment> {
  const eventNotificationUri = { tpp: CALLBACK, otherTpp: OTHER_CALLBACK };
  const inner = await openEnvironment({ ...options, eventNotificationUri });
  const env: ReceiverEnvironment = Object.assign(inner, { received: [], answer });
  const others = env.network;
  env.network = async (request) => {
    if (![CALLBACK, OTHER_CALLBACK].includes(request.url)) return await others(request);
    const received = { request, token: await request.clone().text(), at: env.now };
    env.received.push(received);
    return await env.answer(received);
  };
  await subscribed(env);
  return env;
}

/** RFC 8935 §2.2. */
export function acknowledges(): Response {
  return new Response(null, { status: 202 });
}

/** RFC 8935 §2.3. */
export function rejects(): ReceiverAnswer {
  return () => Response.json({ err: "invalid_key", description: "No such key." }, { status: 400 });
}

export function away(): Response {
  return new Response("away", { status: 503 });
}

/** The received events, each verified with the platform's published keys. */
export async function receivedEvents(env: ReceiverEnvironment): Promise<readonly Polled[]> {
  return await Promise.all(
    env.received.map(({ token }) => verified(env, String(decodeJwt(token).jti), token)),
  );
}

/** Moves the clock and has the platform push what is due; the number of pushes. */
export async function pushedLater(env: Environment, milliseconds: number): Promise<number> {
  env.now += milliseconds;
  return await env.platform.deliverEvents();
}

/** Sends no response until the platform gives up. */
export function silent({ request: { signal } }: Received): Promise<Response> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
}
