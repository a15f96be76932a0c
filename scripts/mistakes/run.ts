/** Makes every mistake and judges its answer. */
import { statementsOf } from "./answer.ts";
import type { Area, Miss, Mistake } from "./mistake.ts";
import type { Workbench } from "./workbench.ts";

/** The share of mistakes whose answer must name the part and the expected value. */
export const REQUIRED_SHARE = 0.95;

export interface Score {
  readonly made: number;
  readonly misses: readonly Miss[];
}

/**
 * Makes the mistakes one after the other.
 *
 * @throws {Error} if a mistake is accepted, because it then proves nothing
 */
export async function makeMistakes(bench: Workbench, areas: readonly Area[]): Promise<Score> {
  const misses: Miss[] = [];
  let made = 0;
  for (const { name: area, mistakes } of areas) {
    for (const mistake of mistakes) {
      made += 1;
      const miss = await judge(bench, mistake);
      if (miss !== undefined) misses.push({ area, ...miss });
    }
  }
  return { made, misses };
}

export function isEnough({ made, misses }: Score): boolean {
  return made - misses.length >= REQUIRED_SHARE * made;
}

async function judge(bench: Workbench, mistake: Mistake): Promise<Omit<Miss, "area"> | undefined> {
  const { name, part, expected, make } = mistake;
  const wanted = [part, typeof expected === "string" ? expected : await expected(bench)];
  const response = await make(bench);
  const said = await statementsOf(response);
  const redirected = response.status === 303 && said.length > 0;
  if (!redirected && response.status < 400) {
    throw new Error(`${name}: the mistake was accepted with status ${response.status}`);
  }
  if (said.some((statement) => wanted.every((words) => statement.includes(words)))) return undefined;
  return { mistake: name, wanted, said: said.join(" | ") || `status ${response.status} without words` };
}

/** The score and every miss, for a person. */
export function scoreText({ made, misses }: Score): string {
  const lines = misses.map(({ area, mistake, wanted, said }) =>
    `${area}: ${mistake}\n  expected in the answer: ${wanted.join(" and ")}\n  answer: ${said}`
  );
  return [...lines, `${made - misses.length} of ${made} answers name the part and the expected value.`].join(
    "\n",
  );
}
