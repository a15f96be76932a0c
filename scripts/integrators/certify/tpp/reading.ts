/** Readings of a run that several cases use, and the cases in which a TPP must not believe any answer. */
import { type Case, failed, type Outcome, passed } from "../case.ts";
import type { Run, TppBench } from "./bench.ts";
import { type Endpoint, type Exchange, field, parseAnswer } from "./exchange.ts";
import type { Misbehaviour } from "./front.ts";
import type { AnswerBody } from "./misbehaviours.ts";

/** The requests of an endpoint, in their order. */
export function of({ exchanges }: Pick<Run, "exchanges">, endpoint: Endpoint, method = "POST"): Exchange[] {
  return exchanges.filter((exchange) => exchange.endpoint === endpoint && exchange.method === method);
}

/** Requests for a token with a code. */
export function redemptions(run: Pick<Run, "exchanges">): Exchange[] {
  return of(run, "token").filter((exchange) => field(exchange, "grant_type") === "authorization_code");
}

/** Ids of the payments that the platform has made in a run. */
export function paymentsOf(run: Pick<Run, "exchanges">): ReadonlySet<string> {
  const ids = of(run, "payments").filter(({ platform }) => platform?.status === 201)
    .map((exchange) => String(parseAnswer(exchange).Data?.DomesticPaymentId));
  return new Set(ids);
}

/** Passed if no fault was found; failed with the first of them. */
export function verdict(faults: readonly (string | false | undefined)[], good: string): Outcome {
  const found = faults.filter((fault) => fault !== false && fault !== undefined && fault !== "");
  return found.length === 0 ? passed(good) : failed(found.join("; "));
}

/** A fault if the TPP did not say one of these words. */
export function saidNot(run: Run, ...words: readonly Run["said"][]): string | false {
  return !words.includes(run.said) && `it said ${run.said} instead of ${words.join(" or ")} (${run.words})`;
}

/** A fault for each value that stands there twice. */
export function repeated(values: readonly string[], name: string): string | false {
  const twice = values.filter((value, at) => values.indexOf(value) !== at).length;
  return twice > 0 && `${twice} of ${values.length} requests repeat ${name}`;
}

/** A fault if there was no such request to judge. */
export function missing(exchanges: readonly unknown[], name: string): string | false {
  return exchanges.length === 0 && `it sent no ${name}`;
}

/** The name of a request for the report. */
export function methodAndPath({ method, url }: Exchange): string {
  return `${method} ${url.pathname.replace(/[0-9a-f-]{36}/, "{id}")}`;
}

/** The idempotency key of a request. */
export function keyOf({ headers }: Exchange): string | null {
  return headers.get("x-idempotency-key");
}

type TppCase = Case<TppBench>;

const BANK = "BANKA";
/** More repetitions of one request are a flood. */
const MAX_REPETITIONS = 20;

/** A case in which no answer about the payment can be believed: the payment was made, but the TPP cannot know. */
export function believesNothing(
  { id, title, requirement }: Pick<TppCase, "id" | "title" | "requirement">,
  misbehaviour: (bench: TppBench) => Misbehaviour | Promise<Misbehaviour>,
): TppCase {
  return {
    id,
    title,
    requirement,
    async run(bench) {
      const run = await bench.pay({ bank: BANK }, await misbehaviour(bench));
      const posts = of(run, "payments");
      return verdict([
        missing(posts, "payment"),
        posts.length > MAX_REPETITIONS && `it sent the payment ${posts.length} times`,
        new Set(posts.map(keyOf)).size > 1 && "it sent the payment with another idempotency key",
        saidNot(run, "unknown"),
      ], `it said unknown after ${posts.length} attempts (${run.words})`);
    },
  };
}

/** The payment's answer with another status and time, which the platform's answer never has, however late it is read. */
export const settled = (body: AnswerBody): unknown => ({
  ...body,
  Data: {
    ...body.Data,
    Status: "AcceptedCreditSettlementCompleted",
    StatusUpdateDateTime: "2020-01-01T00:00:00+00:00",
  },
});
