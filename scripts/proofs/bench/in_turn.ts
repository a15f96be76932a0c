/**
 * The cost of a payment on two platforms that differ in one variable. Their rounds take turns, so that other work of the
 * computer meets both.
 */
import { openServedEnvironment } from "../../testing/served_environment.ts";
import { idle, runPayments, runStages } from "./flows.ts";
import { AT_ONCE, boundsOfMedian, median, meterOf, type RoundOptions } from "./rounds.ts";

/** Medians of the rounds, milliseconds of processor time a payment. */
export interface CostsInTurn {
  readonly withIt: number;
  readonly without: number;
  /** The median of the rounds' own ratios, which other work disturbs least. */
  readonly ratio: number;
  /** Where the median lies with 95 % confidence. */
  readonly between: readonly [number, number];
  readonly failures: number;
}

type Variables = Readonly<Record<string, string>>;
/** Of the platform with the part that is measured, and of the one without it. */
type Pair<T> = readonly [T, T];

/**
 * Half of the rounds are those of a second pair of platforms that is opened the other way round: of two equal platforms
 * the one that was opened first takes some percent more.
 */
export async function costsInTurn(
  options: RoundOptions,
  variables: Pair<Variables>,
  say: (text: string) => void,
): Promise<CostsInTurn> {
  const [firstHalf, secondHalf] = [Math.ceil(options.rounds / 2), Math.floor(options.rounds / 2)];
  const samples = [
    ...await costsOfPair({ ...options, rounds: firstHalf }, variables, [0, 1], say),
    ...await costsOfPair({ ...options, rounds: secondHalf }, variables, [1, 0], say),
  ];
  const ratios = samples.map(({ costs: [withIt, without] }) => withIt / without);
  return {
    withIt: median(samples.map(({ costs }) => costs[0])),
    without: median(samples.map(({ costs }) => costs[1])),
    ratio: median(ratios),
    between: boundsOfMedian(ratios),
    failures: samples.reduce((sum, { failures }) => sum + failures, 0),
  };
}

/** One round: milliseconds of processor time a payment. */
interface Sample {
  readonly costs: Pair<number>;
  readonly failures: number;
}

/** Opens both in this order, and measures them in turns. */
async function costsOfPair(
  { requests, rounds, warm }: RoundOptions,
  variables: Pair<Variables>,
  order: Pair<0 | 1>,
  say: (text: string) => void,
): Promise<Sample[]> {
  if (rounds === 0) return [];
  await using earlier = await openServedEnvironment(variables[order[0]]);
  await using later = await openServedEnvironment(variables[order[1]]);
  const platforms = order[0] === 0 ? [earlier, later] as const : [later, earlier] as const;
  for (const env of platforms) await runStages(env, idle, warm, AT_ONCE);
  const samples: Sample[] = [];
  for (let round = 1; round <= rounds; round++) {
    say(`round ${round} of ${rounds}, opened ${order[0] === 0 ? "first" : "second"}`);
    const costs: [number, number] = [0, 0];
    let failures = 0;
    for (const turn of round % 2 === 0 ? [0, 1] as const : [1, 0] as const) {
      const env = platforms[turn];
      const made = await runPayments(env, meterOf(env), requests, AT_ONCE);
      costs[turn] = made.cpu / requests;
      failures += made.failures;
    }
    samples.push({ costs, failures });
  }
  return samples;
}

/** @param goal percent */
export function inTurnReport(
  part: string,
  { withIt, without, ratio, between: [low, high], failures }: CostsInTurn,
  goal: number,
): string {
  const percent = (found: number): string => ((found - 1) * 100).toFixed(1);
  const more = `${percent(ratio)} % more, with 95 % confidence ${percent(low)} to ${percent(high)} %`;
  const words = `a payment: ${withIt.toFixed(1)} ms with ${part}, ${without.toFixed(1)} ms without`;
  return `${words}: ${more} (goal ${goal} %)\n${failures} failures\n`;
}
