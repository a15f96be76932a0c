/** Every answer that the TPP got, and what must not be among them. */
import type { Tpp } from "../../../src/client/tpp/tpp.ts";
import type { CheckResult } from "./checks.ts";

/** One answer, or none. */
interface Answer {
  /** When it came, milliseconds. */
  readonly at: number;
  readonly isWrite: boolean;
  /** Undefined if the connection ended, or the TPP gave it up. */
  readonly status: number | undefined;
}

/** The TPP's observations. */
export interface AnswerLog {
  readonly answers: readonly Answer[];
  /** Answers that say that something was used before, although the TPP used it for the first time. A sentence each. */
  readonly usedBefore: readonly string[];
  /** Answers of a broken platform, other than 503 with Retry-After and a proxy's 502. A sentence each. */
  readonly unexpected: readonly string[];
  /** The TPP, whose answers are recorded. */
  watch(tpp: Tpp): Tpp;
}

/** The TPP makes a new client assertion and a new proof for each request, so neither was ever used before. */
const REPLAYED = /invalid_dpop_proof|invalid_client|used before/;

export function openAnswerLog(): AnswerLog {
  const answers: Answer[] = [];
  const usedBefore: string[] = [];
  const unexpected: string[] = [];
  /** Codes whose redemption may have happened, because its answer was lost. */
  const doubtful = new Set<string>();
  async function judge(url: string, code: string | null, answer: Response): Promise<void> {
    const { status, headers } = answer;
    if (code !== null && status >= 500 && status !== 503) doubtful.add(code);
    if (status >= 500 && status !== 502 && !(status === 503 && headers.has("retry-after"))) {
      unexpected.push(`${url} was answered ${status}`);
    }
    if (status < 400 || status >= 500) return;
    const text = `${headers.get("www-authenticate") ?? ""} ${await answer.clone().text()}`;
    const isUsed = REPLAYED.test(text) || (text.includes("invalid_grant") && !doubtful.has(code ?? ""));
    if (isUsed) usedBefore.push(`${url} was answered ${status}: ${text.trim()}`);
  }
  const watched = (fetch: Tpp["fetch"]): Tpp["fetch"] => async (url, request) => {
    const code = request.body instanceof URLSearchParams ? request.body.get("code") : null;
    const note = (status: number | undefined): unknown =>
      answers.push({ at: Date.now(), isWrite: request.method === "POST", status });
    try {
      const answer = await fetch(url, request);
      note(answer.status);
      await judge(new URL(url).pathname, code, answer);
      return answer;
    } catch (error) {
      note(undefined);
      if (code !== null) doubtful.add(code);
      throw error;
    }
  };
  return { answers, usedBefore, unexpected, watch: (tpp) => ({ ...tpp, fetch: watched(tpp.fetch) }) };
}

/** In which a system of several processes must serve again, however the primary was lost. */
const LOOKED_AT_MS = 60_000;

/** The longest time without an answer to a POST that succeeded, after each loss of the primary, milliseconds. */
export function interruptions(answers: readonly Answer[], losses: readonly number[]): readonly number[] {
  return losses.map((lostAt, index) => {
    const until = Math.min(lostAt + LOOKED_AT_MS, losses[index + 1] ?? Infinity);
    const times = answers.filter(({ at, isWrite, status = 0 }) =>
      isWrite && status >= 200 && status < 300 && at >= lostAt && at < until
    ).map(({ at }) => at).toSorted((one, other) => one - other);
    return Math.max(0, ...times.map((at, place) => at - (times[place - 1] ?? lostAt)));
  });
}

/** The checks of the answers themselves. */
export function judgeAnswers({ answers, usedBefore, unexpected }: AnswerLog): readonly CheckResult[] {
  return [
    { name: "no request was taken for its own repetition", judged: answers.length, violations: usedBefore },
    {
      name: "a broken platform answers 503 with Retry-After",
      judged: answers.length,
      violations: unexpected,
    },
  ];
}
