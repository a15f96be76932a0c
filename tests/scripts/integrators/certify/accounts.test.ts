import { assertEquals } from "@std/assert";
import { judgeAccounts } from "../../../../scripts/integrators/certify/bank/journey_cases.ts";

const NUMBER = { SchemeName: "UK.OBIE.IBAN", Identification: "GB82WEST12345698765432" };
const OWN = [
  { ...NUMBER, Currency: "USD", Balance: "7.00" },
  { ...NUMBER, Currency: "EUR", Balance: "100.00" },
];

const REPORTS = {
  "both currencies of one number": [OWN, true],
  "the consent's currency by its absence": [[{ ...NUMBER, Balance: "100.00" }], true],
  "the balance of the other currency": [[{ ...NUMBER, Currency: "USD", Balance: "100.00" }], false],
  "a currency that the account does not have": [[{ ...NUMBER, Currency: "GBP" }], false],
  "the number of somebody else": [[{ ...NUMBER, Identification: "GB33BUKB20201555555555" }], false],
} as const;

for (const [name, [reported, expected]] of Object.entries(REPORTS)) {
  Deno.test(`the certification of banks judges accounts by number and currency: ${name} [BF7]`, () => {
    assertEquals(judgeAccounts(reported, OWN).passed, expected);
  });
}
