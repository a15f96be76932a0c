/** Erased and lost personal data are states that each reader decides, and no values that it has to know. */
import { assertEquals } from "@std/assert";
import {
  decide,
  LOST,
  type PersonalData,
  PRESENT,
  recordedErasure,
} from "../../../src/platform/evidence/personal_data.ts";
import type { Consent } from "../../../src/platform/core/consents/consent.ts";
import type { Payment } from "../../../src/platform/core/payments/payment.ts";
import { representConsent } from "../../../src/platform/core/consents/consent_representation.ts";
import { representPayment } from "../../../src/platform/core/payments/payment_representation.ts";

const erased = (scope: "consent" | "case" | "key"): PersonalData => ({ state: "erased", at: 7, scope });

Deno.test("each state of personal data gets the decision of its reader [P3, EN9, EN11]", () => {
  const read = (personalData: PersonalData): string =>
    decide({ personalData, name: "Ada" }, {
      present: ({ name }) => name,
      erased: ({ at, scope }) => `${scope} ${at}`,
      lost: () => "lost",
    });
  const states = [PRESENT, erased("consent"), erased("case"), erased("key"), LOST];
  assertEquals(states.map(read), ["Ada", "consent 7", "case 7", "key 7", "lost"]);
  assertEquals(
    states.map((personalData) => recordedErasure({ personalData }) !== undefined),
    [false, true, true, false, false],
    "a record of a restored copy does not know that its key was erased, so it is erased again",
  );
});

/** Type checks alone, never called. `deno check` fails as soon as one of these readers compiles. */
export function readersThatDoNotCompile(consent: Consent, payment: Payment): void {
  // @ts-expect-error: does not decide about lost data
  decide(payment, { present: () => 1, erased: () => 2 });
  // @ts-expect-error: does not decide about erased data
  decide(payment, { present: () => 1, lost: () => 2 });
  // @ts-expect-error: represents a consent that may be lost
  representConsent(consent, "");
  // @ts-expect-error: represents a payment that may be erased
  representPayment(payment, "");
  // @ts-expect-error: an erasure has an instant
  ({ personalData: { state: "erased", scope: "case" } }) satisfies { readonly personalData: PersonalData };
}
