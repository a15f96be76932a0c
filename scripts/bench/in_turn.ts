/**
 * The cost of a payment on two platforms that differ in one variable. Their rounds take turns, so that other work of the
 * computer meets both.
 */
import { openServedEnvironment } from "../testing/served_environment.ts";
import { idle, runPayments, runStages } from "./flows.ts";
import { AT_ONCE, median, meterOf, type RoundOptions } from "./rounds.ts";

/** Medians of the rounds, milliseconds of processor time a payment. */
export interface CostsInTurn {
  readonly withIt: number;
  readonly without: number;
  /** The median of the rounds' own ratios, which other work disturbs least. */
  readonly ratio: number;
  readonly failures: number;
}

/** @param variables of the platform with the part that is measured, and of the one without */
export async function costsInTurn(
  { requests, rounds, warm }: RoundOptions,
  [withIt, without]: readonly [Readonly<Record<string, string>>, Readonly<Record<string, string>>],
  say: (text: string) => void,
): Promise<CostsInTurn> {
  await using first = await openServedEnvironment(withIt);
  await using second = await openServedEnvironment(without);
  const platforms = [first, second] as const;
  for (const env of platforms) await runStages(env, idle, warm, AT_ONCE);
  const costs: [number[], number[]] = [[], []];
  let failures = 0;
  for (let round = 1; round <= rounds; round++) {
    say(`round ${round} of ${rounds}`);
    const turns = round % 2 === 0 ? [0, 1] as const : [1, 0] as const;
    for (const turn of turns) {
      const env = platforms[turn];
      const made = await runPayments(env, meterOf(env), requests, AT_ONCE);
      costs[turn].push(made.cpu / requests);
      failures += made.failures;
    }
  }
  const ratio = median(costs[0].map((cost, round) => cost / (costs[1][round] ?? cost)));
  return { withIt: median(costs[0]), without: median(costs[1]), ratio, failures };
}

/** @param goal percent */
export function inTurnReport(
  part: string,
  { withIt, without, ratio, failures }: CostsInTurn,
  goal: number,
): string {
  const more = ((ratio - 1) * 100).toFixed(1);
  const words = `a payment: ${withIt.toFixed(1)} ms with ${part}, ${without.toFixed(1)} ms without`;
  return `${words}: ${more} % more (goal ${goal} %)\n${failures} failures\n`;
}
