/** Mistakes in the bodies of consents and payments, and in requests that a consent's status forbids. */
import { call, consentBody, pay, paymentBody, type SentPayment } from "testing/flows.ts";
import { type Area, type Mistake, mistake } from "./mistake.ts";
import { consenting, CONSENTS, type Workbench } from "./workbench.ts";

/** A consent whose initiation is changed. */
function initiation(
  name: string,
  changes: Readonly<Record<string, unknown>>,
  part: string,
  expected: string,
): Mistake {
  return {
    name,
    part: `Data.Initiation.${part}`,
    expected,
    make: (bench) => consenting(bench, consentBody({ initiation: changes })),
  };
}

const ACCOUNT = { SchemeName: "UK.OBIE.IBAN", Identification: "GB33BUKB20201555555555", Name: "ACME" };

/** A payment for an authorised consent, changed. */
async function paying(bench: Workbench, change: (body: SentPayment) => unknown): Promise<Response> {
  const flow = await bench.payable();
  return await pay(bench.env, flow, { body: JSON.stringify(change(paymentBody(flow.consentId, flow.body))) });
}

export const BODIES: Area = {
  name: "bodies",
  role: "TPP",
  mistakes: [
    initiation(
      "the amount as a number",
      { InstructedAmount: { Amount: 165.88, Currency: "EUR" } },
      "InstructedAmount.Amount",
      "a dot and two digits",
    ),
    initiation(
      "the amount without decimals",
      { InstructedAmount: { Amount: "165", Currency: "EUR" } },
      "InstructedAmount.Amount",
      "two",
    ),
    initiation(
      "a currency in lower case",
      { InstructedAmount: { Amount: "1.00", Currency: "eur" } },
      "InstructedAmount.Currency",
      "in capitals, such as EUR",
    ),
    initiation(
      "an unsupported currency",
      { InstructedAmount: { Amount: "1.00", Currency: "CHF" } },
      "InstructedAmount.Currency",
      "EUR",
    ),
    initiation(
      "an IBAN with spaces",
      { CreditorAccount: { ...ACCOUNT, Identification: "GB33 BUKB 2020 1555 5555 55" } },
      "CreditorAccount.Identification",
      "an IBAN without spaces",
    ),
    initiation(
      "a sort code with hyphens",
      {
        CreditorAccount: {
          ...ACCOUNT,
          SchemeName: "UK.OBIE.SortCodeAccountNumber",
          Identification: "20-15-55 55555555",
        },
      },
      "CreditorAccount.Identification",
      "14 digits",
    ),
    initiation("no creditor account", { CreditorAccount: undefined }, "CreditorAccount", "required"),
    initiation("null for an absent field", { DebtorAccount: null }, "DebtorAccount", "Omit"),
    initiation("an unknown field", { CreditorAgent: {} }, "CreditorAgent", "not known"),
    initiation(
      "a field that is too long",
      { EndToEndIdentification: "x".repeat(36) },
      "EndToEndIdentification",
      "1 to",
    ),
    mistake(
      ["a completion time without offset", "Data.Authorisation.CompletionDateTime", "offset"],
      (bench) => {
        const Authorisation = { AuthorisationType: "Any", CompletionDateTime: "2040-01-16T00:00:00" };
        return consenting(bench, consentBody({ data: { Authorisation } }));
      },
    ),
    mistake(
      ["an unknown authorisation type", "Data.Authorisation.AuthorisationType", "Any, Single"],
      (bench) => consenting(bench, consentBody({ data: { Authorisation: { AuthorisationType: "One" } } })),
    ),
    mistake(["no Risk", "Risk", "required"], (bench) => consenting(bench, { Data: consentBody().Data })),
    mistake(["a body that is not JSON", "body", "one JSON value"], (bench) => consenting(bench, "Data=1")),
    mistake(
      ["a repeated member", "body", "duplicate member"],
      (bench) => consenting(bench, '{"Data":{},"Data":{},"Risk":{}}'),
    ),
    mistake([
      "a payment of another amount than the consent's",
      "Data.Initiation.InstructedAmount.Amount",
      "consent",
    ], (bench) =>
      paying(bench, (body) => {
        const InstructedAmount = { Currency: "EUR", Amount: "1.00" };
        return { ...body, Data: { ...body.Data, Initiation: { ...body.Data.Initiation, InstructedAmount } } };
      })),
    mistake(["a payment of another consent than the token's", "Authorization", "consent"], async (bench) => {
      const ConsentId = await bench.consent();
      return await paying(bench, (body) => ({ ...body, Data: { ...body.Data, ConsentId } }));
    }),
    mistake(
      ["a payment without ConsentId", "Data.ConsentId", "required"],
      (bench) => paying(bench, (body) => ({ ...body, Data: { Initiation: body.Data.Initiation } })),
    ),
    mistake(
      ["funds confirmation before the customer has authorised", "Data.ConsentId", "Authorized"],
      async (bench) => {
        const path = `${CONSENTS}/${await bench.consent()}/funds-confirmation`;
        return await call(bench.env, bench.env.tpp, await bench.token(), path);
      },
    ),
  ],
};
