/**
 * The service levels of the banks, for everyone: availability and answers of the last 30 days, without volumes (contract REP5). A
 * process reads it at most once a minute, however many ask. Days that have ended are read once.
 */
import { keepFor } from "../../../base/kernel/recently_used.ts";
import type { Clock, SteadyClock } from "../../../base/kernel/clock.ts";
import type { BankClient } from "../../core/registration/client.ts";
import { DAY_MS, dayOf } from "../../observed/figures/figures.ts";
import type { FiguresStore } from "../../observed/figures/figures_store.ts";
import {
  answerRate,
  availability,
  boundsOf,
  daysOf,
  ordersOf,
  type Report,
  reportsOf,
  type Sums,
} from "./report.ts";
import { roundTo } from "./report_representation.ts";

/** Rates are parts of 1, times milliseconds; null if above every bound, undefined if not known. */
export interface Levels {
  readonly availability: number | undefined;
  readonly answerRate: number | undefined;
  readonly median: number | null | undefined;
  readonly percentile95: number | null | undefined;
}

export interface BankLevels {
  readonly bank: string;
  readonly name: string;
  readonly total: Levels;
  readonly days: readonly (Levels & { readonly day: string })[];
}

export interface ServiceLevels {
  readonly from: string;
  readonly until: string;
  /** When it was read, milliseconds. */
  readonly at: number;
  readonly banks: readonly BankLevels[];
}

export interface ServiceLevelsDeps {
  readonly figuresStore: Pick<FiguresStore, "readDay">;
  readonly listBanks: () => Promise<readonly BankClient[]>;
  readonly clock: Clock;
  /** For ages. */
  readonly steady: SteadyClock;
}

const DAYS = 30;
const MAX_AGE_MS = 60_000;
/** The rate of fewer orders tells their number: 0.666 is two of three. */
const MIN_ORDERS = 20;

/** Opens the reader. It throws {StoreFailure} as long as the store fails. */
export function openServiceLevels(deps: ServiceLevelsDeps): () => Promise<ServiceLevels> {
  return keepFor(MAX_AGE_MS, deps.steady, () => read(deps)).get;
}

async function read({ figuresStore, listBanks, clock }: ServiceLevelsDeps): Promise<ServiceLevels> {
  const at = clock();
  const [from, until] = [dayOf(at - (DAYS - 1) * DAY_MS), dayOf(at)];
  const subjects = (await listBanks()).map(({ code, orgName, registeredAt }) => {
    return { id: code, name: orgName, registeredAt };
  });
  const whole: typeof figuresStore = { readDay: (of, day) => figuresStore.readDay(of, day) }; // and keep it
  const reports = await reportsOf(whole, "bank", subjects, daysOf(from, until));
  return { from, until, at, banks: reports.map(levelsOf) };
}

function levelsOf({ subject: { id, name }, total, days }: Report): BankLevels {
  return {
    bank: id,
    name,
    total: numbersOf(total),
    days: days.map(({ day, sums }) => ({ day, ...numbersOf(sums) })),
  };
}

function numbersOf(sums: Sums): Levels {
  const [available, answered] = [availability(sums), answerRate(sums)];
  const { median, most } = boundsOf(sums.times.pushes);
  const orders = ordersOf(sums.counts) < MIN_ORDERS
    ? {}
    : { answerRate: answered, median, percentile95: most };
  return {
    availability: available === undefined ? available : roundTo(available),
    answerRate: orders.answerRate === undefined ? undefined : roundTo(orders.answerRate, 3),
    median: orders.median,
    percentile95: orders.percentile95,
  };
}
