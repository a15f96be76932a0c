/**
 * `deno task fuzz`: changes good requests in ways that a seed repeats, sends them to a platform and a directory in this
 * process, and looks for failures, forgeries that are taken, refusals that change something, and errors in a wrong form.
 */
import { browserSpecimens } from "./browser_samples.ts";
import { directorySpecimens } from "./directory_samples.ts";
import { type Ground, openGround, type Plant } from "./targets.ts";
import { withSeededIds } from "./ids.ts";
import { type Notary, openNotary } from "./signing.ts";
import { oauthSpecimens, registrationSpecimens } from "./oauth_samples.ts";
import { UsageError } from "../command_line/run.ts";
import { type FuzzOptions, readFuzzOptions, usage } from "./options.ts";
import type { Part, Specimen } from "./parts.ts";
import { type Finding, kindOf, linesOf, summary, type Tally, tallyOf } from "./report.ts";
import { REQUEST } from "./request_parts.ts";
import { resourceSpecimens } from "./resource_samples.ts";
import { sendable } from "./sample_request.ts";
import { verdict } from "./verdict.ts";
import { openWorkshop } from "./environment.ts";
import { seeded } from "../prove/random.ts";

type Print = (line: string) => void;

/** One part of one good request. */
interface Target extends Tally {
  readonly specimen: Specimen;
  readonly part: Part;
}

/** What a run came to. */
export interface FuzzResult {
  readonly findings: readonly Finding[];
  readonly tallies: readonly Tally[];
}

/**
 * Fuzzes.
 *
 * @param plant wraps each app, to see whether what is wrong with the wrapping is found
 * @throws {UsageError} where no target has the wanted name
 */
export async function fuzz(options: FuzzOptions, print: Print, plant?: Plant): Promise<FuzzResult> {
  const { seed } = options;
  await using ground = await withSeededIds(seed, "worlds", () => openGround(plant));
  const notary = openNotary();
  const specimens = await withSeededIds(seed, "good requests", () => makeSpecimens(ground, notary));
  const targets = targetsOf(specimens).filter(({ name }) => name.includes(options.only));
  if (targets.length === 0) throw new UsageError(`No part of a request has "${options.only}" in its name`);
  print(`seed ${seed}: changes ${targets.length} parts of ${specimens.length} good requests`);
  const findings: Finding[] = [];
  const note = (finding: Finding | undefined): void => {
    if (finding === undefined) return;
    if (!findings.some((known) => kindOf(known) === kindOf(finding))) {
      linesOf(finding, options).forEach(print);
    }
    findings.push(finding);
  };
  for (const specimen of specimens) note(await asItIs(ground, specimen));
  const startedAt = Date.now();
  const isOver = (tried: number): boolean =>
    tried >= options.mutations || Date.now() - startedAt >= options.seconds * 1000;
  let tried = 0;
  for (; !isOver(tried); tried++) {
    note(await attempt(ground, targets, options.first + tried, seed));
    notary.forget();
  }
  const milliseconds = Date.now() - startedAt;
  for (const specimen of specimens) note(await asItIs(ground, specimen));
  summary(targets, findings, { tried, milliseconds }).forEach(print);
  return { findings, tallies: targets };
}

async function makeSpecimens(ground: Ground, notary: Notary): Promise<readonly Specimen[]> {
  const workshop = await openWorkshop(ground.world, notary);
  const specimens = [
    ...await oauthSpecimens(workshop),
    ...await registrationSpecimens(workshop),
    ...await resourceSpecimens(workshop),
    ...await browserSpecimens(workshop),
    ...await directorySpecimens(ground.directory),
  ];
  ground.settle();
  return specimens;
}

function targetsOf(specimens: readonly Specimen[]): readonly Target[] {
  return specimens.flatMap((specimen) =>
    specimen.parts.map((part) => ({ ...tallyOf(`${specimen.name}: ${part.name}`), specimen, part }))
  );
}

/** The good request must be good, before and after. */
async function asItIs(ground: Ground, specimen: Specimen): Promise<Finding | undefined> {
  const { name, shot, status } = specimen;
  const impact = await ground.fire(shot);
  const wrong = verdict(specimen, shot, impact) ??
    (impact.answer?.status === status
      ? undefined
      : `answered with ${impact.answer?.status} ${impact.answer?.text}`);
  return wrong === undefined ? undefined : { target: name, wrong: `the good request: ${wrong}`, shot };
}

/** Mutation number `number` of a seed. */
async function attempt(
  ground: Ground,
  targets: readonly Target[],
  number: number,
  seed: number,
): Promise<Finding | undefined> {
  const target = targets[number % targets.length];
  if (target === undefined) return undefined;
  const { name, specimen, part, statuses } = target;
  const random = seeded(seed, `mutation ${number}`);
  const changed = sendable(await part.mutate(random, specimen.shot));
  const whole = specimen.parts.find((each) => each.name === REQUEST);
  const twice = random.chance(0.1) ? await whole?.mutate(random, changed) : undefined;
  const shot = twice === undefined ? changed : sendable(twice);
  const impact = await ground.fire(shot);
  const status = impact.answer?.status ?? 0;
  statuses.set(status, (statuses.get(status) ?? 0) + 1);
  const wrong = verdict(specimen, shot, impact);
  return wrong === undefined ? undefined : { target: name, number, wrong, shot };
}

async function main(args: readonly string[]): Promise<number> {
  const print: Print = (line) => void Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
  try {
    const options = readFuzzOptions(args);
    if (options === undefined) {
      print(usage);
      return 0;
    }
    return (await fuzz(options, print)).findings.length === 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    print(error.message);
    return 2;
  }
}

if (import.meta.main) Deno.exit(await main(Deno.args));
