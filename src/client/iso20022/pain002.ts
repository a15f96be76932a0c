/** A status report as a customer's payment status report of ISO 20022, pain.002.001.10. */
import type { StatusReport } from "../bank/back_channel.ts";
import { BANK_REASON_CODES } from "../party/reason_codes.ts";
import { PAIN_001 } from "./pain001.ts";
import { compactId, paymentIdOf } from "./payment_id.ts";
import { filled, openMessage, type Part, UnreadableMessage, writeMessage } from "./xml.ts";

const PAIN_002 = "urn:iso:std:iso:20022:tech:xsd:pain.002.001.10";
const LINE = 105;
/** `ISODateTime`. Without an offset it is this computer's time. */
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?$/;
/** The contract's limit for a reason. */
const MAX_REASON = 256;

/** Codes of ExternalPaymentTransactionStatus1Code. The first one of a status is written. */
const STATUSES = [
  ["PDNG", "Pending"],
  ["RCVD", "Pending"],
  ["ACTC", "Pending"],
  ["ACCP", "Pending"],
  ["ACSP", "AcceptedSettlementInProcess"],
  ["ACSC", "AcceptedSettlementCompleted"],
  ["ACWP", "AcceptedWithoutPosting"],
  ["ACCC", "AcceptedCreditSettlementCompleted"],
  ["RJCT", "Rejected"],
] as const;

/** A report whose time is known. */
export type TimedReport = StatusReport & { readonly at: number };

/** Writes a report. @throws {RangeError} if the status is none of a payment */
export function toPain002({ domesticPaymentId, status, at, reasonCode, reason }: TimedReport): string {
  const code = STATUSES.find(([, each]) => each === status)?.[0];
  if (code === undefined) throw new RangeError(`${status} is no status of a payment`);
  const id = compactId(domesticPaymentId);
  return writeMessage(PAIN_002, [
    "CstmrPmtStsRpt",
    ["GrpHdr", ["MsgId", id], ["CreDtTm", new Date(at).toISOString()]],
    ["OrgnlGrpInfAndSts", ["OrgnlMsgId", id], [
      "OrgnlMsgNmId",
      PAIN_001.slice(PAIN_001.lastIndexOf(":") + 1),
    ]],
    ["OrgnlPmtInfAndSts", ["OrgnlPmtInfId", id], [
      "TxInfAndSts",
      ["TxSts", code],
      filled(
        "StsRsnInf",
        reasonCode === undefined ? undefined : ["Rsn", ["Cd", reasonCode]],
        ...splitLines(reason ?? "").map((line) => ["AddtlInf", line] as const),
      ),
    ]],
  ]);
}

/**
 * Reads a report, also one of a bank's own system: of the transaction, or of its payment or group if that alone has a
 * status. Its time is the message's. A code that the platform does not know is left out, and the first one of several is read.
 * @throws {UnreadableMessage} if the text is no report about one payment of an order, or has a status of no payment
 */
export function fromPain002(xml: string): TimedReport {
  const report = openMessage(PAIN_002, xml).part("CstmrPmtStsRpt");
  const payment = report?.part("OrgnlPmtInfAndSts");
  if (report === undefined || payment === undefined) throw new UnreadableMessage("expected one payment");
  const id = payment.text("OrgnlPmtInfId");
  const time = report.text("GrpHdr/CreDtTm") ?? "";
  const at = DATE_TIME.test(time) ? Date.parse(time) : NaN;
  if (Number.isNaN(at)) throw new UnreadableMessage("expected a time in CreDtTm");
  return { domesticPaymentId: paymentIdOf(id), at, ...statusIn(report, payment) };
}

function statusIn(report: Part, payment: Part): Pick<StatusReport, "status" | "reasonCode" | "reason"> {
  const transfer = payment.part("TxInfAndSts");
  const group = report.part("OrgnlGrpInfAndSts");
  const [said, code] = [
    [transfer, transfer?.text("TxSts")],
    [payment, payment.text("PmtInfSts")],
    [group, group?.text("GrpSts")],
  ].find(([, each]) => each !== undefined) as [Part, string] | undefined ?? [];
  const status = STATUSES.find(([each]) => each === code)?.[1];
  if (status === undefined) {
    throw new UnreadableMessage(`expected one of ${STATUSES.map(([each]) => each).join(", ")} as status`);
  }
  const [reasonCode] = (said?.texts("StsRsnInf/Rsn/Cd") ?? []).flatMap((named) =>
    BANK_REASON_CODES.filter((each) => each === named)
  );
  // The platform takes no line break or other control character.
  const lines = (said?.texts("StsRsnInf/AddtlInf") ?? []).join("").replaceAll(/\p{Cc}+/gu, " ");
  const reason = [...lines].slice(0, MAX_REASON).join("");
  return {
    status,
    reasonCode,
    reason: reason === "" ? undefined : reason,
  };
}

function splitLines(text: string): readonly string[] {
  const characters = [...text];
  const lines = Math.ceil(characters.length / LINE);
  return Array.from(
    { length: lines },
    (_, line) => characters.slice(line * LINE, (line + 1) * LINE).join(""),
  );
}
