/** `--rejections`: the processor time of the platform for requests that it rejects, with the lines of its log. */
import { openServedEnvironment } from "../../testing/served_environment.ts";
import { call } from "../../testing/flows.ts";
import { meet, sendAll } from "./flows.ts";
import type { BenchOptions } from "./options.ts";
import { AT_ONCE, median, meterOf } from "./rounds.ts";
import { BANK, newFlow } from "./steps.ts";

/** Medians of the rounds. */
export interface Rejection {
  readonly name: string;
  /** Milliseconds of a request. */
  readonly cpu: number;
  readonly perSecond: number;
  /** Requests with another status. */
  readonly others: number;
}

const REJECTED = {
  "above its rate limit": 429,
  "without a certificate": 401,
  "to an unknown address": 404,
} as const;
type Name = keyof typeof REJECTED;
/** While the requests are sent, the limit lets some through. */
const MAX_OTHERS = 0.02;

export async function measureRejections(
  { requests, rounds }: Pick<BenchOptions, "requests" | "rounds">,
  say: (text: string) => void,
): Promise<readonly Rejection[]> {
  await using env = await openServedEnvironment({ PLATFORM_RATE_LIMITS: "reads=1/1" });
  const { own } = await meet(env);
  const flow = newFlow(env);
  await call(flow.env, env.tpp, own, `/${BANK}/domestic-payment-consents/v1/${crypto.randomUUID()}`);
  const [read = new Request("about:blank")] = flow.kept;
  const sent: Readonly<Record<Name, Request>> = {
    "above its rate limit": read,
    "without a certificate": new Request(read.url),
    "to an unknown address": new Request(new URL("/unknown", read.url)),
  };
  const found: Rejection[] = [];
  for (const [name, status] of Object.entries(REJECTED)) {
    say(name);
    const samples = [];
    for (let round = 0; round <= rounds; round++) { // the first compiles the code
      const all = Array.from({ length: requests }, () => sent[name as Name].clone());
      samples.push(await sendAll(env, meterOf(env), all, AT_ONCE));
    }
    const measured = samples.slice(1);
    found.push({
      name,
      cpu: median(measured.map(({ cpu }) => cpu / requests)),
      perSecond: median(measured.map(({ seconds }) => requests / seconds)),
      others: measured.flatMap(({ answers }) => answers.filter((answer) => answer.status !== status)).length,
    });
  }
  return found;
}

/** Whether the requests were rejected as they should be. */
export function wereRejected(found: readonly Rejection[], requests: number): boolean {
  return found.every(({ others }) => others <= MAX_OTHERS * requests);
}

/** The table as Markdown. */
export function rejectionsReport(found: readonly Rejection[]): string {
  const lines = found.map(({ name, cpu, perSecond, others }) =>
    `| ${name} | ${cpu.toFixed(3)} | ${perSecond.toFixed(0)} | ${others} |`
  );
  const head = "| Rejected request | CPU ms | Requests a second | Not rejected so |";
  return [head, "| --- | --- | --- | --- |", ...lines, ""].join("\n");
}
