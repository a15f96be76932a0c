/** The payments and faults of a run. The seed decides them before the run, and each of them can be left out. */
import { type PaymentPlan, planPayment } from "../prove/plan.ts";
import { type Random, seeded } from "../prove/random.ts";

/** In the text of every error that the simulation injects: what it causes is no fault of the platform. */
export const INJECTED = "injected by the simulation";

/** How a customer behaves. */
export interface CustomerPlan {
  /** Milliseconds before each click. */
  readonly pause: number;
  readonly refuses: boolean;
  /** Loads pages twice at once, as an impatient person does. */
  readonly clicksTwice: boolean;
}

/** One payment and its parties. */
export interface SimulatedPayment extends PaymentPlan {
  readonly name: string;
  readonly tpp: number;
  /** Milliseconds after the beginning. */
  readonly startsAfter: number;
  readonly customer: CustomerPlan;
  /** Between the token and the payment, milliseconds. */
  readonly paysAfter: number;
  /** The TPP has its events at the bank pushed, if it can. */
  readonly isSubscriber: boolean;
}

/** One thing that goes wrong. Times are milliseconds after the beginning; rates are per thousand. */
export type FaultPlan = { readonly name: string } & FaultKind;

type FaultKind =
  | { readonly kind: "kill"; readonly step: number; readonly downFor: number }
  | { readonly kind: "second process" }
  | { readonly kind: "network"; readonly lost: number; readonly repeated: number; readonly late: number }
  | { readonly kind: "forger"; readonly rate: number }
  | { readonly kind: "store"; readonly failed: number; readonly unanswered: number; readonly slow: number }
  | { readonly kind: "clock"; readonly after: number; readonly by: number; readonly process: number }
  | { readonly kind: "bank away"; readonly bank: string; readonly after: number; readonly for: number }
  | { readonly kind: "bank faults"; readonly rate: number }
  /** The database is replaced by a copy that was taken at a step of the run; `reconciles`: the operator compares it with the banks. */
  | { readonly kind: "restore"; readonly copyStep: number; readonly reconciles: boolean }
  | { readonly kind: "directory away"; readonly after: number; readonly for: number }
  | { readonly kind: "receiver faults"; readonly rate: number }
  | { readonly kind: "receiver away"; readonly after: number; readonly for: number }
  /** A TPP's receiver rejects each event of this status, so that it becomes dead. */
  | { readonly kind: "receiver rejects"; readonly status: string };

/** A run. */
export interface Plan {
  readonly seed: number;
  readonly payments: readonly SimulatedPayment[];
  readonly faults: readonly FaultPlan[];
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The run of a seed. */
export function planRun(seed: number): Plan {
  const random = seeded(seed, "run");
  const count = random.chance(0.8) ? 1 : 2 + random.below(2);
  const payments = Array.from({ length: count }, (_, index) => simulatedPayment(seed, index));
  const faults = FAULTS.flatMap(([share, make]) =>
    random.chance(share) ? [make(seeded(seed, `fault ${String(make)}`))] : []
  );
  const kills = Array.from({ length: random.chance(0.6) ? 1 + random.below(3) : 0 }, () => kill(random));
  const receivers = receiverFaults(seeded(seed, "receivers"));
  return {
    seed,
    payments,
    faults: [...faults, ...kills, ...receivers].map((fault, index) => ({ name: `f${index}`, ...fault })),
  };
}

/** The run without the payments and faults of these names. */
export function without(plan: Plan, dropped: ReadonlySet<string>): Plan {
  const kept = <T extends { readonly name: string }>(all: readonly T[]): readonly T[] =>
    all.filter(({ name }) => !dropped.has(name));
  return { ...plan, payments: kept(plan.payments), faults: kept(plan.faults) };
}

function simulatedPayment(seed: number, index: number): SimulatedPayment {
  const random = seeded(seed, `payment ${index} of a run`);
  const customer = {
    pause: random.chance(0.8) ? random.below(20 * SECOND) : random.below(30 * MINUTE),
    refuses: random.chance(0.1),
    clicksTwice: random.chance(0.15),
  };
  return {
    ...planPayment(seed, index),
    name: `p${index}`,
    tpp: random.below(2),
    startsAfter: random.chance(0.7) ? random.below(2 * SECOND) : random.below(6 * HOUR),
    customer,
    paysAfter: random.chance(0.8) ? random.below(SECOND) : random.below(55 * MINUTE),
    isSubscriber: random.chance(0.5),
  };
}

const FAULTS: readonly (readonly [number, (random: Random) => FaultKind])[] = [
  [0.4, () => ({ kind: "second process" })],
  [0.4, network],
  [0.2, (random) => ({ kind: "forger", rate: 50 + random.below(300) })],
  [0.3, store],
  [0.2, clock],
  [0.2, bankAway],
  [0.3, (random) => ({ kind: "bank faults", rate: 50 + random.below(400) })],
  [0.2, directoryAway],
  [0.15, (random) => ({ kind: "restore", copyStep: random.below(250), reconciles: random.chance(0.5) })],
];

function kill(random: Random): FaultKind {
  return {
    kind: "kill",
    step: 1 + random.below(500),
    downFor: random.below(random.chance(0.8) ? 3 * SECOND : HOUR),
  };
}

function network(random: Random): FaultKind {
  return { kind: "network", lost: random.below(120), repeated: random.below(120), late: random.below(120) };
}

function store(random: Random): FaultKind {
  return { kind: "store", failed: random.below(60), unanswered: random.below(60), slow: random.below(60) };
}

/** Small steps are tolerated for ever; large ones are put right after a minute. */
function clock(random: Random): FaultKind {
  const reach = random.chance(0.7) ? 20 * SECOND : HOUR;
  return {
    kind: "clock",
    after: random.below(5 * MINUTE),
    by: random.below(2 * reach) - reach,
    process: random.below(2),
  };
}

function bankAway(random: Random): FaultKind {
  const lasting = random.chance(0.7) ? MINUTE : HOUR;
  return {
    kind: "bank away",
    bank: random.chance(0.5) ? "BANKA" : "BANKB",
    after: random.below(MINUTE),
    for: random.below(lasting),
  };
}

const REJECTED = ["Authorized", "Consumed", "Pending", "AcceptedSettlementCompleted"];

function receiverFaults(random: Random): readonly FaultKind[] {
  const faults: readonly FaultKind[] = [
    { kind: "receiver faults", rate: 100 + random.below(600) },
    { kind: "receiver away", after: random.below(MINUTE), for: random.below(HOUR) },
    { kind: "receiver rejects", status: REJECTED[random.below(REJECTED.length)] ?? "" },
  ];
  const shares = [0.5, 0.15, 0.1];
  return faults.filter((_, index) => random.chance(shares[index] ?? 0));
}

function directoryAway(random: Random): FaultKind {
  return { kind: "directory away", after: random.below(MINUTE), for: random.below(HOUR) };
}
