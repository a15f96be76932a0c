/** The statuses of a consent at their borders, and what a consent keeps after each [CT1, CT5, CT17, EN9, EP8]. */
import { assertEquals } from "@std/assert";
import { ApiError } from "../../../../src/base/kernel/api_error.ts";
import { asBankCode, asClientId, asConsentId } from "../../../../src/base/kernel/identifiers.ts";
import {
  asOf,
  confirmFunds,
  type Consent,
  type ConsentMove,
  type ConsentStatus,
  deadlineOf,
  eraseCustomer,
  isImplicit,
  isNeverAuthorised,
  isSettled,
  minimiseConsent,
  moveConsent,
  openConsent,
  type PayerAccount,
  type ReadableConsent,
  rejectConsent,
  reportsToDelete,
  wasAtBank,
  withPayer,
  withSession,
} from "../../../../src/platform/core/consents/consent.ts";
import type { ConsentStore } from "../../../../src/platform/core/consents/consent_store.ts";
import { consentStatus, type ReadConsentDeps } from "../../../../src/platform/core/consents/read_consent.ts";
import { representConsents } from "../../../../src/platform/core/consents/consent_representation.ts";

const NOW = 1_800_000_000_000;
const DAY_MS = 86_400_000;
const ACCOUNT = { schemeName: "UK.OBIE.IBAN", identification: "ES7921000813610123456789", balance: "10.00" };

function needed<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("an id");
  return value;
}

function opened(completionDateTime?: string): ReadableConsent {
  const initiation = {
    instructionIdentification: "ACME412",
    endToEndIdentification: "FRESCO.21302.GFX.20",
    instructedAmount: { amount: "4.20", currency: "EUR" },
    creditorAccount: { schemeName: "UK.OBIE.IBAN", identification: "ES9121000418450200051332", name: "ACME" },
  };
  const given = {
    id: needed(asConsentId(crypto.randomUUID())),
    clientId: needed(asClientId(`SC-${crypto.randomUUID()}`)),
    bank: needed(asBankCode("BANKA")),
    request: {
      initiation,
      risk: {},
      authorisation: { authorisationType: "Any" as const, completionDateTime },
    },
  };
  return openConsent(given, NOW);
}

const of = (status: ConsentStatus, changes: Partial<Consent> = {}): Consent => ({
  ...opened(),
  status,
  ...changes,
});

Deno.test("a new consent awaits authorisation for a day, or until the TPP's earlier time [CT1, C1]", () => {
  const { id, clientId, bank, request, ...rest } = opened();
  assertEquals([id, clientId, bank].length, 3);
  assertEquals(request.initiation.instructedAmount.amount, "4.20");
  assertEquals(rest, {
    status: "AwaitingAuthorisation",
    createdAt: NOW,
    statusUpdatedAt: NOW,
    authoriseBy: NOW + DAY_MS,
    personalData: { state: "present" },
  });
  const isoOf = (ms: number): string => new Date(ms).toISOString();
  assertEquals(opened(isoOf(NOW + 5000)).authoriseBy, NOW + 5000);
  assertEquals(opened(isoOf(NOW + 2 * DAY_MS)).authoriseBy, NOW + DAY_MS);
});

Deno.test("a deadline rejects a consent at its moment, and not before; a used or rejected one has none [CT12, CT15]", () => {
  const cases: readonly (readonly [ConsentStatus, deadline: number | undefined, code?: string])[] = [
    ["AwaitingAuthorisation", NOW + DAY_MS, "DS24"],
    ["Authorized", NOW + 3_600_000, "CONSENT_NOT_USED"],
    ["Rejected", undefined],
    ["Consumed", undefined],
  ];
  for (const [status, deadline, statusReasonCode] of cases) {
    const consent = of(status);
    assertEquals(deadlineOf(consent), deadline, status);
    assertEquals(asOf(consent, (deadline ?? NOW + 900 * DAY_MS) - 1), consent);
    if (deadline === undefined) continue;
    const rejected = { ...consent, status: "Rejected", statusReasonCode, statusUpdatedAt: deadline };
    for (const at of [deadline, deadline + DAY_MS]) assertEquals(asOf(consent, at) as unknown, rejected);
  }
});

/** What each change makes of each status, or the statuses that it needs. */
const MOVES: Readonly<Record<ConsentMove, Partial<Record<ConsentStatus, ConsentStatus>>>> = {
  authorise: { AwaitingAuthorisation: "Authorized" },
  reject: { AwaitingAuthorisation: "Rejected" },
  consume: { Authorized: "Consumed" },
  void: { Authorized: "Rejected" },
  recover: { AwaitingAuthorisation: "Consumed", Authorized: "Consumed", Rejected: "Consumed" },
};
const STATUSES = ["AwaitingAuthorisation", "Authorized", "Rejected", "Consumed"] as const;

function told(work: () => Consent): unknown {
  try {
    const { status, statusReasonCode, statusUpdatedAt } = work();
    return [status, statusReasonCode, statusUpdatedAt - NOW];
  } catch (error) {
    return error instanceof ApiError ? [error.reason, error.parts] : error;
  }
}

function wrong(attempt: string, status: ConsentStatus, needs: readonly string[]): unknown {
  const message = `The consent's status must be ${needs.join(" or ")}; it is ${status}.`;
  const faults = [{ code: "Resource.InvalidConsentStatus", message }];
  return ["resource.invalid_consent_status", { detail: `${attempt} while ${status}`, faults }];
}

Deno.test("each change is legal from its statuses alone, at its time, and says why a consent ends [CT5, CT17, RSN2]", () => {
  for (const [move, moves] of Object.entries(MOVES) as [ConsentMove, typeof MOVES[ConsentMove]][]) {
    for (const status of STATUSES) {
      const consent = of(status, status === "Rejected" ? { statusReasonCode: "CUST" } : {});
      const found = told(() =>
        move === "reject" ? rejectConsent(consent, "AM04", NOW + 7) : moveConsent(consent, move, NOW + 7)
      );
      const code = move === "reject" ? "AM04" : move === "void" ? "CONSENT_VOIDED" : undefined;
      const legal = moves[status];
      const expected = legal === undefined ? wrong(move, status, Object.keys(moves)) : [legal, code, 7];
      assertEquals(found, expected, `${move} ${status}`);
    }
  }
  const late = told(() => moveConsent(of("AwaitingAuthorisation"), "authorise", NOW + DAY_MS));
  assertEquals(late, wrong("authorise", "Rejected", ["AwaitingAuthorisation"]));
});

Deno.test("a bank reports accounts while a consent awaits authorisation, and the last report wins [CT4]", () => {
  const first = withPayer(of("AwaitingAuthorisation"), { sub: "one", accounts: [ACCOUNT] }, NOW);
  assertEquals(first.payer, { sub: "one", accounts: [ACCOUNT], reports: [1] });
  assertEquals(withPayer({ ...first, sequence: 4 }, { sub: "two" }, NOW).payer, {
    sub: "two",
    reports: [1, 5],
  });
  for (const status of STATUSES.slice(1)) {
    const found = told(() => withPayer(of(status), { sub: "one" }, NOW));
    assertEquals(found, wrong("payer accounts", status, ["AwaitingAuthorisation"]));
  }
});

Deno.test("funds are confirmed from the chosen account's balance in the payment's currency [EP8, C8]", () => {
  const confirmed = (selectedAccount?: PayerAccount): unknown =>
    confirmFunds({ ...opened(), status: "Authorized", ...selectedAccount && { selectedAccount } });
  const accounts: readonly (readonly [PayerAccount | undefined, boolean | undefined])[] = [
    [undefined, undefined],
    [{ ...ACCOUNT, balance: undefined }, undefined],
    [{ ...ACCOUNT, balance: "4.20" }, true],
    [{ ...ACCOUNT, balance: "4.19" }, false],
    [{ ...ACCOUNT, currency: "EUR" }, true],
    [{ ...ACCOUNT, currency: "USD" }, undefined],
  ];
  for (const [account, expected] of accounts) assertEquals(confirmed(account), expected);
  for (const status of ["AwaitingAuthorisation", "Rejected", "Consumed"] as const) {
    const found = told(() => {
      confirmFunds({ ...opened(), status });
      return opened();
    });
    assertEquals(found, wrong("funds confirmation", status, ["Authorized"]));
  }
});

Deno.test("what a decision and a use leave of the payer's accounts, and which reports they delete [EN9]", () => {
  const more = { ...ACCOUNT, identification: "ES2", balance: undefined };
  const payer = { sub: "one", reports: [3, 5], accounts: [ACCOUNT] };
  const { balance: _, ...bare } = ACCOUNT;
  const waiting = of("AwaitingAuthorisation", { payer, selectedAccount: ACCOUNT });
  const atBank = { ...waiting, sessionsAtBank: { one: 1 } };
  assertEquals(minimiseConsent(atBank), atBank);
  const { payer: __, ...rest } = waiting;
  assertEquals(minimiseConsent({ ...atBank, status: "Authorized" }), { ...rest, status: "Authorized" });
  for (const status of ["Rejected", "Consumed"] as const) {
    assertEquals(minimiseConsent({ ...waiting, status }), { ...rest, status, selectedAccount: bare });
  }
  assertEquals(minimiseConsent(of("Rejected", { payer })).payer, undefined);
  const places = [3, 5].map((sequence) => `${waiting.id} ${sequence} payer_accounts`);
  const deleted = (
    accounts: readonly PayerAccount[] | undefined,
    status: ConsentStatus,
  ): readonly string[] => {
    const former = { ...waiting, payer: { sub: "one", reports: [3, 5], ...accounts && { accounts } } };
    return reportsToDelete(former, { ...former, status });
  };
  assertEquals(deleted([more], "Authorized"), places.slice(0, 1), "the chosen account alone stays");
  assertEquals(deleted([more], "Rejected"), places);
  assertEquals(deleted([ACCOUNT], "Authorized"), places, "it has a balance");
  assertEquals(deleted([more, more], "Authorized"), places);
  assertEquals(deleted(undefined, "Authorized"), places);
  assertEquals(deleted([more], "AwaitingAuthorisation"), []);
  const authorised = of("Authorized", { payer });
  assertEquals(reportsToDelete(authorised, { ...authorised, status: "Consumed" }), []);
  assertEquals(reportsToDelete(of("AwaitingAuthorisation"), of("Authorized")), []);
});

Deno.test("a consent that was never authorised keeps amount and currency of its request [EN9]", () => {
  const consent = of("Rejected", { payer: { sub: "one", reports: [1] } });
  const { payer: _, ...rest } = consent;
  assertEquals(JSON.parse(JSON.stringify(eraseCustomer(consent, NOW + 3, "consent"))), {
    ...rest,
    request: { initiation: { instructedAmount: { amount: "4.20", currency: "EUR" } }, risk: {} },
    personalData: { state: "erased", at: NOW + 3, scope: "consent" },
  });
});

Deno.test("which consents were at the bank, are decided, were never authorised, name the payer's account", () => {
  const rows = STATUSES.map((status) => {
    const [former, changed] = [of("AwaitingAuthorisation"), of(status)];
    return [
      wasAtBank(changed),
      wasAtBank({ ...changed, sentToBank: true }),
      isSettled(former, changed),
      isSettled(of("Authorized"), changed),
      isNeverAuthorised(former, changed),
      isNeverAuthorised(of("Authorized"), changed),
    ];
  });
  assertEquals(rows, [
    [false, true, false, false, false, false],
    [true, true, true, false, false, false],
    [false, true, true, false, true, false],
    [false, true, true, false, false, false],
  ]);
  const { request, ...consent } = opened();
  const initiation = { ...request.initiation, debtorAccount: { schemeName: "A", identification: "B" } };
  assertEquals(
    [request, { ...request, initiation }].map((one) => isImplicit({ ...consent, request: one })),
    [false, true],
  );
});

Deno.test("a list has of each consent its id, times, status, reason, end-to-end id and amount [LS1]", () => {
  const consent: ReadableConsent = { ...opened(), status: "Rejected", statusReasonCode: "CUST" };
  const page = { found: [consent], after: undefined };
  const listed = JSON.parse(JSON.stringify(representConsents(page, "https://api.example/list", {}))) as {
    readonly Data: { readonly Consent: unknown };
  };
  const at = "2027-01-15T08:00:00+00:00";
  assertEquals(listed.Data.Consent, [{
    ConsentId: consent.id,
    CreationDateTime: at,
    Status: "Rejected",
    StatusReasonCode: "CUST",
    StatusUpdateDateTime: at,
    EndToEndIdentification: "FRESCO.21302.GFX.20",
    InstructedAmount: { Amount: "4.20", Currency: "EUR" },
  }]);
});

Deno.test("the status of a consent is that of now for its own client and bank, and none once its data is gone [CT12, EN15]", async () => {
  const consent = opened();
  const { id, clientId, bank } = consent;
  const other = {
    clientId: needed(asClientId(`SC-${crypto.randomUUID()}`)),
    bank: needed(asBankCode("BANKB")),
  };
  const statusOf = (personalData: Consent["personalData"], by: object = {}, now = NOW): Promise<unknown> => {
    const value = { ...consent, personalData };
    const consents: Partial<ConsentStore> = {
      find: () => Promise.resolve({ key: ["consent"], value, version: "1" }),
    };
    const deps = { clock: () => now, consents } as ReadConsentDeps;
    return consentStatus(deps, { get: () => Promise.resolve(null) }, id, { clientId, bank, ...by });
  };
  const present = { state: "present" } as const;
  assertEquals(await statusOf(present), "AwaitingAuthorisation");
  assertEquals(await statusOf(present, {}, NOW + DAY_MS), "Rejected");
  assertEquals(await statusOf(present, { clientId: other.clientId }), undefined);
  assertEquals(await statusOf(present, { bank: other.bank }), undefined);
  assertEquals(await statusOf({ state: "erased", at: NOW, scope: "case" }), undefined);
});

Deno.test("a consent keeps the 20 newest sessions at the bank that have not expired [C11]", () => {
  const sessionsAtBank = Object.fromEntries(Array.from({ length: 24 }, (_, at) => [`s${at}`, 1000 + at]));
  const session = { correlationId: "new", expiresAt: 5000 };
  const keptAt = (now: number): object => withSession({ sessionsAtBank }, session, now).sessionsAtBank ?? {};
  assertEquals(Object.keys(keptAt(1002)), [...Object.keys(sessionsAtBank).slice(5), "new"]);
  assertEquals(keptAt(1020), { s21: 1021, s22: 1022, s23: 1023, new: 5000 });
});
