/**
 * A payment order as a customer's credit transfer of ISO 20022, pain.001.001.09. The message holds all of the order: what
 * no element of it can hold is in the envelope of its supplementary data, as a JSON merge patch (RFC 7396).
 */
import * as z from "zod/mini";
import type { OrderAccount, OrderAddress, OrderedInitiation, PayingAccount } from "../bank/initiation.ts";
import { initiationSchema, payingAccountSchema } from "../bank/initiation_schema.ts";
import type { PaymentOrder } from "../bank/payment_order.ts";
import { mergePatched, patchBetween } from "./merge_patch.ts";
import { compactId, paymentIdOf } from "./payment_id.ts";
import { filled, openMessage, type Part, UnreadableMessage, writeMessage, type Written } from "./xml.ts";

/** The namespace of the message. */
export const PAIN_001 = "urn:iso:std:iso:20022:tech:xsd:pain.001.001.09";

/** What the bank adds to an order. */
export interface CreditTransferParties {
  /** The bank, as its own systems name it: a BIC, or another name of at most 35 characters. */
  readonly debtorAgent: { readonly bic: string } | { readonly id: string };
  /** When the message is written, milliseconds. The transfer is for this day in UTC. */
  readonly at: number;
}

/** An order without its signature. */
export type TransferOrder = Omit<PaymentOrder, "signed">;

/** The element that holds the merge patch. */
const ORDER_ELEMENT = "{urn:payment-initiation:order}Order";
const NOT_PROVIDED = "NOTPROVIDED";
const MAX_NAME = 140;
const MAX_SCHEME = 35;
const MAX_ACCOUNT = 34;
const IBAN = /^[A-Z]{2}\d{2}[A-Za-z0-9]{1,30}$/;
const IBAN_SCHEME = "UK.OBIE.IBAN";

/** Codes of ISO 20022, and those of four letters for what it has none for. */
const ADDRESS_TYPES = new Map([
  ["Business", "BIZZ"],
  ["DeliveryTo", "DLVY"],
  ["MailTo", "MLTO"],
  ["POBox", "PBOX"],
  ["Postal", "ADDR"],
  ["Residential", "HOME"],
]);

/**
 * Writes the order. The message's and the payment's ids are the order's `DomesticPaymentId` without hyphens.
 *
 * @example
 * ```ts
 * const message = toPain001(order, { debtorAgent: { bic: "BANKFRPP" }, at: Date.now() });
 * ```
 */
export function toPain001(order: TransferOrder, parties: CreditTransferParties): string {
  const { Currency } = order.initiation.InstructedAmount;
  const written = (more: string | undefined): string =>
    writeMessage(PAIN_001, messageOf(order, parties, more), { of: "InstdAmt", name: "Ccy", value: Currency });
  const patch = patchBetween(elementsOf(openMessage(PAIN_001, written(undefined))), orderOnWire(order));
  return written(patch === undefined ? undefined : asciiJson(patch));
}

/**
 * Reads an order that {@link toPain001} has written.
 * @throws {UnreadableMessage} if the text is no such message about one payment
 */
export function fromPain001(xml: string): TransferOrder {
  const message = openMessage(PAIN_001, xml);
  const more = message.text(`${TRANSFER}/SplmtryData/Envlp/${ORDER_ELEMENT}`);
  const order = orderSchema.safeParse(
    mergePatched(elementsOf(message), more === undefined ? {} : jsonOf(more)),
  );
  if (!order.success) {
    throw new UnreadableMessage(`expected a payment order: ${order.error.issues[0]?.path.join(".")}`);
  }
  const { DomesticPaymentId, ConsentId, Initiation, DebtorAccount } = order.data;
  return {
    domesticPaymentId: DomesticPaymentId,
    consentId: ConsentId,
    initiation: Initiation,
    debtor: DebtorAccount,
  };
}

const orderSchema = z.object({
  DomesticPaymentId: z.uuid(),
  ConsentId: z.optional(z.string()),
  Initiation: initiationSchema,
  DebtorAccount: payingAccountSchema,
});

function orderOnWire({ domesticPaymentId, consentId, initiation, debtor }: TransferOrder): object {
  return {
    DomesticPaymentId: domesticPaymentId,
    ConsentId: consentId,
    Initiation: initiation,
    DebtorAccount: debtor,
  };
}

function messageOf(
  { domesticPaymentId, initiation, debtor }: TransferOrder,
  { debtorAgent, at }: CreditTransferParties,
  more: string | undefined,
): Written {
  const id = compactId(domesticPaymentId);
  const created = new Date(at).toISOString();
  const { Amount } = initiation.InstructedAmount;
  const agent: Written = "bic" in debtorAgent ? ["BICFI", debtorAgent.bic] : ["Othr", ["Id", debtorAgent.id]];
  return ["CstmrCdtTrfInitn", [
    "GrpHdr",
    ["MsgId", id],
    ["CreDtTm", created],
    ["NbOfTxs", "1"],
    ["CtrlSum", Amount],
    ["InitgPty"],
  ], [
    "PmtInf",
    ["PmtInfId", id],
    ["PmtMtd", "TRF"],
    ["ReqdExctnDt", ["Dt", created.slice(0, 10)]],
    ["Dbtr", nameElement(debtor)],
    accountElement("DbtrAcct", debtor),
    ["DbtrAgt", ["FinInstnId", agent]],
    transferElement(initiation, more),
  ]];
}

function transferElement(initiation: OrderedInitiation, more: string | undefined): Written {
  const { CreditorAccount, RemittanceInformation: { Unstructured, Reference } = {} } = initiation;
  return [
    "CdtTrfTxInf",
    [
      "PmtId",
      textElement("InstrId", initiation.InstructionIdentification),
      ["EndToEndId", initiation.EndToEndIdentification ?? NOT_PROVIDED],
    ],
    ["Amt", ["InstdAmt", initiation.InstructedAmount.Amount]],
    filled("Cdtr", nameElement(CreditorAccount), addressElement(initiation.CreditorPostalAddress)),
    accountElement("CdtrAcct", CreditorAccount),
    filled(
      "RmtInf",
      textElement("Ustrd", Unstructured),
      filled("Strd", filled("CdtrRefInf", textElement("Ref", Reference))),
    ),
    filled("SplmtryData", filled("Envlp", textElement(ORDER_ELEMENT, more))),
  ];
}

function textElement(name: string, text: string | undefined): Written | undefined {
  return text === undefined ? undefined : [name, text];
}

function nameElement({ Name }: OrderAccount): Written | undefined {
  return textElement("Nm", Name && beginningOf(Name, MAX_NAME));
}

function accountElement(name: string, { SchemeName, Identification, Currency }: PayingAccount): Written {
  const iban = Identification.replaceAll(" ", "");
  const id: Written = SchemeName === IBAN_SCHEME && IBAN.test(iban) ? ["IBAN", iban] : [
    "Othr",
    ["Id", beginningOf(Identification, MAX_ACCOUNT)],
    ["SchmeNm", ["Prtry", beginningOf(SchemeName, MAX_SCHEME)]],
  ];
  return [name, ["Id", id], textElement("Ccy", Currency)];
}

/** Members of an address and their elements, in the order of the schema, without type and lines. */
const ADDRESS_ELEMENTS = [
  ["Department", "Dept"],
  ["SubDepartment", "SubDept"],
  ["StreetName", "StrtNm"],
  ["BuildingNumber", "BldgNb"],
  ["PostCode", "PstCd"],
  ["TownName", "TwnNm"],
  ["CountrySubDivision", "CtrySubDvsn"],
  ["Country", "Ctry"],
] as const;

function addressElement(address: OrderAddress = {}): Written | undefined {
  const type = ADDRESS_TYPES.get(address.AddressType ?? "");
  return filled(
    "PstlAdr",
    filled("AdrTp", textElement("Cd", type)),
    ...ADDRESS_ELEMENTS.map(([member, name]) => textElement(name, address[member])),
    ...(address.AddressLine ?? []).map((line) => textElement("AdrLine", line)),
  );
}

/** The first characters of a text. */
function beginningOf(text: string, characters: number): string {
  return [...text].slice(0, characters).join("");
}

const PAYMENT = "CstmrCdtTrfInitn/PmtInf";
const TRANSFER = `${PAYMENT}/CdtTrfTxInf`;

/** What the elements of a message say, in the members of an order. */
function elementsOf(message: Part): object {
  const payment = message.part(PAYMENT);
  const transfer = payment?.part("CdtTrfTxInf");
  if (payment === undefined || transfer === undefined) throw new UnreadableMessage("expected one transfer");
  const endToEnd = transfer.text("PmtId/EndToEndId");
  const address = transfer.part("Cdtr/PstlAdr");
  return omitUndefined({
    DomesticPaymentId: paymentIdOf(payment.text("PmtInfId")),
    Initiation: omitUndefined({
      InstructionIdentification: transfer.text("PmtId/InstrId"),
      EndToEndIdentification: endToEnd === NOT_PROVIDED ? undefined : endToEnd,
      InstructedAmount: {
        Amount: transfer.text("Amt/InstdAmt"),
        Currency: transfer.part("Amt/InstdAmt")?.attribute("Ccy"),
      },
      CreditorAccount: accountIn(transfer, "CdtrAcct", "Cdtr/Nm"),
      CreditorPostalAddress: address && addressIn(address),
      RemittanceInformation: transfer.part("RmtInf") && omitUndefined({
        Unstructured: transfer.text("RmtInf/Ustrd"),
        Reference: transfer.text("RmtInf/Strd/CdtrRefInf/Ref"),
      }),
    }),
    DebtorAccount: accountIn(payment, "DbtrAcct", "Dbtr/Nm"),
  });
}

function accountIn(part: Part, account: string, name: string): object {
  const iban = part.text(`${account}/Id/IBAN`);
  return omitUndefined({
    SchemeName: iban === undefined ? part.text(`${account}/Id/Othr/SchmeNm/Prtry`) : IBAN_SCHEME,
    Identification: iban ?? part.text(`${account}/Id/Othr/Id`),
    Currency: part.text(`${account}/Ccy`),
    Name: part.text(name),
  });
}

function addressIn(address: Part): object {
  const code = address.text("AdrTp/Cd");
  const lines = address.texts("AdrLine");
  return omitUndefined({
    AddressType: [...ADDRESS_TYPES].find(([, each]) => each === code)?.[0],
    ...Object.fromEntries(ADDRESS_ELEMENTS.map(([member, name]) => [member, address.text(name)])),
    AddressLine: lines.length === 0 ? undefined : lines,
  });
}

function omitUndefined(members: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** JSON that no reader of XML changes: some take U+0085 and U+2028 for ends of lines. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UnreadableMessage("expected JSON in the supplementary data");
  }
}
