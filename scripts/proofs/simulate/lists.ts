/** Compares the lists of consents and payments with what is stored (contract LS1), after every fault and restore. */
import { consentRecord } from "../../../src/platform/core/consents/consent_store.ts";
import { keyOfListed } from "../../../src/platform/guards/lookup/lookup_store.ts";
import { paymentRecord } from "../../../src/platform/core/payments/payment_store.ts";
import type { Line } from "./calls.ts";

const ALL = 100_000;

/** Returns each entry that a list lacks, or has without its consent or payment. */
export function listFaults({ simulation: { database } }: Line): readonly string[] {
  const consents = database.list({ prefix: [consentRecord.name], limit: ALL }).map(consentRecord.decode)
    .filter(({ value }) => value.personalData.state !== "erased").map(({ value }) =>
      keyOfListed("consent", value)
    );
  const payments = database.list({ prefix: [paymentRecord.name], limit: ALL }).map(paymentRecord.decode)
    .filter(({ value }) => value.personalData.state !== "erased").map(({ value }) =>
      keyOfListed("payment", value)
    );
  const expected = new Set([...consents, ...payments].map((key) => key.join(" ")));
  const found = new Set(database.list({ prefix: ["listed"], limit: ALL }).map(({ key }) => key.join(" ")));
  return [
    ...[...expected.difference(found)].map((key) => `not listed: ${key}`),
    ...[...found.difference(expected)].map((key) => `listed and not there: ${key}`),
  ];
}
