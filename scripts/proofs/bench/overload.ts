/**
 * Overload: one TPP makes payments at a steady pace, first alone, then while another one sends several times what the
 * platform can answer. Every request of the flood is valid and signed beforehand.
 */
import { call, clientToken, createConsent, type FlowEnvironment, good } from "../../testing/flows.ts";
import { BASE_URL, throughProxy } from "../../testing/environment.ts";
import { signJwt } from "../../testing/jwts.ts";
import { onboardOnly, type Participant, registrationClaims } from "../../testing/participants.ts";
import type { ServedEnvironment } from "../../testing/served_environment.ts";
import type { FloodOrder, FloodSeen, ReadyRequest } from "./flood.ts";
import { meet } from "./flows.ts";
import { type RejectionCost, rejectionCost, REQUESTS_NEEDED } from "./rejection_cost.ts";
import { BANK, newFlow, type Parties, requestOf, STEPS } from "./steps.ts";

/** The results of an overload. */
export interface Overload {
  /** Payments made in time, of those that were started: alone, and during the flood. */
  readonly quiet: number;
  readonly overloaded: number;
  readonly started: number;
  /** Flood requests that the platform answers per second without other load. */
  readonly capacity: number;
  readonly flood: FloodSeen;
  readonly rejection: RejectionCost;
}

const TIMES_CAPACITY = 4;
const CONNECTIONS = 300;
const PROBES = 400;
const PROBES_AT_ONCE = 16;
/** A tenth of what two cores make. */
const PAYMENT_EVERY_MS = 500;
/** A payment counts if it is made by so long after the last one was started. */
const GRACE_MS = 5000;
/** Signed at once: what signs shares the computer with the platform. */
const SIGNED_AT_ONCE = 50;

/** Measures it. */
export async function overload(env: ServedEnvironment, seconds: number): Promise<Overload> {
  const parties = await meet(env);
  const flooder = await openFlooder(env);
  const started = Math.ceil((seconds * 1000) / PAYMENT_EVERY_MS);
  await payments(env, parties, started); // warms up
  const quiet = await payments(env, parties, started);
  const probe = await flooder.flood(PROBES, 1_000_000, PROBES_AT_ONCE);
  const capacity = PROBES / probe.seconds;
  const perSecond = capacity * TIMES_CAPACITY;
  const requests = await flooder.prepare(perSecond * seconds);
  const flooding = flood({ requests, perSecond, connections: CONNECTIONS });
  const overloaded = await payments(env, parties, started);
  const seen = await flooding;
  const rejection = await rejectionCost(
    env.process.pid,
    await flooder.prepare(REQUESTS_NEEDED, REQUESTS_NEEDED),
  );
  return { quiet, overloaded, started, capacity, flood: seen, rejection };
}

/** Starts payments at their pace; how many are made in time. */
async function payments(env: FlowEnvironment, parties: Parties, count: number): Promise<number> {
  let made = 0;
  for (let n = 0; n < count; n++) {
    void onePayment(env, parties).then((paid) => made += paid ? 1 : 0, () => {});
    await new Promise((resolve) => setTimeout(resolve, PAYMENT_EVERY_MS));
  }
  await new Promise((resolve) => setTimeout(resolve, GRACE_MS));
  return made;
}

async function onePayment(env: FlowEnvironment, parties: Parties): Promise<boolean> {
  const flow = newFlow(env);
  for (const step of STEPS) {
    const { status, headers, body } = await env.api(await requestOf(step, flow, parties));
    const text = await new Response(body).text();
    if (status !== step.status) return false;
    await step.take?.(flow, new Response(text === "" ? null : text, { status, headers }));
  }
  return true;
}

/** A participant of its own. */
export interface Flooder {
  /** Signs so many requests, which read so many consents in turn; default 1. */
  prepare(count: number, consents?: number): Promise<readonly ReadyRequest[]>;
  flood(count: number, perSecond: number, connections: number): Promise<FloodSeen>;
}

/** Registers it. */
export async function openFlooder(env: ServedEnvironment): Promise<Flooder> {
  const tpp = await joined(env);
  const own: FlowEnvironment = Object.assign(Object.create(env), { tpp });
  const bound = await clientToken(own, tpp, BANK);
  const newPath = async (): Promise<string> => {
    const { Data } = await createConsent(own, bound, undefined, BANK);
    return `/${BANK}/domestic-payment-consents/v1/${Data.ConsentId}`;
  };
  const origin = `http://127.0.0.1:${env.fixture.env["PORT"]}`;
  const one = async (path: string): Promise<ReadyRequest> => {
    const kept: Request[] = [];
    const api = (request: Request): Promise<Response> => {
      kept.push(throughProxy(request, tpp));
      return Promise.resolve(new Response());
    };
    await call(Object.assign(Object.create(own), { api }), tpp, bound, path);
    return { url: origin + path, method: "GET", headers: [...kept[0]?.headers ?? []] };
  };
  const prepare = async (count: number, consents = 1): Promise<readonly ReadyRequest[]> => {
    const paths: string[] = [];
    while (paths.length < consents) paths.push(await newPath());
    const ready: ReadyRequest[] = [];
    while (ready.length < count) {
      const next = Array.from({ length: SIGNED_AT_ONCE }, (_, at) => paths[(ready.length + at) % consents]);
      ready.push(...await Promise.all(next.map((path = "") => one(path))));
    }
    return ready;
  };
  return {
    prepare,
    flood: async (count, perSecond, connections) =>
      await flood({ requests: await prepare(count), perSecond, connections }),
  };
}

async function joined(env: ServedEnvironment): Promise<Participant> {
  const tpp = await onboardOnly(env.fixture, {
    name: "Flood Ltd",
    role: "PISP",
    keys: [14, 15],
    redirectUris: env.tpp.redirectUris,
  });
  const body = await signJwt(tpp.signing, registrationClaims(env.fixture, tpp));
  const headers = { "content-type": "application/jose" };
  await good(env.api(new Request(`${BASE_URL}/register/v1`, { method: "POST", headers, body }), tpp), 201);
  return tpp;
}

function flood(order: FloodOrder): Promise<FloodSeen> {
  const worker = new Worker(new URL("./flood.ts", import.meta.url), { type: "module" });
  return new Promise<FloodSeen>((resolve, reject) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }: MessageEvent<FloodSeen>) => {
      port1.close();
      resolve(data);
    };
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.postMessage(order, [port2]);
  }).finally(() => worker.terminate());
}
