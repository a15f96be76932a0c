/**
 * Fills a store with the payments of two months: real parties make them by the real endpoints, on a clock that the seed
 * moves. What operators did, a bank that fails now and orders that were given up are among it.
 */
import { decodeJwt } from "jose";
import { openProgress } from "../../command_line/progress.ts";
import type { EmptyEnvironment } from "../../testing/environment.ts";
import { UnexpectedAnswer } from "../../testing/flows.ts";
import type { Participant } from "../../testing/participants.ts";
import type { PaymentOrder } from "../../testing/answers.ts";
import { type Random, seeded } from "../prove/random.ts";
import { isPushedTo, MOST_TRIES, onboardParties, type Parties, seenBy } from "./parties.ts";
import { carryOut, one, type Plan, planned } from "./seeded_payment.ts";
import type { TestOperator } from "../../testing/operators.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const PASS_MS = 3 * HOUR_MS;
const LATE_PASS_MS = 5 * 60_000;
/** Payments at once. */
const AT_ONCE = 6;
/** The last part of the payments is made in the last hour. */
const LAST_HOUR_SHARE = 0.01;
/** One order in so many is never taken by its bank. */
const NEVER_TAKEN = 400;
/** The bank that takes no order in the last 40 minutes, among those that are pushed to. */
const FAILING = 2;
const FAILING_MS = 40 * 60_000;
/** Of the log, with a payment that failed. */
const MOST_LINES = 20;
/** How long a party thinks before a request, ms. */
const THINKS_MS = 400;

export interface SeedOptions {
  readonly payments: number;
  readonly days: number;
  readonly banks: number;
  readonly tpps: number;
  /** The end of the time, ms. */
  readonly until: number;
}

interface Scene extends SeedOptions {
  readonly env: EmptyEnvironment;
  readonly parties: Parties;
  readonly random: Random;
  /** By end-to-end id. */
  readonly plans: Map<string, Plan>;
  /** When the background work passes next. */
  passAt: number;
}

/** Fills the environment's store. The clock stands at `until` afterwards. */
export async function seed(
  env: EmptyEnvironment,
  options: SeedOptions,
  say: (line: string) => void,
): Promise<Parties> {
  env.now = options.until - options.days * DAY_MS;
  const parties = await onboardParties(env, options);
  const scene = { ...options, env, parties, random: seeded(1, "seed"), plans: new Map(), passAt: env.now };
  const directory = env.network;
  env.network = (request) =>
    new URL(request.url).host === "directory.example" ? directory(request) : takeOrder(scene, request);
  const times = momentsOf(scene);
  const began = performance.now();
  using progress = openProgress("payments", times.length);
  for (let from = 0; from < times.length; from += AT_ONCE) {
    await workUntil(scene, times[from] ?? options.until);
    const made = times.slice(from, from + AT_ONCE).map((_, at) => payment(scene, from + at));
    const failed = (await Promise.allSettled(made)).findIndex(({ status }) => status === "rejected");
    if (failed >= 0) await made[failed]?.catch((error) => rejectFailed(env, from + failed, error));
    progress.done(from + AT_ONCE);
    env.logged.length = env.fetched.length = 0;
  }
  say(`${times.length} payments in ${Math.round((performance.now() - began) / 1000)} s`);
  await operate(env, parties);
  await workUntil(scene, options.until);
  env.now = options.until;
  await env.platform.writeFigures();
  return parties;
}

/** Every payment ends as planned. @throws {Error} why one did not, with what the platform logged about it */
function rejectFailed({ now, logged }: EmptyEnvironment, number: number, cause: unknown): never {
  const lines = logged.filter((line) => /"level":"(?:warn|error|security)"/.test(line)).slice(-MOST_LINES);
  const when = new Date(now).toISOString();
  throw new Error([`Payment ${number}, made at ${when}, failed: ${cause}`, ...lines].join("\n"), { cause });
}

/** When payments begin, oldest first: by day more of them around noon, and some in the last hour. */
function momentsOf({ payments, days, until, random }: Scene): readonly number[] {
  const last = Math.ceil(payments * LAST_HOUR_SHARE);
  return Array.from({ length: payments }, (_, number) => {
    if (number < last) return until - random.below(HOUR_MS);
    const hour = (random.below(24) + random.below(24)) / 2;
    const moment = until - until % DAY_MS - random.below(days) * DAY_MS + hour * HOUR_MS +
      random.below(HOUR_MS);
    return moment < until ? moment : moment - DAY_MS;
  }).toSorted((one, other) => one - other);
}

/** Moves the clock, with a pass of the background work each three hours, and each five minutes at the end. */
async function workUntil(scene: Scene, moment: number): Promise<void> {
  const { env, until } = scene;
  while (scene.passAt <= moment) {
    env.now = Math.max(env.now, scene.passAt);
    await env.platform.workOnce();
    scene.passAt = env.now + (env.now < until - PASS_MS ? PASS_MS : LATE_PASS_MS);
  }
  env.now = Math.max(env.now, moment);
}

async function payment({ env, parties, random, plans }: Scene, number: number): Promise<void> {
  const plan = planned(random, number);
  plans.set(`ORDER-${String(number).padStart(6, "0")}`, plan);
  const bank = oftenEarly(random, parties.banks);
  const tpp = oftenEarly(random, parties.tpps);
  const later = (): number => env.now += 20 + random.below(THINKS_MS);
  for (let tries = 1;; tries++) {
    try {
      const isPushed = isPushedTo(parties, bank);
      return void await carryOut(seenBy(env, { tpp, bank }, later), { bank, plan, isPushedTo: isPushed });
    } catch (error) {
      const isUnavailable = error instanceof UnexpectedAnswer && error.status === 503;
      if (!isUnavailable || tries === MOST_TRIES) throw error;
    }
  }
}

/** Some parties have more payments than others. */
function oftenEarly(random: Random, parties: readonly Participant[]): Participant {
  return random.chance(0.5)
    ? one(random, parties.slice(0, Math.ceil(parties.length / 3)))
    : one(random, parties);
}

/** The bank's answer to a pushed order. */
async function takeOrder({ env, plans, parties, until }: Scene, request: Request): Promise<Response> {
  const { Data } = decodeJwt<PaymentOrder>(await request.text());
  const name = Data.Initiation.EndToEndIdentification ?? "";
  const plan = plans.get(name);
  const failing = parties.banks[FAILING]?.orgId.toLowerCase();
  const isDown = new URL(request.url).host.startsWith(`${failing}.`) && env.now > until - FAILING_MS;
  if (isDown || plan === undefined || Number(name.slice(6)) % NEVER_TAKEN === 1) {
    return new Response("The payment system is not available.", { status: 503 });
  }
  return Response.json(
    plan.end === "rejected"
      ? { Status: "Rejected", StatusReasonCode: plan.reason }
      : { Status: "AcceptedSettlementInProcess" },
  );
}

const MINUTE_MS = 60_000;

/** Blocks, holds, an outage that is announced and one that is over, and a proposal, if two people are needed. */
async function operate(env: EmptyEnvironment, { banks, tpps }: Parties): Promise<void> {
  const change = async (path: string, data: object, as: TestOperator = "maria"): Promise<void> => {
    const body = JSON.stringify({ Data: data });
    const headers = { "content-type": "application/json" };
    const answer = await env.asOperator(`/operations${path}`, { method: "POST", headers, body }, as);
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    await answer.body?.cancel();
    env.now += MINUTE_MS;
  };
  const outage = (from: number, until: number, Text: string): object => ({
    FromDateTime: new Date(env.now + from).toISOString(),
    UntilDateTime: new Date(env.now + until).toISOString(),
    Text,
    Reason: "The bank's desk has announced it, ticket 4711.",
  });
  env.now -= 10 * MINUTE_MS;
  const [late, held = late] = banks.toReversed();
  const [blocked, revoked] = tpps.slice(-2);
  await change(
    `/banks/${late?.orgId}/outages`,
    outage(DAY_MS, DAY_MS + 240 * MINUTE_MS, "Maintenance of the core banking system."),
  );
  await change(
    `/banks/${held?.orgId}/hold`,
    { Reason: "The bank reports duplicate bookings, ticket 4712." },
    "operator",
  );
  await change(`/banks/${held?.orgId}/release`, { Reason: "The bank has found no duplicates." }, "operator");
  await change(`/software/${blocked?.clientId}/block`, {
    Reason: "Payers report payments that they did not begin, ticket 4713.",
  }, "security");
  await change(`/software/${revoked?.clientId}/revoke-tokens`, {
    Reason: "Its signing key was seen in a public repository.",
  });
}
