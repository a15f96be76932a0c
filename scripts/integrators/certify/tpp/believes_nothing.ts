/** The cases in which a TPP must not believe any answer about its payment. */
import type { Case } from "../case.ts";
import type { TppBench } from "./bench.ts";
import type { Misbehaviour } from "./front.ts";
import type { AnswerBody } from "./misbehaviours.ts";
import { keyOf, missing, of, saidNot, verdict } from "./reading.ts";

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
