/** What each status of a payment says, and what a payment keeps of a bank's word and after its erasure [PT3, PT10]. */
import { assertEquals } from "@std/assert";
import { asBankCode, asClientId, asConsentId, asPaymentId } from "../../../../src/base/kernel/identifiers.ts";
import {
  afterWord,
  beforeReport,
  isDecided,
  isReachable,
  movedAt,
  movesFrom,
  type Payment,
  PAYMENT_STATUSES,
  type PaymentStatus,
  reasonOfClosing,
  saidOf,
  withoutPerson,
} from "../../../../src/platform/core/payments/payment.ts";

/** What may follow a status, at once or later, and whether no bank has to decide any more. */
const STATUSES: Readonly<
  Record<
    PaymentStatus,
    readonly [next: readonly PaymentStatus[], later: readonly PaymentStatus[], isDecided: boolean]
  >
> = {
  Pending: [
    ["AcceptedSettlementInProcess", "Rejected"],
    [
      "Rejected",
      "AcceptedSettlementInProcess",
      "AcceptedSettlementCompleted",
      "AcceptedWithoutPosting",
      "AcceptedCreditSettlementCompleted",
    ],
    false,
  ],
  Rejected: [[], [], true],
  AcceptedSettlementInProcess: [
    ["AcceptedSettlementCompleted", "Rejected"],
    [
      "Rejected",
      "AcceptedSettlementCompleted",
      "AcceptedWithoutPosting",
      "AcceptedCreditSettlementCompleted",
    ],
    false,
  ],
  AcceptedSettlementCompleted: [
    ["AcceptedWithoutPosting", "AcceptedCreditSettlementCompleted"],
    ["Rejected", "AcceptedWithoutPosting", "AcceptedCreditSettlementCompleted"],
    true,
  ],
  AcceptedWithoutPosting: [
    ["AcceptedCreditSettlementCompleted", "Rejected"],
    ["Rejected", "AcceptedCreditSettlementCompleted"],
    true,
  ],
  AcceptedCreditSettlementCompleted: [[], [], true],
};

Deno.test("each status has its next ones, those that can be reached, and says whether the bank has decided [PT3, PT10]", () => {
  const found = PAYMENT_STATUSES.map((status) => [
    status,
    [movesFrom(status), PAYMENT_STATUSES.filter((to) => isReachable(status, to)), isDecided({ status })],
  ]);
  assertEquals(Object.fromEntries(found), STATUSES);
});

Deno.test("only a rejection has a reason, cut to its bound, and none without a text [RSN2]", () => {
  const word = { reasonCode: "AM04", reason: "x".repeat(300) } as const;
  for (const status of PAYMENT_STATUSES.filter((one) => one !== "Rejected")) {
    assertEquals(saidOf(status, word), {}, status);
  }
  const { statusReasonCode, statusReason } = saidOf("Rejected", word);
  assertEquals([statusReasonCode, statusReason?.length], ["AM04", 256]);
  const short = saidOf("Rejected", { ...word, reason: "No money." });
  assertEquals(short, { statusReasonCode: "AM04", statusReason: "No money." });
  for (const reason of ["", undefined]) {
    const said = saidOf("Rejected", { ...word, reason });
    assertEquals(said, { statusReasonCode: "AM04" });
  }
  assertEquals(reasonOfClosing("Never sent."), {
    statusReasonCode: "ORDER_CLOSED",
    statusReason: "Never sent.",
  });
});

const AT = 1_800_000_000_000;

Deno.test("what a bank says of a status replaces what was said of the one before, also if it says nothing [RSN2]", () => {
  const former = payment();
  const { statusReason: _, statusReasonCode: __, ...unsaid } = former;
  assertEquals(afterWord(former, "Pending", AT + 1, {}), {
    ...unsaid,
    status: "Pending",
    statusUpdatedAt: AT + 1,
  });
  const rejected = afterWord(former, "Rejected", AT + 1, { reasonCode: "AM04" });
  assertEquals(rejected, {
    ...unsaid,
    status: "Rejected",
    statusReasonCode: "AM04",
    statusUpdatedAt: AT + 1,
  });
});

function payment(): Payment {
  const [id, consentId] = [asPaymentId(crypto.randomUUID()), asConsentId(crypto.randomUUID())];
  const [clientId, bank] = [asClientId(`SC-${crypto.randomUUID()}`), asBankCode("BANKA")];
  if (id === undefined || consentId === undefined || clientId === undefined || bank === undefined) {
    throw new Error("four ids");
  }
  return {
    ...{ id, consentId, clientId, bank },
    initiation: {
      instructionIdentification: "ACME412",
      endToEndIdentification: "FRESCO.21302.GFX.20",
      instructedAmount: { amount: "4.20", currency: "EUR" },
      creditorAccount: {
        schemeName: "UK.OBIE.IBAN",
        identification: "ES9121000418450200051332",
        name: "ACME",
      },
    },
    debtorAccount: { schemeName: "UK.OBIE.IBAN", identification: "ES7921000813610123456789" },
    readRefundAccount: false,
    status: "Rejected",
    statusReasonCode: "ORDER_CLOSED",
    statusReason: "A person's words.",
    closedAt: AT,
    charges: [],
    createdAt: AT - 2000,
    statusUpdatedAt: AT,
    personalData: { state: "present" },
  };
}

Deno.test("a payment whose order was closed is as if it waited, without the operator's reason; any other stays [O3]", () => {
  const closed = payment();
  const { closedAt, statusReason, statusReasonCode, ...open } = closed;
  assertEquals([closedAt, statusReason, statusReasonCode], [AT, "A person's words.", "ORDER_CLOSED"]);
  assertEquals(beforeReport(closed), { ...open, status: "Pending" });
  const rejected: Payment = { ...open, statusReasonCode: "AM04" };
  assertEquals(beforeReport(rejected), rejected);
});

Deno.test("an erased payment has amount, statuses and times, and nothing of a person [EN11]", () => {
  const whole = payment();
  const { statusReason: _, ...kept } = whole;
  assertEquals(JSON.parse(JSON.stringify(withoutPerson(whole, AT + 5))), {
    ...kept,
    initiation: { instructedAmount: { amount: "4.20", currency: "EUR" } },
    debtorAccount: { schemeName: "", identification: "" },
    personalData: { state: "erased", at: AT + 5, scope: "case" },
  });
});

Deno.test("a status is dated by the bank, not before the former one and not in the future", () => {
  const cases = [[AT - 1, AT], [AT, AT], [AT + 1, AT + 1], [AT + 10, AT + 10], [AT + 11, AT + 10]] as const;
  for (const [claimed, expected] of cases) assertEquals(movedAt(payment(), claimed, AT + 10), expected);
});
