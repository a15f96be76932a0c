import { assertEquals } from "@std/assert";
import { type PaymentSeen, upToCursor } from "../../../../scripts/proofs/prove/bank_records.ts";

function order(DomesticPaymentId: string): PaymentSeen {
  const Initiation = { InstructedAmount: { Amount: "10.00", Currency: "EUR" } };
  return { DomesticPaymentId, ConsentId: crypto.randomUUID(), Status: "Pending", Initiation };
}

Deno.test("the prover counts an order once that two pages of a bank's list have, and twice if one page has it twice", () => {
  const [first, second, third] = ["1", "2", "3"].map((digit) =>
    order(`00000000-0000-4000-8000-00000000000${digit}`)
  ) as [PaymentSeen, PaymentSeen, PaymentSeen];
  const after = `002200000000000-${second.DomesticPaymentId}`;
  const pages = [...upToCursor([first, second, third], after), ...upToCursor([third], undefined)];
  assertEquals(pages, [first, second, third]);
  assertEquals(upToCursor([first, second, second, third], after), [first, second, second]);
});
