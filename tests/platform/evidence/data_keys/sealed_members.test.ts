/** Which members of each record stay readable and which are sealed, as a table, so that no list changes unnoticed. */
import { assertEquals } from "@std/assert";
import { sealings } from "../../../../src/platform/evidence/data_keys/sealings.ts";

interface Row {
  readonly readable: string;
  readonly sealed: string;
}

const EVENT: Row = {
  readable: "v type consentId status at stagedAt interactionId failures retryAt push",
  sealed: "reason",
};

const MEMBERS: Readonly<Record<string, Row>> = {
  evidence: { readable: "v personalData", sealed: "text bytes signature salt parts kind" },
  audit: { readable: "v at event actor authentication items deleted salt previous sequence", sealed: "body" },
  consent: {
    readable:
      "v recorded sequence newest id clientId bank status createdAt statusUpdatedAt authoriseBy sentToBank sessionsAtBank personalData",
    sealed: "request payer selectedAccount",
  },
  payment: {
    readable:
      "v recorded sequence newest id consentId clientId bank readRefundAccount status closedAt charges createdAt statusUpdatedAt personalData",
    sealed: "initiation debtorAccount statusReason",
  },
  authorization_session: {
    readable:
      "v correlationId stage clientId bank consentId requestHash bindingHash debtorAccountPresent uiLocales parties expiresAt outcome",
    sealed: "payer screen selectedAccount state",
  },
  event: EVENT,
  event_finished: EVENT,
  outbox: {
    readable: "v paymentId bank failures mayBeAtBank lastFailure state dueAt why heldAt diedAt",
    sealed: "bankText",
  },
};

/** What stays readable in place of a sealed member. */
const IN_PLACE: Readonly<Record<string, object>> = {
  consent: { request: { Data: { Initiation: { InstructedAmount: "amount", DebtorAccount: {} } }, Risk: {} } },
  payment: {
    initiation: { InstructedAmount: "amount", DebtorAccount: {} },
    debtorAccount: { SchemeName: "", Identification: "" },
  },
};

const INITIATION = {
  InstructedAmount: "amount",
  DebtorAccount: { Identification: "personal" },
  CreditorAccount: { Name: "personal" },
  RemittanceInformation: "personal",
};
const NESTED: Readonly<Record<string, unknown>> = {
  request: { Data: { Initiation: INITIATION, Note: "personal" }, Risk: { DeliveryAddress: "personal" } },
  initiation: INITIATION,
};

for (const { record, divide } of sealings) {
  Deno.test(`the sealed members of ${record} are those of the table [EN12, P3]`, () => {
    const { readable = "", sealed = "" } = MEMBERS[record] ?? {};
    const valueOf = (names: string): Record<string, unknown> =>
      Object.fromEntries(names.split(" ").map((name) => [name, NESTED[name] ?? `the ${name}`]));
    assertEquals(divide({ ...valueOf(readable), ...valueOf(sealed) }), {
      open: { ...valueOf(readable), ...IN_PLACE[record] },
      sealed: valueOf(sealed),
    });
  });
}

Deno.test("the table has every record that is sealed [EN12]", () => {
  assertEquals(sealings.map(({ record }) => record).toSorted(), Object.keys(MEMBERS).toSorted());
});
