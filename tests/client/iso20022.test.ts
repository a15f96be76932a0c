/** Orders and reports as messages of ISO 20022: they fit its schemas and map back [PO7] [PO8]. */
import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import {
  fromPain001,
  fromPain002,
  type TimedReport,
  toPain001,
  toPain002,
  type TransferOrder,
  UnreadableMessage,
} from "../../src/client/iso20022.ts";
import { BANK_REASON_CODES } from "../../src/client/party/reason_codes.ts";
import { initiationSchema } from "../../src/platform/core/consents/initiation_schema.ts";
import { PAYMENT_STATUSES } from "../../src/platform/core/payments/payment.ts";
import { FULL_INITIATION } from "testing/resource_bodies.ts";
import { areInstalled } from "testing/installed.ts";
import { openTemporaryFolder } from "testing/temporary_folder.ts";

const ORDERS = 1000;
const AT = Date.UTC(2026, 0, 31, 23, 59, 59, 999);
const PARTIES = { debtorAgent: { bic: "BANKFRPP" }, at: AT };
/** Debian's libhbci4j-core-java has the schemas of ISO 20022, libxml2-utils the program that applies them. */
const SCHEMAS = "/usr/share/java/hbci4j-core.jar";
const XMLLINT = "/usr/bin/xmllint";

const text = (maxLength: number): fc.Arbitrary<string> =>
  fc.array(
    fc.oneof(
      { weight: 20, arbitrary: fc.string({ unit: "grapheme-composite", minLength: 1, maxLength: 1 }) },
      fc.constantFrom(" ", "&", "<", "]]>", '"', "\u0085", "\u2028", "𝔸", "é", "{", "urn:"),
    ),
    { minLength: 1, maxLength, size: "max" },
  ).map((characters) => [...characters.join("")].slice(0, maxLength).join(""));
const maybe = <T>(each: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(each, { nil: undefined });
const account = (name: fc.Arbitrary<string | undefined>): fc.Arbitrary<TransferOrder["debtor"]> =>
  fc.record({
    SchemeName: fc.constantFrom(
      "UK.OBIE.IBAN",
      "UK.OBIE.BBAN",
      "FR.A-Very-Long-Issuer.Scheme-Of-Its-Accounts",
    ),
    Identification: fc.oneof(
      fc.constantFrom("GB33BUKB20201555555555", "GB33 BUKB 2020 1555 5555 55", "gb33bukb20201555555555"),
      text(40),
    ),
    SecondaryIdentification: maybe(text(34)),
    Name: name,
  });
const address = fc.record({
  AddressType: maybe(fc.constantFrom("Business", "POBox", "Correspondence", "Statement")),
  Department: maybe(text(70)),
  SubDepartment: maybe(text(70)),
  AddressLine: maybe(fc.array(text(70), { maxLength: 7 })),
  StreetName: maybe(text(70)),
  BuildingNumber: maybe(text(16)),
  PostCode: maybe(text(16)),
  TownName: maybe(text(35)),
  CountrySubDivision: maybe(text(35)),
  Country: maybe(fc.constantFrom("FR", "GB", "XK")),
});
const initiation = fc.record({
  InstructionIdentification: maybe(text(35)),
  EndToEndIdentification: maybe(fc.oneof(text(35), fc.constant("NOTPROVIDED"))),
  InstructedAmount: fc.record({
    Amount: fc.tuple(fc.bigInt(1n, 9_999_999_999_999n), fc.nat(99)).map(([whole, cents]) =>
      `${whole}.${String(cents).padStart(2, "0")}`
    ),
    Currency: fc.constantFrom("EUR", "GBP", "USD"),
  }),
  DebtorAccount: maybe(account(maybe(text(350)))),
  CreditorAccount: account(text(350)),
  CreditorPostalAddress: maybe(address),
  RemittanceInformation: maybe(fc.record({ Unstructured: maybe(text(140)), Reference: maybe(text(35)) })),
  SupplementaryData: maybe(fc.record({ DebtorMobileNumber: maybe(text(35)) })),
}).filter((value) => initiationSchema.safeParse(value).success);
const order: fc.Arbitrary<TransferOrder> = fc.record({
  domesticPaymentId: fc.uuid(),
  consentId: maybe(fc.uuid()),
  initiation,
  debtor: fc.tuple(account(maybe(text(350))), maybe(fc.constantFrom("USD", "CHF")))
    .map(([chosen, Currency]) => ({ ...chosen, Currency })),
});
const report: fc.Arbitrary<TimedReport> = fc.record({
  domesticPaymentId: fc.uuid(),
  status: fc.constantFrom(...PAYMENT_STATUSES),
  at: fc.integer({ min: 0, max: Date.UTC(2100, 0) }),
  reasonCode: maybe(fc.constantFrom(...BANK_REASON_CODES)),
  reason: maybe(fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 256 })),
});

function samples<T>(each: fc.Arbitrary<T>): readonly T[] {
  return fc.sample(each, { numRuns: ORDERS, seed: 20_022 });
}

/** As JSON has it: without undefined members. */
const bare = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

Deno.test("1,000 orders map to pain.001 and back [PO7]", async (t) => {
  const messages = samples(order).map((each) => {
    const message = toPain001(each, PARTIES);
    assertEquals(bare(fromPain001(message)), bare(each));
    return message;
  });
  await fitSchema(t, "pain.001.001.09.xsd", messages);
});

Deno.test("1,000 reports map to pain.002 and back [PO8]", async (t) => {
  const messages = samples(report).map((each) => {
    const message = toPain002(each);
    assertEquals(bare(fromPain002(message)), bare(each));
    return message;
  });
  await fitSchema(t, "pain.002.001.10.xsd", messages);
});

const FULL_ORDER: TransferOrder = {
  domesticPaymentId: "58923a3a-2f0c-8d6e-9b1e-3c1f7f0d8a11",
  consentId: "7290aa4e-5b1c-4f0e-8f4c-2f1d6c1f9b77",
  initiation: FULL_INITIATION,
  debtor: FULL_INITIATION.DebtorAccount,
};

Deno.test("the elements of an order are those that a bank's system reads [PO7]", () => {
  const message = toPain001(FULL_ORDER, PARTIES);
  for (
    const part of [
      "<PmtInfId>58923a3a2f0c8d6e9b1e3c1f7f0d8a11</PmtInfId>",
      "<ReqdExctnDt><Dt>2026-01-31</Dt></ReqdExctnDt><Dbtr><Nm>Alice Payer</Nm></Dbtr>",
      "<DbtrAcct><Id><IBAN>GB29NWBK60161331926819</IBAN></Id></DbtrAcct>",
      "<DbtrAgt><FinInstnId><BICFI>BANKFRPP</BICFI></FinInstnId></DbtrAgt>",
      "<PmtId><InstrId>INSTR-1</InstrId><EndToEndId>E2E-1</EndToEndId></PmtId>",
      '<Amt><InstdAmt Ccy="EUR">19.90</InstdAmt></Amt><Cdtr><Nm>Example Shop Ltd</Nm><PstlAdr><AdrTp><Cd>BIZZ</Cd></AdrTp>',
      "<Dept>Sales</Dept><SubDept>Online</SubDept><StrtNm>High Street</StrtNm><BldgNb>1</BldgNb><PstCd>EC1A 1BB</PstCd>",
      "<TwnNm>London</TwnNm><CtrySubDvsn>Greater London</CtrySubDvsn><Ctry>UK</Ctry><AdrLine>1 High Street</AdrLine>",
      "<CdtrAcct><Id><Othr><Id>11280001234567</Id><SchmeNm><Prtry>UK.OBIE.SortCodeAccountNumber</Prtry>",
      "<RmtInf><Ustrd>Order 1001, thank you</Ustrd><Strd><CdtrRefInf><Ref>ORDER-1001</Ref></CdtrRefInf></Strd></RmtInf>",
    ]
  ) assertEquals(message.includes(part), true, part);
});

Deno.test("reports of a bank's own system are read [PO8]", async (t) => {
  const [written, sent] = ["Rejected", "AcceptedSettlementInProcess"].map((status) =>
    toPain002({
      domesticPaymentId: FULL_ORDER.domesticPaymentId,
      status,
      at: AT,
      reasonCode: "AM04",
      reason: "no",
    })
  ) as [string, string];
  const cases: readonly (readonly [string, string, Partial<TimedReport>])[] = [
    ["an unknown reason code", written.replace("AM04", "AM99"), { reasonCode: undefined, reason: "no" }],
    ["accepted by a check alone", sent.replace("ACSP", "ACTC"), { status: "Pending" }],
    [
      "a status of the payment alone",
      sent.replace(/<TxInfAndSts>.*<\/TxInfAndSts>/, "<PmtInfSts>ACSC</PmtInfSts>"),
      { status: "AcceptedSettlementCompleted", reason: undefined, reasonCode: undefined },
    ],
    [
      "a status of the group alone",
      sent.replace(/<TxInfAndSts>.*<\/TxInfAndSts>/, "").replace(
        "</OrgnlMsgNmId>",
        "$&<GrpSts>RJCT</GrpSts>",
      ),
      { status: "Rejected", reason: undefined, reasonCode: undefined },
    ],
    [
      "a prefix",
      written.replace("<Document xmlns=", "<x:Document xmlns:x=").replaceAll(/<(\/?)(?=[A-Z])/g, "<$1x:"),
      {},
    ],
    [
      "several reasons",
      written.replace(
        "<StsRsnInf>",
        "<StsRsnInf><Rsn><Cd>AM99</Cd></Rsn><AddtlInf>first, </AddtlInf></StsRsnInf>$&",
      ),
      { reasonCode: "AM04", reason: "first, no" },
    ],
    ["a reason of two lines", written.replace(">no<", ">no\nmoney<"), { reason: "no money" }],
    [
      "an id in upper case",
      written.replace(/<OrgnlPmtInfId>.*?</, (id) => id.toUpperCase()).replace(
        "<ORGNLPMTINFID>",
        "<OrgnlPmtInfId>",
      ),
      {},
    ],
  ];
  for (const [what, message, expected] of cases) {
    await t.step(what, () => {
      const { domesticPaymentId, at, ...said } = fromPain002(message);
      assertEquals({ domesticPaymentId, at }, { domesticPaymentId: FULL_ORDER.domesticPaymentId, at: AT });
      assertEquals({ ...said, ...expected }, said);
    });
  }
});

Deno.test("what is no such message is rejected [PO8]", async (t) => {
  const report = toPain002({ domesticPaymentId: FULL_ORDER.domesticPaymentId, status: "Pending", at: AT });
  const transfer = toPain001(FULL_ORDER, PARTIES);
  const cases: readonly (readonly [string, () => unknown, string])[] = [
    [
      "a document type",
      () => fromPain002(report.replace("<Doc", "<!DOCTYPE Document><Doc")),
      "document type",
    ],
    ["another message", () => fromPain002(transfer), "pain.002"],
    ["another version", () => fromPain001(transfer.replace("001.09", "001.03")), "pain.001.001.09"],
    ["a text that is cut", () => fromPain002(report.slice(0, -20)), "well-formed"],
    ["no XML", () => fromPain002("{}"), "well-formed"],
    ["too long a text", () => fromPain002(report.padEnd(65_537, "\n")), "65536 characters"],
    [
      "two payments",
      () => fromPain002(report.replace(/<OrgnlPmtInfAndSts>.*<\/OrgnlPmtInfAndSts>/, "$&$&")),
      "one",
    ],
    ["two transfers", () => fromPain001(transfer.replace(/<CdtTrfTxInf>.*<\/CdtTrfTxInf>/, "$&$&")), "one"],
    [
      "two statuses",
      () => fromPain002(report.replace("<TxSts>PDNG</TxSts>", "$&<TxSts>ACSC</TxSts>")),
      "one TxSts",
    ],
    ["another status", () => fromPain002(report.replace("PDNG", "PART")), "PDNG, RCVD"],
    ["no status", () => fromPain002(report.replace("<TxSts>PDNG</TxSts>", "")), "PDNG, RCVD"],
    [
      "another payment id",
      () => fromPain002(report.replace("8a11</OrgnlPmtInfId>", "8a1</OrgnlPmtInfId>")),
      "DomesticPaymentId",
    ],
    ...["soon", "1", "31 January 2026", "2026-01-31", "+275760-09-13T00:00:00Z"].map((time) =>
      [
        `the time ${time}`,
        () => fromPain002(report.replace(/<CreDtTm>.*<\/CreDtTm>/, `<CreDtTm>${time}</CreDtTm>`)),
        "CreDtTm",
      ] as const
    ),
    [
      "an element within a text",
      () => fromPain002(report.replace("<TxSts>PDNG", "<TxSts>PD<Cd>N</Cd>G")),
      "text alone in TxSts",
    ],
    ["no amount", () => fromPain001(transfer.replace(/<InstdAmt.*<\/InstdAmt>/, "")), "InstructedAmount"],
    ["other supplementary data", () => fromPain001(transfer.replace(/>\{"Init.*?</, ">x<")), "JSON"],
  ];
  for (const [what, read, words] of cases) {
    await t.step(what, () => void assertThrows(read, UnreadableMessage, words));
  }
});

/** Validates messages with the schema of ISO 20022, if it is there. */
async function fitSchema(t: Deno.TestContext, schema: string, messages: readonly string[]): Promise<void> {
  const ignore = !areInstalled(SCHEMAS, XMLLINT);
  if (ignore) {
    const words =
      "\n*** SKIPPED: no schema of ISO 20022, install libhbci4j-core-java and libxml2-utils ***\n\n";
    Deno.stdout.writeSync(new TextEncoder().encode(words));
  }
  await t.step({
    name: `they fit ${schema}`,
    ignore,
    async fn() {
      await using folder = await openTemporaryFolder();
      const unpack = "import sys,zipfile;zipfile.ZipFile(sys.argv[1]).extract(sys.argv[2])";
      await succeeds("python3", ["-c", unpack, SCHEMAS, schema], folder.path);
      const files = await Promise.all(messages.map(async (message, index) => {
        await Deno.writeTextFile(`${folder.path}/${index}.xml`, message);
        return `${index}.xml`;
      }));
      await succeeds(XMLLINT, ["--nonet", "--noout", "--schema", schema, ...files], folder.path);
    },
  });
}

async function succeeds(program: string, args: string[], cwd: string): Promise<void> {
  const { code, stderr } = await new Deno.Command(program, { args, cwd }).output();
  const wrong = new TextDecoder().decode(stderr).split("\n").filter((line) => !line.endsWith(" validates"));
  assertEquals([code, wrong.slice(0, 5).join("\n").trim()], [0, ""]);
}
