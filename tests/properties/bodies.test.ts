/** The decoders of resource bodies: any JSON is decoded or rejected with faults that can be shown, never worse. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { decodePayerAccounts } from "../../src/platform/core/backchannel/payer_accounts_schema.ts";
import { decodeStatusReport } from "../../src/platform/core/backchannel/status_report_schema.ts";
import { decodeConsentRequest } from "../../src/platform/core/consents/consent_schema.ts";
import { asBankCode, asConsentId } from "../../src/base/kernel/identifiers.ts";
import { ApiError } from "../../src/base/kernel/api_error.ts";
import { decodePaymentRequest } from "../../src/platform/core/payments/payment_schema.ts";
import { CONTEXT, FULL_INITIATION, FULL_RISK } from "testing/resource_bodies.ts";
import { reportOnWire, requestOnWire } from "../platform/guards/http/on_wire.ts";
import { attempt, mutatedJson, runs } from "./runs.ts";

const CONSENT_ID = "58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11";
const ACCOUNT = {
  SchemeName: "UK.OBIE.IBAN",
  Identification: "GB29NWBK60161331926819",
  Balance: "1500.00",
  Currency: "EUR",
  SecondaryIdentification: "ROLL-1",
};

/** A decoder with a good body for it. */
interface Decoder {
  readonly name: string;
  readonly good: unknown;
  readonly decode: (value: unknown) => unknown;
  /** Whether what is decoded is in the words of the wire, and so decodes to itself. */
  readonly echoes: boolean;
}

const DECODERS: readonly Decoder[] = [{
  name: "decodeConsentRequest",
  good: {
    Data: {
      ReadRefundAccount: "Yes",
      Authorisation: { AuthorisationType: "Single", CompletionDateTime: "2026-06-02T12:00:00+00:00" },
      Initiation: FULL_INITIATION,
      SCASupportData: { RequestedSCAExemptionType: "Kiosk", AppliedAuthenticationApproach: "SCA" },
    },
    Risk: FULL_RISK,
  },
  decode: (value) => requestOnWire(decodeConsentRequest(value, CONTEXT)),
  echoes: true,
}, {
  name: "decodePaymentRequest",
  good: { Data: { ConsentId: CONSENT_ID, Initiation: FULL_INITIATION }, Risk: FULL_RISK },
  decode: (value) => requestOnWire(decodePaymentRequest(value, CONTEXT)),
  echoes: true,
}, {
  name: "decodePayerAccounts",
  good: {
    Data: {
      BankId: "BANKA",
      ConsentId: CONSENT_ID,
      Sub: "c-4711",
      DebtorAccount: [ACCOUNT, { SchemeName: "UK.OBIE.BBAN", Identification: "1" }],
    },
  },
  decode(value) {
    const [bank, consentId] = [asBankCode("BANKA"), asConsentId(CONSENT_ID)];
    if (bank === undefined || consentId === undefined) throw new Error("the context is wrong");
    return reportOnWire(
      decodePayerAccounts(value, { ...CONTEXT, bank, consentId, mode: "platform", currency: "EUR" }),
    );
  },
  echoes: true,
}, {
  name: "decodeStatusReport",
  good: {
    Data: {
      Status: "AcceptedSettlementCompleted",
      StatusUpdateDateTime: "2030-01-31T12:00:00+00:00",
      StatusReason: "booked",
      Charges: [{
        ChargeBearer: "Shared",
        Type: "UK.OBIE.CHAPSOut",
        Amount: { Amount: "0.25", Currency: "EUR" },
      }],
    },
  },
  decode: decodeStatusReport,
  echoes: false,
}];

function assertShowable({ reason, parts: { faults = [] } }: ApiError): void {
  assert(reason === "resource.invalid_fields" || reason === "resource.invalid_format", reason);
  assert(faults.length >= 1 && faults.length <= 20);
  assertEquals(new Set(faults.map(({ path }) => path)).size, faults.length, "a path twice");
  for (const { message, path } of faults) {
    assert(message.length <= 500 && !message.includes(SECRET), message);
    if (path !== undefined) assert(/^[\w.[\]-]{1,500}$/.test(path) && !path.includes(SECRET), path);
  }
}

/** Put in as values, so that a fault that quotes its value is seen. */
const SECRET = "s3cr3t value!";

for (const { name, good, decode, echoes } of DECODERS) {
  Deno.test(`${name} takes its good body, and any other JSON with a showable ApiError at worst`, () => {
    const taken = decode(good);
    if (echoes) assertEquals(taken, good);
    let rejected = 0;
    const value = fc.oneof(
      mutatedJson(good),
      fc.jsonValue(),
      mutatedJson(good).map((json) => JSON.parse(JSON.stringify(json) ?? "null")),
    );
    fc.assert(
      fc.property(value, (json) => {
        const outcome = attempt(() => decode(json));
        if (outcome instanceof ApiError) {
          rejected += 1;
          return assertShowable(outcome);
        }
        if (!echoes) return;
        const written = JSON.parse(JSON.stringify(outcome));
        assertEquals(decode(written), written, "does not decode to itself");
      }),
      runs(1500),
    );
    assert(rejected > 300 && rejected < 1500, `${rejected} of 1500 were rejected`);
  });

  Deno.test(`${name} quotes no value, wherever it stands`, () => {
    const leaves = fc.constantFrom(...leafPaths(good));
    fc.assert(
      fc.property(leaves, (path) => {
        const outcome = attempt(() => decode(put(good, path, SECRET)));
        if (outcome instanceof ApiError) assertShowable(outcome);
      }),
      runs(100),
    );
  });
}

function leafPaths(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [path];
  return Object.entries(value).flatMap(([name, member]) => leafPaths(member, [...path, name]));
}

function put(value: unknown, [first, ...rest]: readonly string[], leaf: unknown): unknown {
  if (first === undefined) return leaf;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map((
    [name, member],
  ) => [name, name === first ? put(member, rest, leaf) : member]);
  return Array.isArray(value) ? entries.map(([, member]) => member) : Object.fromEntries(entries);
}
