/** The bank's reports on the orders that it accepted: signed, legal, and repeated until the platform has answered. */
import { base64url, decodeJwt, decodeProtectedHeader, flattenedVerify } from "jose";
import { z } from "zod";
import { BANK_REASON_CODES } from "../../../../src/base/values/reason_codes.ts";
import { failed, type Outcome, passed } from "../case.ts";
import type { BankBench, BankCase } from "./bench.ts";
import type { BackChannelCall } from "./between.ts";
import { pause } from "./journey.ts";
import { REPORT_WITHIN_MS } from "./order_cases.ts";
import { payThrough } from "./orders.ts";

const reportSchema = z.object({
  Data: z.looseObject({
    Status: z.string(),
    StatusUpdateDateTime: z.iso.datetime({ offset: true }),
    StatusReasonCode: z.enum(BANK_REASON_CODES).optional(), // contract RSN5
    StatusReason: z.string().max(256).optional(),
  }),
});
/** The members that the older profile of the signature names in `crit` (Decision C5). */
const OBIE_CRIT = Object.fromEntries(
  ["iat", "iss", "tan"].map((name) => [`http://openbanking.org.uk/${name}`, true]),
);

/** Legal moves (contract PT3 to PT9). */
const MOVES: Readonly<Record<string, readonly string[]>> = {
  AcceptedSettlementInProcess: ["AcceptedSettlementInProcess", "AcceptedSettlementCompleted", "Rejected"],
  AcceptedSettlementCompleted: [
    "AcceptedSettlementCompleted",
    "AcceptedCreditSettlementCompleted",
    "AcceptedWithoutPosting",
  ],
  AcceptedWithoutPosting: ["AcceptedWithoutPosting", "AcceptedCreditSettlementCompleted", "Rejected"],
};

export const REPORT_CASES: readonly BankCase[] = [
  {
    id: "BANK-S01",
    title: "A status report is signed with the bank's key",
    requirement: "PO2, SG1",
    run: async (bench) => {
      const [report] = await reportsOn(bench, 1);
      if (report?.signature === undefined) return failed("the report has no x-jws-signature");
      await verifyDetached(bench, report.signature, report.body);
      return passed(`signed, and answered ${report.status}`);
    },
  },
  {
    id: "BANK-S02",
    title: "A status report is a legal move with its time",
    requirement: "PO2, PT3 to PT10",
    run: async (bench) => judgeMoves(await reportsOn(bench, 1)),
  },
  {
    id: "BANK-S03",
    title: "A status report whose answer is lost is repeated, or followed by the next one",
    requirement: "PO2, PT9; Decision D3",
    run: async (bench) => {
      const [first, second] = (await reportsOn(bench, 2, true))
        .map(({ body }) => reportSchema.parse(JSON.parse(body)).Data.Status.slice(0, 40));
      if (first === undefined || second === undefined) return failed("the report was not repeated");
      const follows = first === second || MOVES[first]?.includes(second) === true;
      return follows ? passed(`${first}, then ${second}`) : failed(`${first}, then ${second}`);
    },
  },
];

/** Verifies a detached signature of either profile. @throws {Error} if it is not the bank's, or not over this body */
async function verifyDetached({ bank }: BankBench, signature: string, body: string): Promise<void> {
  const [header = "", , value = ""] = signature.split(".");
  const isRaw = decodeProtectedHeader(signature)["b64"] === false;
  const jws = { protected: header, signature: value, payload: isRaw ? body : base64url.encode(body) };
  await flattenedVerify(jws, bank.signers, { algorithms: ["PS256"], crit: OBIE_CRIT });
}

/** Pays, and waits for so many reports on the order. @throws {Error} if none comes in time */
async function reportsOn(
  bench: BankBench,
  count: number,
  isLost = false,
): Promise<readonly BackChannelCall[]> {
  const { between } = bench.platform;
  const { payment: { paymentId } } = await payThrough(bench, async ({ jws, deliver }) => {
    const answer = await deliver(jws);
    if (isLost) between.failNext("PUT", paymentOf(jws), true);
    return answer;
  });
  const reports = (): readonly BackChannelCall[] =>
    between.calls(paymentId).filter(({ method, about }) => method === "PUT" && about === "payments");
  const end = Date.now() + REPORT_WITHIN_MS;
  while (reports().length < count && Date.now() < end) await pause(100);
  if (reports().length === 0) throw new Error(`no report came within ${REPORT_WITHIN_MS / 1000} s`);
  return reports();
}

function paymentOf(jws: string): string {
  const { Data } = z.object({ Data: z.looseObject({ DomesticPaymentId: z.string() }) })
    .parse(decodeJwt(jws));
  return Data.DomesticPaymentId;
}

function judgeMoves(reports: readonly BackChannelCall[]): Outcome {
  let status = "AcceptedSettlementInProcess";
  for (const { body } of reports) {
    const decoded = reportSchema.safeParse(JSON.parse(body));
    if (!decoded.success) return failed(`a report has a wrong ${decoded.error.issues[0]?.path.join(".")}`);
    const next = decoded.data.Data.Status;
    if (MOVES[status]?.includes(next) !== true) return failed(`from ${status} to ${next.slice(0, 40)}`);
    status = next;
  }
  return passed(`the last report is ${status}`);
}
