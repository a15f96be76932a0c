/** A suite of cases, the party under test, what each case saw, and the run of the cases. */
import type { Options } from "../../command_line/run.ts";
import { z } from "zod";

/** An observation of a case. */
export interface Outcome {
  readonly passed: boolean;
  /** In plain words, without secrets and personal data; {@link boundedWords} shortens it. */
  readonly seen: string;
}

/** One requirement, tried on the party under test. */
export interface Case<Bench> {
  /** Stable, such as `BANK-H03`. */
  readonly id: string;
  /** The rule that the party must follow, in one sentence. */
  readonly title: string;
  /** Rows of docs/contract, or clauses of public standards. */
  readonly requirement: string;
  /** The time it may take; default {@link CASE_SECONDS}. */
  readonly seconds?: number;
  /** Tries it. An error counts as failed, with its message as what was seen. */
  run(bench: Bench): Promise<Outcome>;
}

/** The party under test. */
export interface Subject {
  readonly role: "ASPSP" | "PISP";
  readonly org_id: string;
  /** TPPs only. */
  readonly software_id?: string;
  /** Where it was reached, or which folder it was started from. */
  readonly address: string;
}

/** A bench with the party under test on it. */
export interface OpenBench<Bench> {
  readonly bench: Bench;
  readonly subject: Subject;
  /** Ends everything that was started. */
  close(): Promise<void>;
}

/** The cases of a role. */
export interface Suite<Bench> {
  /** The word after `deno task certify`. */
  readonly name: string;
  /** Changes if a case is added, removed or judged differently. */
  readonly version: string;
  /** The lines of `--help` about its own options. */
  readonly usage: string;
  /** Names of its own options, each with a value. */
  readonly options: readonly string[];
  readonly cases: readonly Case<Bench>[];
  /** @throws {Error} in one sentence if the party cannot be examined */
  open(options: Options<string, never>, print: (line: string) => void): Promise<OpenBench<Bench>>;
}

/** The time that a case may take, seconds. */
export const CASE_SECONDS = 60;

/** The longest text of an outcome, characters: the signed report of 100 cases can be kept by a directory. */
export const MAX_SEEN = 240;

/** Anything that could be a token, an assertion or a handover JWT, also a part of one. */
const TOKEN = /[A-Za-z0-9_-]{24,}(\.[A-Za-z0-9_-]*){1,4}|[A-Za-z0-9_-]{43,}/g;

/** The text in one line of at most {@link MAX_SEEN} characters, without tokens. */
export function boundedWords(text: string): string {
  const line = text.replaceAll(TOKEN, "(token)").replaceAll(/[\s\p{C}]+/gu, " ").trim();
  return line.length <= MAX_SEEN ? line : `${line.slice(0, MAX_SEEN - 1)}…`;
}

/** The observation is as required. */
export function passed(seen: string): Outcome {
  return { passed: true, seen };
}

/** The observation is not as required. */
export function failed(seen: string): Outcome {
  return { passed: false, seen };
}

/** A case and what it saw. */
export interface CaseResult {
  readonly id: string;
  readonly title: string;
  readonly requirement: string;
  readonly passed: boolean;
  readonly seen: string;
  readonly milliseconds: number;
}

/**
 * Runs the cases in their order.
 *
 * @param tell gets each result as soon as it is known
 */
export async function runCases<Bench>(
  cases: readonly Case<Bench>[],
  bench: Bench,
  tell: (result: CaseResult) => void = () => {},
): Promise<readonly CaseResult[]> {
  const results: CaseResult[] = [];
  for (const each of cases) {
    const { id, title, requirement } = each;
    const started = performance.now();
    const { passed, seen } = await outcomeOf(each, bench);
    const milliseconds = Math.round(performance.now() - started);
    const result = { id, title, requirement, passed, seen: boundedWords(seen), milliseconds };
    results.push(result);
    tell(result);
  }
  return results;
}

async function outcomeOf<Bench>(each: Case<Bench>, bench: Bench): Promise<Outcome> {
  const { seconds = CASE_SECONDS } = each;
  const ended = each.run(bench).catch((error) => ({ passed: false, seen: describeError(error) }));
  const outcome = await within(seconds, ended);
  if (outcome !== undefined) return outcome;
  await within(seconds, ended); // the next case must not meet what this one still does
  return { passed: false, seen: `no result after ${seconds} s` };
}

async function within(seconds: number, ended: Promise<Outcome>): Promise<Outcome | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, seconds * 1000);
  try {
    return await Promise.race([ended, late]);
  } finally {
    clearTimeout(timer);
  }
}

function describeError(error: unknown): string {
  if (error instanceof z.core.$ZodError) {
    return error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
  }
  return error instanceof Error ? error.message : String(error);
}
