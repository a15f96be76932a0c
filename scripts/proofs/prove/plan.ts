/** The faults of each payment and the times at which the sandbox is killed, all determined by the seed. */
import { type Random, seeded } from "./random.ts";

/** One POST of a payment, as first sent. */
export interface PlannedPost {
  /** Which idempotency key: posts with one number share one. */
  readonly key: number;
  /** The amount is not the one the customer agreed to. */
  readonly mismatch: boolean;
  /** Sent so long after the others began, milliseconds. */
  readonly afterMs: number;
  /** The client gives this first try up after so long, milliseconds; it is repeated. */
  readonly dropAfterMs?: number;
}

/** One payment. */
export interface PaymentPlan {
  readonly index: number;
  readonly bank: "BANKA" | "BANKB";
  /** The account is in the consent. */
  readonly implicit: boolean;
  /** Euros, two fraction digits. */
  readonly amount: string;
  readonly posts: readonly PlannedPost[];
  /** Whether it is made by the TPP that has its events pushed. */
  readonly isPushed: boolean;
  /** How the bank goes wrong with this payment's order, if it does. */
  readonly fault?: PlannedFault;
}

/** Faults of the sandbox's banks that a payment must survive or be rejected by. */
export type PlannedFault = typeof FAULTS[number];

/** More often the ones that are over at once. */
const FAULTS = [
  "lose_answer",
  "lose_answer",
  "lose_answer",
  "answer_twice",
  "answer_twice",
  "server_error",
  "reset",
  "refuse",
  "answer_late",
] as const;
const FAULT_SHARE = 0.25;

/** How a TPP's receiver answers a push; more often the faults that are over at once. */
export type PlannedPush = "taken" | typeof PUSH_FAULTS[number];

const PUSH_FAULTS = [
  "unavailable",
  "failed",
  "failed",
  "lost",
  "lost",
  "reset",
  "rejected",
  "busy",
  "not_taken",
  "taken_late",
  "silent",
] as const;
const PUSH_FAULT_SHARE = 0.25;

/** Push number `number` to the receiver. */
export function planPush(seed: number, number: number): PlannedPush {
  const random = seeded(seed, `push ${number}`);
  return random.chance(PUSH_FAULT_SHARE) ? PUSH_FAULTS[random.below(PUSH_FAULTS.length)] ?? "taken" : "taken";
}

/** One kill. */
export interface KillPlan {
  /** The part that is killed. */
  readonly target: string;
  /** The payment it is timed by. */
  readonly index: number;
  readonly phase: "authorization" | "payment";
  /** So long after that phase of that payment began, milliseconds. */
  readonly afterMs: number;
}

/** Payment number `index` of a seed. */
export function planPayment(seed: number, index: number): PaymentPlan {
  const random = seeded(seed, `payment ${index}`);
  const bank = random.chance(0.5) ? "BANKA" : "BANKB";
  const implicit = random.chance(0.5);
  const amount = `${1 + random.below(99)}.${String(random.below(100)).padStart(2, "0")}`;
  const posts = planPosts(random);
  const fault = random.chance(FAULT_SHARE) ? FAULTS[random.below(FAULTS.length)] : undefined;
  const plan = { index, bank, implicit, amount, posts, isPushed: random.chance(0.5) } as const;
  return fault === undefined ? plan : { ...plan, fault };
}

function planPosts(random: Random): PlannedPost[] {
  const sameKey = 1 + random.below(3);
  const otherKeys = random.below(3);
  const good = [
    ...Array.from({ length: sameKey }, () => 0),
    ...Array.from({ length: otherKeys }, (_, n) => n + 1),
  ];
  const posts = good.map((key) => planPost(random, key, false));
  return random.chance(0.3) ? [...posts, planPost(random, otherKeys + 1, true)] : posts;
}

function planPost(random: Random, key: number, mismatch: boolean): PlannedPost {
  const afterMs = random.below(30);
  return random.chance(0.25)
    ? { key, mismatch, afterMs, dropAfterMs: random.below(80) }
    : { key, mismatch, afterMs };
}

/** When to kill; most of the time while a payment is made. */
export function planKills(
  seed: number,
  payments: number,
  kills: number,
  targets: readonly string[],
): KillPlan[] {
  const random = seeded(seed, "kills");
  const indices = new Set<number>();
  while (indices.size < Math.min(kills, payments)) indices.add(random.below(payments));
  return [...indices].map((index) => ({
    index,
    phase: random.chance(0.75) ? "payment" : "authorization",
    afterMs: random.below(150),
    target: targets[random.below(targets.length)] ?? "",
  }));
}
