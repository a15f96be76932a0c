/** The status report that a bank puts (Decision D3). */
import { assertEquals } from "@std/assert";
import { decodeStatusReport } from "../../../src/platform/backchannel/status_report_schema.ts";
import { edited, without } from "../http/edited.ts";
import { faultsOf } from "../http/rejections.ts";

const CHARGE = {
  ChargeBearer: "BorneByDebtor",
  Type: "UK.OBIE.CHAPSOut",
  Amount: { Amount: "0.25", Currency: "EUR" },
};
const REPORT = {
  Data: {
    Status: "AcceptedSettlementCompleted",
    StatusUpdateDateTime: "2026-06-01T12:00:00+00:00",
    StatusReason: "Booked",
    Charges: [CHARGE],
  },
};

Deno.test("status report is decoded with its instant and charges [D3]", () => {
  assertEquals(decodeStatusReport(REPORT), {
    status: "AcceptedSettlementCompleted",
    statusUpdatedAtMilliseconds: Date.UTC(2026, 5, 1, 12),
    statusReason: "Booked",
    charges: [{
      chargeBearer: "BorneByDebtor",
      type: "UK.OBIE.CHAPSOut",
      amount: { amount: "0.25", currency: "EUR" },
    }],
  });
});

Deno.test("status report needs a status and a time only; a bare date is its last second in UTC [D3]", () => {
  assertEquals(decodeStatusReport({ Data: { Status: "Rejected", StatusUpdateDateTime: "2026-06-01" } }), {
    status: "Rejected",
    statusUpdatedAtMilliseconds: Date.UTC(2026, 5, 1, 23, 59, 59),
  });
});

Deno.test("status report takes the six statuses [D3]", () => {
  for (
    const status of [
      "Pending",
      "Rejected",
      "AcceptedSettlementInProcess",
      "AcceptedSettlementCompleted",
      "AcceptedWithoutPosting",
      "AcceptedCreditSettlementCompleted",
    ]
  ) assertEquals(decodeStatusReport(edited(REPORT, "Data.Status", status)).status, status);
});

Deno.test("status report with a faulty field is rejected there [D3]", () => {
  const cases: [string, unknown, string][] = [
    ["Data.Status", "Accepted", "Field.Invalid"],
    ["Data.Status", "ACSC", "Field.Invalid"],
    ["Data.StatusUpdateDateTime", "2026-06-01T12:00:00", "Field.InvalidDate"],
    ["Data.StatusUpdateDateTime", "yesterday", "Field.InvalidDate"],
    ["Data.StatusUpdateDateTime", 1780315200, "Field.Invalid"],
    ["Data.StatusReason", "", "Field.Invalid"],
    ["Data.StatusReason", "x".repeat(257), "Field.Invalid"],
    ["Data.StatusReason", "a\u001bb", "Field.Invalid"],
    ["Data.Charges", Array(21).fill(CHARGE), "Field.Invalid"],
    ["Data.Charges[0].ChargeBearer", "Nobody", "Field.Invalid"],
    ["Data.Charges[0].Amount.Amount", "-0.25", "Field.Invalid"],
    ["Data.Charges[0].Amount.Amount", 0.25, "Field.Invalid"],
    ["Data.Charges[0].Amount.Currency", "ZZZ", "Field.Invalid"],
    ["Data.Extra", 1, "Field.Unexpected"],
  ];
  for (const [path, value, code] of cases) {
    assertEquals(faultsOf(() => decodeStatusReport(edited(REPORT, path, value))), [`${code} ${path}`], path);
  }
});

Deno.test("status report without a required member is rejected as missing there [D3]", () => {
  for (
    const path of [
      "Data",
      "Data.Status",
      "Data.StatusUpdateDateTime",
      "Data.Charges[0].Amount",
      "Data.Charges[0].Amount.Amount",
    ]
  ) {
    assertEquals(faultsOf(() => decodeStatusReport(without(REPORT, path))), [`Field.Missing ${path}`]);
  }
});

Deno.test("status report may say that there are no charges [D3]", () => {
  assertEquals(decodeStatusReport(edited(REPORT, "Data.Charges", [])).charges, []);
});
