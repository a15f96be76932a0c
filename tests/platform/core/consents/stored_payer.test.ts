/** A stored payer, in a consent and in a session, has its members in their types. */
import { assertEquals } from "@std/assert";
import { storedPayerSchema } from "../../../../src/platform/core/consents/consent_store.ts";

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
