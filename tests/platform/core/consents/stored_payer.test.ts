/** A stored payer, in a consent and in a session, and a stored request have their members in their types. */
import { assertEquals, assertThrows } from "@std/assert";
import { asBankCode, asClientId, newConsentId } from "../../../../src/base/kernel/identifiers.ts";
import { RecordFault } from "../../../../src/base/store/record.ts";
import { openConsent } from "../../../../src/platform/core/consents/consent.ts";
import type { Initiation } from "../../../../src/platform/core/consents/initiation.ts";
import { present } from "testing/answers.ts";
import {
  consentRecord,
  storedConsent,
  storedPayerSchema,
} from "../../../../src/platform/core/consents/consent_store.ts";

Deno.test("a stored payer with a member of another type is not read", () => {
  const account = { SchemeName: "UK.OBIE.IBAN", Identification: "GB29NWBK60161331926819" };
  const more = { Balance: "1.00", Currency: "EUR", SecondaryIdentification: "7" };
  const payer = { sub: "customer", reports: [1] };
  const isRead = (value: object): boolean => storedPayerSchema.safeParse(value).success;
  const whole = { ...payer, accounts: [account, { ...account, ...more }] };
  assertEquals([isRead(payer), isRead(whole)], [true, true]);
  for (const member of Object.keys({ ...account, ...more })) {
    assertEquals(isRead({ ...payer, accounts: [{ ...account, ...more, [member]: 5 }] }), false, member);
  }
  for (const changed of [{ sub: 5 }, { reports: 1 }, { accounts: account }]) {
    assertEquals(isRead({ ...whole, ...changed }), false, JSON.stringify(changed));
  }
});

Deno.test("a stored consent whose request lacks a part, or is none, is not read", () => {
  const initiation = { instructedAmount: { amount: "4.20", currency: "EUR" } } as Initiation;
  const clientId = present(asClientId(`SC-${crypto.randomUUID()}`));
  const bank = present(asBankCode("BANKA"));
  const given = { id: newConsentId(), clientId, bank, request: { initiation, risk: {} } };
  const stored = { ...storedConsent(openConsent(given, 5)), v: 1 };
  const read = (request: unknown): unknown =>
    consentRecord.decode({ key: ["consent"], value: { ...stored, request }, version: "1" }).value.request;
  const { Data, Risk } = stored.request;
  assertEquals(read({ Data, Risk }), given.request);
  for (const request of [{ Data }, { Risk }, {}, null, "Data and Risk", undefined]) {
    assertThrows(() => read(request), RecordFault, "consent", JSON.stringify(request));
  }
});
