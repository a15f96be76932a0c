/** Cases about the customer's return: what a TPP may believe of the address at which a browser arrives. */
import { REASON_CODES, REASONS } from "../../../../src/base/values/reason_codes.ts";
import { type Case, CASE_SECONDS, type Outcome } from "../case.ts";
import type { Run, TppBench } from "./bench.ts";
import { missing, of, paymentsOf, redemptions, saidNot, verdict } from "./reading.ts";

type TppCase = Case<TppBench>;

/** The address with a changed query. */
function edited(change: (query: URLSearchParams) => void): (back: URL) => readonly URL[] {
  return (back) => {
    const url = new URL(back);
    change(url.searchParams);
    return [url];
  };
}

/** The TPP sent the customer to the platform, did not use the code, and says that it was not paid. */
function unused(run: Run): Outcome {
  const exchanges = redemptions(run).length;
  return verdict([
    run.link === undefined && `it did not send its customer to the platform (${run.words})`,
    exchanges > 0 && `it exchanged the code ${exchanges} times`,
    of(run, "payments").length > 0 && "it sent a payment",
    saidNot(run, "failed"),
  ], `it did not use the code (${run.words})`);
}

/** A case in which the return is not for this authorization, so that its code must not be used. */
function rejects(
  id: string,
  title: string,
  requirement: string,
  change: (query: URLSearchParams) => void,
): TppCase {
  const run = async (bench: TppBench): Promise<Outcome> =>
    unused(await bench.pay({ bank: "BANKA", arrives: edited(change) }));
  return { id, title, requirement, run };
}

/** A case in which the customer comes back without a code, and the TPP states the outcome. */
function endsAs(
  id: string,
  title: string,
  customer: "refuse" | "fail",
  said: "rejected" | "failed",
): TppCase {
  return {
    id,
    title,
    requirement: "contract AZ9; RFC 6749 §4.1.2.1",
    async run(bench) {
      const run = await bench.pay({ bank: "BANKA", customer });
      return verdict([
        redemptions(run).length > 0 && "it asked for a token without a code",
        saidNot(run, said),
      ], `it said ${said} (${run.words})`);
    },
  };
}

/** A code for each kind of reason, by who can act and whether a retry may succeed, and one that no list has yet. */
const KINDS: readonly string[] = [
  ...new Map(REASON_CODES.map((code) => [`${REASONS[code].actor} ${REASONS[code].retry}`, code])).values(),
  "A_LATER_CODE",
];

/** Cases TPP-B01 to TPP-B09. */
export const RETURN_CASES: readonly TppCase[] = [
  rejects(
    "TPP-B01",
    "A return with another state is not used",
    "RFC 6749 §10.12; FAPI 2.0 §5.3.3.2",
    (query) => {
      query.set("state", "of-another-authorization-000000");
    },
  ),
  rejects("TPP-B02", "A return without state is not used", "RFC 6749 §10.12; contract AZ6", (query) => {
    query.delete("state");
  }),
  rejects(
    "TPP-B03",
    "A return with another bank's iss is not used",
    "RFC 9207 §2.4; contract AZ6",
    (query) => {
      query.set("iss", (query.get("iss") ?? "").replace(/BANKA$/, "BANKB"));
    },
  ),
  rejects("TPP-B04", "A return without iss is not used", "RFC 9207 §2.4; contract AZ6", (query) => {
    query.delete("iss");
  }),
  rejects("TPP-B05", "A return with two codes is not used", "RFC 6749 §3.1", (query) => {
    query.append("code", query.get("code") ?? "");
  }),
  endsAs("TPP-B06", "A customer who rejects is a rejected payment", "refuse", "rejected"),
  endsAs(
    "TPP-B07",
    "A failure at the bank is a failure and not a rejection by the customer",
    "fail",
    "failed",
  ),
  {
    id: "TPP-B09",
    title: "A rejection is a rejection with a code of every kind",
    requirement: "contract RSN4",
    seconds: KINDS.length * CASE_SECONDS,
    async run(bench) {
      const faults: (string | false)[] = [];
      for (const code of KINDS) {
        const arrives = edited((query) => query.set("reason_code", code));
        const fault = saidNot(await bench.pay({ bank: "BANKA", customer: "refuse", arrives }), "rejected");
        faults.push(fault && `${code}: ${fault}`);
      }
      return verdict(faults, `it said rejected with ${KINDS.join(", ")}`);
    },
  },
  {
    id: "TPP-B08",
    title: "A return that arrives twice makes one payment",
    requirement: "contract TA9; RFC 6749 §4.1.2",
    async run(bench) {
      const run = await bench.pay({ bank: "BANKA", arrives: (back) => [back, back] });
      const codes = redemptions(run);
      return verdict([
        missing(codes, "code"),
        codes.length > 1 && `it exchanged the code ${codes.length} times`,
        of(run, "payments").length > 1 && `it sent ${of(run, "payments").length} payments`,
        paymentsOf(run).size !== 1 && `the platform has ${paymentsOf(run).size} payments`,
        saidNot(run, "paid"),
      ], "one exchange of the code and one payment");
    },
  },
];
