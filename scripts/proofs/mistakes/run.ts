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
    const traced: Answered[] = [];
    const add = async (answered: Answered): Promise<void> => {
      const miss = await judge(bench, answered);
      if (miss !== undefined) misses.push({ area, ...miss });
    };
    for (const mistake of mistakes) {
      const answered = await makeOne(bench, mistake);
      if (mistake.told === undefined) await add(answered);
      else traced.push(answered);
    }
    for (const answered of traced) await add(answered); // at the end, because a trace is stored a second later
    made += mistakes.length;
  }
  return { made, misses };
}

export function isEnough({ made, misses }: Score): boolean {
  return made - misses.length >= REQUIRED_SHARE * made;
}

interface Answered {
  readonly mistake: Mistake;
  readonly wanted: readonly string[];
  readonly response: Response;
}

async function makeOne(bench: Workbench, mistake: Mistake): Promise<Answered> {
  const { part, expected, make } = mistake;
  const wanted = [part, typeof expected === "string" ? expected : await expected(bench)];
  return { mistake, wanted, response: await make(bench) };
}

async function judge(
  bench: Workbench,
  { mistake: { name, told }, wanted, response }: Answered,
): Promise<Omit<Miss, "area"> | undefined> {
  const said = told === undefined ? await statementsOf(response) : await told(bench, response);
  const explained = (response.status === 303 || told !== undefined) && said.length > 0;
  if (!explained && response.status < 400) {
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
