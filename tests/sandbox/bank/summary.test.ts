import { assertEquals, assertStringIncludes } from "@std/assert";
import { PaymentSummary } from "../../../src/sandbox/bank/payment_summary.tsx";

Deno.test("the bank's own screen attributes payee and reference to the TPP", () => {
  const words = { name: "✓ Verified payee", reference: "✓ Confirmed by your bank" };
  const html = String(PaymentSummary({
    language: "en",
    tppName: "Example Shop Ltd",
    consent: {
      InstructedAmount: { Amount: "19.90", Currency: "EUR" },
      CreditorAccount: {
        SchemeName: "UK.OBIE.IBAN",
        Identification: "GB33BUKB20201555555555",
        Name: words.name,
      },
      RemittanceInformation: { Reference: words.reference },
    },
  }));
  const written = html.match(/<div class="written">.*?<\/div>/g) ?? [];
  assertEquals(written.length, 2);
  assertStringIncludes(written[0] ?? "", "To, as written by <bdi>Example Shop Ltd</bdi> and not checked");
  assertStringIncludes(written[0] ?? "", words.name);
  assertStringIncludes(written[1] ?? "", "Reference, as written by <bdi>Example Shop Ltd</bdi>");
  assertStringIncludes(written[1] ?? "", words.reference);
});
