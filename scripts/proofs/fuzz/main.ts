/**
 * `deno task fuzz`: mutates valid requests repeatably by seed and sends them to a platform and a directory in this
 * process. Reports server errors, accepted forgeries, rejections that changed state, and malformed errors.
 */
import { browserSamples } from "./browser_samples.ts";
import { directorySamples } from "./directory_samples.ts";
import { type Fixture, openFixture, type Plant } from "./targets.ts";
import { openResigner, type Resigner } from "./signing.ts";
import { oauthSamples, registrationSamples } from "./oauth_samples.ts";
import { runProgram, UsageError } from "../../command_line/run.ts";
import { type FuzzOptions, readFuzzOptions, usage } from "./options.ts";
import type { Part, Sample } from "./parts.ts";
import { type Finding, findingKind, formatFinding, summary, type Tally, tallyOf } from "./report.ts";
import { REQUEST } from "./request_parts.ts";
import { resourceSamples } from "./resource_samples.ts";
import { toSendable } from "./sample_request.ts";
import { verdict } from "./verdict.ts";
import { openSampleContext } from "./environment.ts";
import { seeded } from "../prove/random.ts";

type Print = (line: string) => void;

/** One part of one valid request. */
interface Target extends Tally {
  readonly sample: Sample;
  readonly part: Part;
}

/** The results of a run. */
export interface FuzzResult {
  readonly findings: readonly Finding[];
  readonly tallies: readonly Tally[];
}

/** The environments and the good requests of a seed, for any number of runs. */
export interface Fuzzer extends AsyncDisposable {
  readonly fixture: Fixture;
  readonly resigner: Resigner;
  readonly samples: readonly Sample[];
}

/** Opens the environments and makes the good requests. */
export async function openFuzzer(seed: number): Promise<Fuzzer> {
  const fixture = await withSeededIds(seed, "environments", openFixture);
  const resigner = openResigner();
  const samples = await withSeededIds(seed, "good requests", () => makeSamples(fixture, resigner));
  return { fixture, resigner, samples, [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose]() };
}

/**
 * Fuzzes.
 *
 * @param plant wraps each app, to test that planted faults are found
 * @throws {UsageError} if no target has the wanted name
 */
export async function fuzz(
  { fixture, resigner, samples }: Fuzzer,
  options: FuzzOptions,
  print: Print,
  plant?: Plant,
): Promise<FuzzResult> {
  const { seed } = options;
  const targets = targetsOf(samples).filter(({ name }) => name.includes(options.only));
  if (targets.length === 0) throw new UsageError(`No part of a request has "${options.only}" in its name`);
  print(`seed ${seed}: changes ${targets.length} parts of ${samples.length} good requests`);
  const findings: Finding[] = [];
  const note = (finding: Finding | undefined): void => {
    if (finding === undefined) return;
    if (!findings.some((known) => findingKind(known) === findingKind(finding))) {
      formatFinding(finding, options).forEach(print);
    }
    findings.push(finding);
  };
  fixture.wrap(plant);
  const changed = new Set(targets.map(({ sample }) => sample));
  for (const sample of changed) note(await asItIs(fixture, sample));
  const startedAt = Date.now();
  const isOver = (tried: number): boolean =>
    tried >= options.mutations || Date.now() - startedAt >= options.seconds * 1000;
  let tried = 0;
  for (; !isOver(tried); tried++) {
    note(await attempt(fixture, targets, options.first + tried, seed));
    resigner.forget();
  }
  const milliseconds = Date.now() - startedAt;
  for (const sample of changed) note(await asItIs(fixture, sample));
  summary(targets, findings, { tried, milliseconds }).forEach(print);
  return { findings, tallies: targets };
}

async function makeSamples(fixture: Fixture, resigner: Resigner): Promise<readonly Sample[]> {
  const context = await openSampleContext(fixture.env, resigner);
  const samples = [
    ...await oauthSamples(context),
    ...await registrationSamples(context),
    ...await resourceSamples(context),
    ...await browserSamples(context),
    ...await directorySamples(fixture.directory),
  ];
  fixture.settle();
  return samples;
}

function targetsOf(samples: readonly Sample[]): readonly Target[] {
  return samples.flatMap((sample) =>
    sample.parts.map((part) => ({ ...tallyOf(`${sample.name}: ${part.name}`), sample, part }))
  );
}

/** The unchanged request must be accepted, before and after. */
async function asItIs(fixture: Fixture, sample: Sample): Promise<Finding | undefined> {
  const { name, attempt, status } = sample;
  const impact = await fixture.fire(attempt);
  const wrong = verdict(sample, attempt, impact) ??
    (impact.answer?.status === status
      ? undefined
      : `answered with ${impact.answer?.status} ${impact.answer?.text}`);
  return wrong === undefined ? undefined : { target: name, wrong: `the good request: ${wrong}`, attempt };
}

/** Mutation number `number` of a seed. */
async function attempt(
  fixture: Fixture,
  targets: readonly Target[],
  number: number,
  seed: number,
): Promise<Finding | undefined> {
  const target = targets[number % targets.length];
  if (target === undefined) return undefined;
  const { name, sample, part, statuses } = target;
  const random = seeded(seed, `mutation ${number}`);
  const changed = toSendable(await part.mutate(random, sample.attempt));
  const whole = sample.parts.find((each) => each.name === REQUEST);
  const twice = random.chance(0.1) ? await whole?.mutate(random, changed) : undefined;
  const attempt = twice === undefined ? changed : toSendable(twice);
  const impact = await fixture.fire(attempt);
  const status = impact.answer?.status ?? 0;
  statuses.set(status, (statuses.get(status) ?? 0) + 1);
  const wrong = verdict(sample, attempt, impact);
  return wrong === undefined ? undefined : { target: name, number, wrong, attempt };
}

/**
 * The result of `make`, with every id and secret derived from seed and purpose. RSA salts and paddings are not, so
 * signatures and encrypted texts differ between runs, but only in their octets.
 */
async function withSeededIds<T>(seed: number, purpose: string, make: () => Promise<T>): Promise<T> {
  const random = seeded(seed, purpose);
  const fill = <A extends Uint8Array>(bytes: A): A => {
    for (let at = 0; at < bytes.length; at++) bytes[at] = random.below(256);
    return bytes;
  };
  const overridden = { getRandomValues: fill, randomUUID: () => uuidOf(fill(new Uint8Array(16))) };
  for (const [name, value] of Object.entries(overridden)) {
    Object.defineProperty(crypto, name, { value, configurable: true });
  }
  try {
    return await make();
  } finally {
    for (const name of Object.keys(overridden)) Reflect.deleteProperty(crypto, name);
  }
}

/** RFC 9562 §5.4. */
function uuidOf(bytes: Uint8Array): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toHex().replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

if (import.meta.main) {
  await runProgram(usage, async (args, print) => {
    const options = readFuzzOptions(args);
    await using fuzzer = await openFuzzer(options.seed);
    return (await fuzz(fuzzer, options, print)).findings.length === 0;
  });
}
