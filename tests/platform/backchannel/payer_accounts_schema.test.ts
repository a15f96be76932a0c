/** The payer accounts that a bank puts (contract BF5 to BF11; Decision C11). */
import { OBIE_SCHEMES } from "../../../src/base/values/account_schemes.ts";
import { assertEquals } from "@std/assert";
import {
  decodePayerAccounts,
  type PayerAccountsContext,
} from "../../../src/platform/backchannel/payer_accounts_schema.ts";
import { asBankCode, asConsentId } from "../../../src/base/kernel/identifiers.ts";
import { edited, without } from "../http/edited.ts";
import { reportOnWire } from "../http/on_wire.ts";
import { faultsOf } from "../http/rejections.ts";

const CONSENT_ID = "58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11";

const UPDATE = {
  Data: {
    BankId: "BANKA",
    ConsentId: CONSENT_ID,
    Sub: "c-4711",
    DebtorAccount: [
      {
        SchemeName: "UK.OBIE.IBAN",
        Identification: "GB29NWBK60161331926819",
        Balance: "1500.00",
        Currency: "EUR",
        SecondaryIdentification: "SUB-1",
      },
      { SchemeName: "UK.OBIE.SortCodeAccountNumber", Identification: "11280001234567" },
    ],
  },
};
const ONE = edited(UPDATE, "Data.DebtorAccount", UPDATE.Data.DebtorAccount.slice(0, 1));

function context(mode: "platform" | "bank"): PayerAccountsContext {
  const bank = asBankCode("BANKA");
  const consentId = asConsentId(CONSENT_ID);
  if (bank === undefined || consentId === undefined) throw new Error("the test's own ids are malformed");
  return { bank, consentId, mode, accountSchemes: OBIE_SCHEMES };
}

function faultsIn(body: unknown, mode: "platform" | "bank" = "platform"): string[] {
  return faultsOf(() => decodePayerAccounts(body, context(mode)));
}

/** A list of different accounts. */
function accounts(count: number): unknown[] {
  return Array.from({ length: count }, (_, i) => ({
    SchemeName: "UK.OBIE.SortCodeAccountNumber",
    Identification: `1128000${String(i).padStart(7, "0")}`,
  }));
}

Deno.test("payer accounts are taken as they are: several for the platform's screen, one for the bank's [BCH-03]", () => {
  assertEquals(reportOnWire(decodePayerAccounts(UPDATE, context("platform"))), UPDATE);
  assertEquals(reportOnWire(decodePayerAccounts(ONE, context("platform"))), ONE);
  assertEquals(reportOnWire(decodePayerAccounts(ONE, context("bank"))), ONE);
});

Deno.test("two payer accounts for the bank's screen are rejected [BCH-03]", () => {
  assertEquals(faultsIn(UPDATE, "bank"), ["Field.Invalid Data.DebtorAccount"]);
});

Deno.test("payer accounts may be 100 and no more, and not none [BCH-04]", () => {
  const hundred = edited(UPDATE, "Data.DebtorAccount", accounts(100));
  assertEquals(reportOnWire(decodePayerAccounts(hundred, context("platform"))), hundred);
  assertEquals(faultsIn(edited(UPDATE, "Data.DebtorAccount", accounts(101))), [
    "Field.Invalid Data.DebtorAccount",
  ]);
  for (const mode of ["platform", "bank"] as const) {
    assertEquals(faultsIn(edited(UPDATE, "Data.DebtorAccount", []), mode), [
      "Field.Missing Data.DebtorAccount",
    ]);
    assertEquals(faultsIn(without(UPDATE, "Data.DebtorAccount"), mode), ["Field.Missing Data.DebtorAccount"]);
  }
});

Deno.test("payer accounts for another bank or consent than the path's are rejected [BCH-04]", () => {
  assertEquals(faultsIn(edited(UPDATE, "Data.BankId", "BANKB")), ["Field.Invalid Data.BankId"]);
  assertEquals(faultsIn(edited(UPDATE, "Data.BankId", "banka")), ["Field.Invalid Data.BankId"]);
  for (const id of ["0b6d6dd0-8a1c-4c8b-9f41-97ab9f1ad6d1", "zzz", "", 5, null]) {
    assertEquals(faultsIn(edited(UPDATE, "Data.ConsentId", id)), ["Field.Invalid Data.ConsentId"]);
  }
});

Deno.test("payer accounts may write the consent's UUID in capitals", () => {
  const shouted = edited(UPDATE, "Data.ConsentId", CONSENT_ID.toUpperCase());
  assertEquals(reportOnWire(decodePayerAccounts(shouted, context("platform"))), shouted);
});

Deno.test("payer accounts without a required member are rejected as missing there [BCH-04]", () => {
  for (
    const path of [
      "Data",
      "Data.BankId",
      "Data.ConsentId",
      "Data.Sub",
      "Data.DebtorAccount[1].SchemeName",
      "Data.DebtorAccount[0].Identification",
    ]
  ) assertEquals(faultsIn(without(UPDATE, path)), [`Field.Missing ${path}`]);
});

Deno.test("payer accounts whose Sub is an account number are rejected [BCH-04]", () => {
  for (
    const sub of [
      "GB29NWBK60161331926819", // of the list
      "GB29 NWBK 6016 1331 9268 19",
      "11280001234567", // of the list, though neither IBAN nor card number
      "11-28-00 01234567",
      "sub-1", // a secondary identification of the list
      "DE89370400440532013000", // any IBAN
      "4111111111111111", // any card number
    ]
  ) assertEquals(faultsIn(edited(UPDATE, "Data.Sub", sub)), ["Field.Invalid Data.Sub"], sub);
});

Deno.test("payer accounts whose Sub has 0 or 71 characters are rejected [BCH-04]", () => {
  for (const sub of ["", "x".repeat(71), 5, null]) {
    assertEquals(faultsIn(edited(UPDATE, "Data.Sub", sub)), ["Field.Invalid Data.Sub"]);
  }
  const longest = edited(UPDATE, "Data.Sub", "x".repeat(70));
  assertEquals(reportOnWire(decodePayerAccounts(longest, context("platform"))), longest);
});

Deno.test("payer accounts that repeat one are rejected at the repetition [BCH-04]", () => {
  const [first, second] = UPDATE.Data.DebtorAccount;
  const listed = (list: unknown[]): unknown => edited(UPDATE, "Data.DebtorAccount", list);
  const other = { ...first, SecondaryIdentification: "SUB-2" };
  assertEquals(faultsIn(listed([first, second, { ...first, Balance: "1.00" }])), [
    "Field.Invalid Data.DebtorAccount[2]",
  ]);
  assertEquals(faultsIn(listed([first, { ...first, SchemeName: "IBAN" }])), [
    "Field.Invalid Data.DebtorAccount[1]",
  ]);
  assertEquals(
    reportOnWire(decodePayerAccounts(listed([first, other]), context("platform"))),
    listed([first, other]),
  );
});

Deno.test("payer accounts with a faulty field are rejected there [BCH-04]", () => {
  const cases: [string, unknown, string][] = [
    ["Data.DebtorAccount[0].SchemeName", "zzzz", "Unsupported.Scheme"],
    ["Data.DebtorAccount[0].Identification", "GB30NWBK60161331926819", "Unsupported.AccountIdentifier"],
    ["Data.DebtorAccount[1].Identification", "1128", "Unsupported.AccountIdentifier"],
    [
      "Data.DebtorAccount[0].SecondaryIdentification",
      "x".repeat(35),
      "Unsupported.AccountSecondaryIdentifier",
    ],
    ["Data.DebtorAccount[0].Balance", "1,500.00", "Field.Invalid"],
    ["Data.DebtorAccount[0].Balance", 1500, "Field.Invalid"],
    ["Data.DebtorAccount[0].Balance", "1.123456", "Field.Invalid"],
    ["Data.DebtorAccount[0].Currency", "ZZZ", "Field.Invalid"],
    ["Data.DebtorAccount[0].Currency", "eur", "Field.Invalid"],
    ["Data.DebtorAccount[0].Name", "Alice", "Field.Unexpected"],
    ["Data.Extra", 1, "Field.Unexpected"],
    ["Risk", {}, "Field.Unexpected"],
    ["Data.DebtorAccount[1]", "text", "Field.Invalid"],
    ["Data.DebtorAccount", "text", "Field.Invalid"],
  ];
  for (const [path, value, code] of cases) {
    assertEquals(faultsIn(edited(UPDATE, path, value)), [`${code} ${path}`], path);
  }
});

Deno.test("payer accounts take negative and precise balances, and any currency in use [FUN-02]", () => {
  for (const balance of ["-12.50", "0", "9999999999999.99999"]) {
    const body = edited(
      edited(UPDATE, "Data.DebtorAccount[0].Balance", balance),
      "Data.DebtorAccount[0].Currency",
      "JPY",
    );
    assertEquals(reportOnWire(decodePayerAccounts(body, context("platform"))), body);
  }
});
