/** Orders are executed exactly once, whatever is lost, late or sent again. */
import { failed, type Outcome, passed } from "../case.ts";
import type { BankBench, BankCase } from "./bench.ts";
import type { OrderAnswer, TakePush } from "./between.ts";
import { renewed, signed } from "./forge.ts";
import { pause } from "./journey.ts";
import { balanceOf, claimsOf, debit, isOnce, type PaidOrder, payThrough, statusOf } from "./orders.ts";

const PARALLEL = 5;
/** How long a bank has to report on an order that it accepted, milliseconds. */
export const REPORT_WITHIN_MS = 30_000;

export const ORDER_CASES: readonly BankCase[] = [
  {
    id: "BANK-O01",
    title: "An order is answered with a legal status, and debits its amount from its account",
    requirement: "PO3, PO4, PT1",
    run: async (bench) => {
      const account = (await bench.hook.payers())[1]?.Identification;
      const paid = await payThrough(bench, straight, account === undefined ? {} : { account });
      return judge(paid, isAccepted(paid), paid.payment.status);
    },
  },
  {
    id: "BANK-O02",
    title: "The same order again gets the first answer, and is executed once",
    requirement: "PO4; Decision D1",
    run: (bench) =>
      repeated(bench, async ({ jws, deliver }) => {
        const answers = [await deliver(jws), await deliver(jws), await deliver(jws)];
        return answers;
      }),
  },
  {
    id: "BANK-O03",
    title: `An order that comes ${PARALLEL} times at once, each newly signed, is executed once`,
    requirement: "PO4; Decision D1",
    run: (bench) =>
      repeated(bench, async (push) => {
        const copies = await Promise.all(
          Array.from({ length: PARALLEL }, () => signed(bench, renewed(claimsOf(push)))),
        );
        return await Promise.all(copies.map((copy) => push.deliver(copy)));
      }),
  },
  {
    id: "BANK-O04",
    title: "If the bank's answer is lost, the platform's next push gets it, and the order is executed once",
    requirement: "PO3, PO4; Decision D4",
    run: afterLostAnswer,
  },
  {
    id: "BANK-O05",
    title: "An order that comes late, after pushes that never reached the bank, is executed once",
    requirement: "PO3, PO4; Decision D4",
    run: async (bench) => {
      const paid = await payThrough(bench, async ({ jws, attempt, deliver }) => {
        if (attempt < 3) return "lost";
        return await deliver(jws);
      });
      return judge(paid, isAccepted(paid), paid.payment.status);
    },
  },
  {
    id: "BANK-O06",
    title:
      "An order that comes again after the bank has reported on it gets the first answer, and is executed once",
    requirement: "PO4, PT10; Decision D1",
    run: againAfterReport,
  },
  {
    id: "BANK-O07",
    title: "An order with a known id and another amount is not executed a second time",
    requirement: "PO4; Decision G9",
    run: async (bench) => {
      const paid = await payThrough(bench, async (push) => {
        const first = await push.deliver(push.jws);
        await push.deliver(await signed(bench, withAmount(claimsOf(push), "77.77")));
        return first;
      });
      return judge(paid, true, "after the second order");
    },
  },
  {
    id: "BANK-O08",
    title: "An order beyond the balance is not accepted, and debits nothing",
    requirement: "PO3, PT4",
    run: async (bench) => {
      const [payer] = await bench.hook.payers();
      const { Identification = "", Balance = "0" } = payer ?? {};
      const before = await balanceOf(bench, Identification);
      const statuses: string[] = [];
      await payThrough(bench, async (push) => {
        const beyond = (Math.ceil(Number(Balance)) + 100).toFixed(2);
        const answer = await push.deliver(await signed(bench, withAmount(claimsOf(push), beyond)));
        statuses.push(statusOf(answer));
        return answer;
      }, { account: Identification });
      const fell = before - await balanceOf(bench, Identification);
      const seen = `answered ${statuses.join(", ")}; the account fell by ${fell} cents`;
      return statuses.every((status) => status === "Rejected") && fell === 0 ? passed(seen) : failed(seen);
    },
  },
];

/** The bank may have reported a further status before the TPP reads it. */
function isAccepted({ payment: { status } }: PaidOrder): boolean {
  return status.startsWith("Accepted");
}

const straight: TakePush = ({ jws, deliver }) => deliver(jws);

/** Pushes an order several times. All answers must be the first one. */
async function repeated(
  bench: BankBench,
  deliver: (push: Parameters<TakePush>[0]) => Promise<readonly OrderAnswer[]>,
): Promise<Outcome> {
  let statuses: readonly string[] = [];
  const paid = await payThrough(bench, async (push) => {
    const answers = await deliver(push);
    statuses = answers.map(statusOf);
    return answers[0] ?? "lost";
  });
  return judge(paid, new Set(statuses).size === 1, statuses.join(", "));
}

async function afterLostAnswer(bench: BankBench): Promise<Outcome> {
  const statuses: string[] = [];
  const paid = await payThrough(bench, async ({ jws, attempt, deliver }) => {
    const answer = await deliver(jws);
    statuses.push(statusOf(answer));
    return attempt === 1 ? "lost" : answer;
  });
  // A bank that has reported on the order, or pulled it, gets no second push of the platform.
  const again = statuses.length > 1 ? 0 : await pushAgain(bench, paid, statuses);
  const seen = statuses.join(", ");
  return judge({ ...paid, debited: paid.debited + again }, new Set(statuses).size === 1, seen);
}

async function againAfterReport(bench: BankBench): Promise<Outcome> {
  const paid = await payThrough(bench, straight);
  const { payment: { paymentId } } = paid;
  const end = Date.now() + REPORT_WITHIN_MS;
  while (bench.platform.between.calls(paymentId).length === 0 && Date.now() < end) await pause(200);
  const statuses: string[] = [];
  const again = await pushAgain(bench, paid, statuses);
  const isFirst = statuses[0] === "AcceptedSettlementInProcess";
  return judge({ ...paid, debited: paid.debited + again }, isFirst, statuses.join(", "));
}

/** Pushes the order once more, newly signed. Returns by how many cents the payer's account fell. */
async function pushAgain(bench: BankBench, { push, payer }: PaidOrder, statuses: string[]): Promise<number> {
  const before = await balanceOf(bench, payer);
  statuses.push(statusOf(await push.deliver(await signed(bench, renewed(claimsOf(push))))));
  return before - await balanceOf(bench, payer);
}

function judge(paid: PaidOrder, isRight: boolean, words: string): Outcome {
  const seen = `${words}; ${debit(paid)}`;
  return isRight && isOnce(paid) ? passed(seen) : failed(seen);
}

function withAmount(claims: ReturnType<typeof claimsOf>, Amount: string): ReturnType<typeof claimsOf> {
  const copy = structuredClone(claims);
  const initiation = memberOf(memberOf(copy, "Data"), "Initiation");
  Object.assign(memberOf(initiation, "InstructedAmount"), { Amount });
  return renewed(copy);
}

function memberOf(of: unknown, name: string): object {
  const member: unknown = typeof of === "object" && of !== null ? Reflect.get(of, name) : undefined;
  if (typeof member !== "object" || member === null) throw new Error(`the order has no ${name}`);
  return member;
}
