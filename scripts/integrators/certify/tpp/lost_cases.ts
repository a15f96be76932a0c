/** Cases about requests that get no answer, or that are to be sent again later. */
import type { Case, Outcome } from "../case.ts";
import {
  believesNothing,
  keyOf,
  missing,
  of,
  paymentsOf,
  redemptions,
  repeated,
  saidNot,
  verdict,
} from "./reading.ts";
import type { Run, TppBench } from "./bench.ts";
import { type Exchange, field, tokenOf } from "./exchange.ts";
import type { Misbehaviour } from "./front.ts";
import { answer, answered, lost, type Target } from "./misbehaviours.ts";

type TppCase = Case<TppBench>;

const BANK = "BANKA";
const POST = "POST";
const payment: Target = { endpoint: "payments", method: POST };
const RETRY_AFTER_SECONDS = 2;
/** Timers of a TPP may be that early, milliseconds. */
const TIMER_MILLISECONDS = 100;
/** One repetition after a lost response is safe (docs/tpp.md): the first token is revoked by it. */
const MAX_CODE_REQUESTS = 2;
const wait = { "retry-after": String(RETRY_AFTER_SECONDS) };
const unavailable = (): Response => answer(503, { Code: "503", Errors: [] }, wait);
const tooMany = (): Response => answer(429, { error: "temporarily_unavailable" }, wait);
const tooManyOnce = answered({ endpoint: "token", first: 1 }, tooMany);

/** A case in which the first request to `endpoint` gets no answer or is to be sent later. */
function repeats(
  { id, title, requirement }: Pick<TppCase, "id" | "title" | "requirement">,
  target: Target,
  misbehaviour: Misbehaviour,
  isToWait: boolean,
): TppCase {
  return {
    id,
    title,
    requirement,
    async run(bench) {
      const run = await bench.pay({ bank: BANK }, misbehaviour);
      const [one, two, ...more] = of(run, target.endpoint).filter(isFirstKind);
      if (one === undefined) return judgeKept(run, target);
      if (two === undefined) return judgeLookup(run, one);
      const waited = two.at - (one.answeredAt ?? two.at);
      const early = RETRY_AFTER_SECONDS * 1000 - TIMER_MILLISECONDS;
      return verdict([
        isToWait && waited < early &&
        `it waited ${Math.round(waited)} ms instead of ${RETRY_AFTER_SECONDS} s`,
        keyOf(one) !== keyOf(two) && "it sent the request again with another idempotency key",
        keyOf(one) !== null && one.body !== two.body && "it sent another body with the same idempotency key",
        more.length > 0 && `it sent the request ${more.length + 2} times`,
        repeated([one, two].map(({ headers }) => headers.get("dpop") ?? ""), "a DPoP proof"),
        paymentsOf(run).size !== 1 && `the platform has ${paymentsOf(run).size} payments`,
        saidNot(run, "paid"),
      ], `it sent the request again after ${Math.round(waited)} ms and was paid once`);
    },
  };
}

/** A TPP may use a token until it expires, so that it asks for none. */
function judgeKept(run: Run, { endpoint }: Target): Outcome {
  const isKept = endpoint === "token" && run.exchanges.some((exchange) => tokenOf(exchange) !== undefined);
  return verdict([!isKept && "it sent no such request", saidNot(run, "paid")], "not asked: it had a token");
}

/** A payment may be looked up by its key (docs/tpp.md, "Lost responses") in place of a repetition. */
function judgeLookup(run: Run, lost: Exchange): Outcome {
  const key = keyOf(lost);
  const isLookedUp = key !== null &&
    of(run, lost.endpoint, "GET").some(({ url }) => url.searchParams.get("idempotency-key") === key);
  return verdict([
    !isLookedUp && `it did not send the request again (${run.words})`,
    paymentsOf(run).size !== 1 && `the platform has ${paymentsOf(run).size} payments`,
    saidNot(run, "paid"),
  ], "it looked the payment up by its idempotency key and was paid once");
}

/** A token request is judged with those of its grant. */
function isFirstKind(exchange: Exchange): boolean {
  return exchange.endpoint !== "token" || field(exchange, "grant_type") === "client_credentials";
}

/** Cases TPP-A05 to TPP-A10. */
export const LOST_CASES: readonly TppCase[] = [
  repeats(
    {
      id: "TPP-A05",
      title:
        "A payment whose answer is lost is sent again with the same idempotency key and body, or looked up by it",
      requirement: "contract IK7; Decision C4",
    },
    payment,
    lost({ ...payment, first: 1 }),
    false,
  ),
  repeats(
    {
      id: "TPP-A06",
      title: "A consent whose answer is lost is sent again with the same idempotency key and body",
      requirement: "contract IK7; Decision C4",
    },
    { endpoint: "consents" },
    lost({ endpoint: "consents", method: POST, first: 1 }),
    false,
  ),
  repeats(
    {
      id: "TPP-A07",
      title: "After 503 a payment is sent again when Retry-After has passed",
      requirement: "contract EH5; RFC 9110 §10.2.3",
    },
    payment,
    answered({ ...payment, first: 1 }, unavailable),
    true,
  ),
  repeats(
    {
      id: "TPP-A08",
      title: "After 429 a token is requested again when Retry-After has passed",
      requirement: "contract RL3; RFC 6585 §4",
    },
    { endpoint: "token" },
    (exchange, ...others) => isFirstKind(exchange) ? tooManyOnce(exchange, ...others) : undefined,
    true,
  ),
  believesNothing({
    id: "TPP-A09",
    title: "A payment about which no answer comes is unknown, neither paid nor failed",
    requirement: "contract IK7; Decision C4",
  }, () => lost({ endpoint: "payments" })),
  {
    id: "TPP-A10",
    title: "A code whose answers are lost is sent twice at most, and the payment is failed or begins again",
    requirement: "contract TA9; RFC 6749 §4.1.2",
    async run(bench) {
      const lose = lost({ endpoint: "token" });
      const run = await bench.pay(
        { bank: BANK },
        (exchange, before, forward) => isFirstKind(exchange) ? undefined : lose(exchange, before, forward),
      );
      const codes = redemptions(run);
      const beginsAgain = run.beginsAgain === true; // docs/tpp.md, "Lost responses"
      const end = beginsAgain ? "its customer to a new consent" : `said failed (${run.words})`;
      return verdict([
        missing(codes, "code"),
        codes.length > MAX_CODE_REQUESTS && `it sent the code ${codes.length} times`,
        !beginsAgain && saidNot(run, "failed"),
      ], `it sent the code ${codes.length === 1 ? "once" : "twice"} and ${end}`);
    },
  },
];
