/** Which account schemes a deployment accepts, and the formats of their identifications. */
import { assertEquals } from "@std/assert";
import {
  identificationFault,
  OBIE_SCHEMES,
  readAccountSchemes,
  schemeFault,
} from "../../../src/base/values/account.ts";

Deno.test("the usual schemes are accepted by each of their names, and no other is [CON-18]", () => {
  for (const name of ["IBAN", "BBAN", "SortCodeAccountNumber", "PAN", "Paym", "Wallet"]) {
    assertEquals(schemeFault(OBIE_SCHEMES, `UK.OBIE.${name}`), undefined);
  }
  for (const name of ["IBAN", "SortCodeAccountNumber"]) {
    assertEquals(schemeFault(OBIE_SCHEMES, name), undefined);
  }
  const unknown = [
    "",
    "BBAN",
    "iban",
    "UK.OBIE.iban",
    "UK.OBIE.Euro",
    "UK.OBIE.IBAN ",
    "CO.Redeban.Account",
    "constructor",
    "__proto__",
  ];
  for (const name of unknown) {
    assertEquals(
      schemeFault(OBIE_SCHEMES, name)?.startsWith("Is not a supported account scheme."),
      true,
      name,
    );
  }
});

Deno.test("identificationFault applies the format of each scheme [CON-18]", () => {
  const cases: [string, string, boolean][] = [
    ["UK.OBIE.IBAN", "GB33BUKB20201555555555", true],
    ["IBAN", "GB33BUKB20201555555555", true],
    ["UK.OBIE.IBAN", "GB34BUKB20201555555555", false],
    ["UK.OBIE.BBAN", "BUKB20201555555555", true],
    ["UK.OBIE.BBAN", "a".repeat(31), false],
    ["UK.OBIE.BBAN", "BUKB-2020", false],
    ["UK.OBIE.SortCodeAccountNumber", "11280001234567", true],
    ["SortCodeAccountNumber", "11280001234567", true],
    ["UK.OBIE.SortCodeAccountNumber", "1128000123456", false],
    ["UK.OBIE.SortCodeAccountNumber", "112800012345678", false],
    ["UK.OBIE.SortCodeAccountNumber", "11-28-00 012345", false],
    ["UK.OBIE.PAN", "4111111111111111", true],
    ["UK.OBIE.PAN", "4111111111111112", false],
    ["UK.OBIE.PAN", "0000000", false],
    ["UK.OBIE.Paym", "+447700900123", true],
    ["UK.OBIE.Paym", "+44-7700900123", true],
    ["UK.OBIE.Paym", "mobile", false],
    ["UK.OBIE.Wallet", "alice+1@wallet.example", true],
    ["UK.OBIE.Wallet", "w".repeat(256), true],
    ["UK.OBIE.Wallet", "w".repeat(257), false],
    ["UK.OBIE.Wallet", "two words", false],
    ["UK.OBIE.Wallet", "\u{1f642}", false],
    ["UK.OBIE.Wallet", "", false],
  ];
  for (const [scheme, identification, expected] of cases) {
    const fault = identificationFault(OBIE_SCHEMES, scheme, identification);
    assertEquals(fault === undefined, expected, `${scheme} ${identification}`);
  }
});

Deno.test("readAccountSchemes keeps to the list and gives each scheme its format", () => {
  const schemes = readAccountSchemes(
    " CO.Redeban.Account=digits:6-20 ,UK.OBIE.PAN, KE.Safaricom.M-Pesa=alphanumeric:9-9",
  );
  if (schemes === undefined) throw new Error("refused");
  assertEquals([...schemes.keys()], ["CO.Redeban.Account", "UK.OBIE.PAN", "KE.Safaricom.M-Pesa"]);
  const fits = (scheme: string, text: string): boolean =>
    identificationFault(schemes, scheme, text) === undefined;
  assertEquals(
    ["12345", "123456", "1".repeat(20), "1".repeat(21), "12345a"].map((text) =>
      fits("CO.Redeban.Account", text)
    ),
    [false, true, true, false, false],
  );
  assertEquals(
    ["254700abc", "254700-bc", "254700abcd", "254700ab\n"].map((text) => fits("KE.Safaricom.M-Pesa", text)),
    [true, false, false, false],
  );
  assertEquals(fits("UK.OBIE.PAN", "4111111111111112"), false);
});

Deno.test("readAccountSchemes rejects what has no format, no country, or a format that is none", () => {
  const malformed = [
    "",
    "UK.OBIE.IBAN,",
    "CO.Redeban.Account", // no format
    "CO.Redeban.Account=",
    "CO.Redeban.Account=words:1-9",
    "CO.Redeban.Account=digits:0-9",
    "CO.Redeban.Account=digits:9-8",
    "CO.Redeban.Account=digits:1-35",
    "CO.Redeban.Account=digits:1",
    "UK.OBIE.IBAN=digits:1-9", // has a format of its own
    "IBAN",
    "ZZ.Redeban.Account=digits:1-9", // no such country
    "co.Redeban.Account=digits:1-9",
    "CO.Redeban=digits:1-9",
    "CO.Redeban.Account.X=digits:1-9",
    "CO.Rede ban.Account=digits:1-9",
    `CO.Redeban.${"x".repeat(30)}=digits:1-9`, // 41 characters
    "__proto__",
  ];
  for (const list of malformed) assertEquals(readAccountSchemes(list), undefined, list);
});
