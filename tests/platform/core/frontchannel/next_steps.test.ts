/**
 * The whole of each step after the bank's result and after the customer's decision, also what the bank is told is wrong,
 * and the evidence of a decision.
 */
import { assertEquals } from "@std/assert";
import canonicalize from "canonicalize";
import type { JsonObject } from "../../../../src/base/jose/compact_jws.ts";
import { digest } from "../../../../src/platform/evidence/digest.ts";
import type {
  Consent,
  Payer,
  PayerAccount,
  ReadableConsent,
} from "../../../../src/platform/core/consents/consent.ts";
import {
  accountNotice,
  type AuthorizationSession,
  canPay,
  isLate,
  keptUntil,
  stepAfterBank,
  stepAfterDecision,
  stepIfOvertaken,
} from "../../../../src/platform/core/frontchannel/authorization_session.ts";
import { decisionEvidence } from "../../../../src/platform/core/frontchannel/decision_evidence.ts";
import type { BankResult } from "../../../../src/platform/core/frontchannel/result_jwt.ts";
import { stepAfterResult } from "../../../../src/platform/core/frontchannel/step_after_result.ts";
import type { BankClient, Client } from "../../../../src/platform/core/registration/client.ts";

const ACCOUNT: PayerAccount = { schemeName: "UK.OBIE.IBAN", identification: "GB29 NWBK 6016 1331 9268 19" };
const PAYER: Payer = { sub: "customer", reports: [4], accounts: [ACCOUNT] };
const SUCCESS: BankResult = { outcome: "success", isShortOfFunds: false, sub: "customer" };

function consentOf(debtorAccount?: Partial<PayerAccount>, payer?: Payer): ReadableConsent {
  const instructedAmount = { amount: "10.00", currency: "EUR" };
  const request = { initiation: { instructedAmount, ...debtorAccount && { debtorAccount } } };
  return { request, status: "AwaitingAuthorisation", ...payer && { payer } } as ReadableConsent;
}

const EXPLICIT = consentOf(undefined, PAYER);
const STATUS = { at: "status_code", expected: "success, 200, failure or insufficient_funds" };
const SUB = { at: "sub", expected: "1 to 255 characters that are not an account number" };
const unusable = (reason: string, fault: object): object => {
  return { kind: "reject", error: "server_error", reason: `bank: ${reason}`, fault };
};
const ask = { kind: "ask", payer: PAYER, reason: "bank: success" };
const authorise = { kind: "authorise", reason: "bank: success" };
const ONE = unusable("not exactly one account", {
  at: "the payer's accounts",
  expected: "exactly one, which the payer chose",
});

Deno.test("each result of a bank leads to its step, with the reason of the history and the fault for the bank [CT5, CT9, B3, B4]", () => {
  const bank = (
    result: Partial<BankResult>,
    consent: ReadableConsent = EXPLICIT,
    managed = false,
  ): unknown => stepAfterBank({ ...SUCCESS, ...result }, consent, managed);
  const failure = { outcome: "failure", sub: "customer" } as const;
  const rejected = { kind: "reject", error: "access_denied", reason: "bank: failure" };
  assertEquals(bank(failure), rejected as never);
  assertEquals(bank({ ...failure, reasonCode: "AM04" as never }), { ...rejected, code: "AM04" });
  assertEquals(bank({ ...failure, isShortOfFunds: true }), { ...rejected, error: "insufficient_funds" });
  assertEquals(
    bank({ outcome: "unknown", statusCode: "'ok'" }),
    unusable("unknown status_code", { ...STATUS, received: "'ok'" }),
  );
  assertEquals(bank({ outcome: "unknown" }), unusable("unknown status_code", STATUS));
  assertEquals(
    stepAfterBank({ outcome: "success", isShortOfFunds: false }, EXPLICIT, false),
    unusable("no acceptable sub", SUB) as never,
  );
  for (const member of ["identification", "secondaryIdentification"]) {
    const named = consentOf({ [member]: "12-34 5a" });
    assertEquals(bank({ sub: "1234 5A" }, named), unusable("sub is the account number", SUB));
    assertEquals(bank({ sub: "12345" }, named), authorise);
  }
  assertEquals(
    bank({}, consentOf()),
    unusable("success without payer accounts", {
      at: "the payer's accounts",
      expected: "reported on the back channel before a success",
    }),
  );
  assertEquals(
    bank({ sub: "another" }),
    unusable("another customer's accounts", {
      at: "sub",
      expected: "the Data.Sub of the reported accounts",
    }),
  );
  assertEquals(bank({}), ask);
  assertEquals(bank({}, EXPLICIT, true), { ...authorise, chosen: { payer: PAYER, account: ACCOUNT } });
  const { accounts: _, ...none } = PAYER;
  for (const payer of [none, { ...PAYER, accounts: [] }, { ...PAYER, accounts: [ACCOUNT, ACCOUNT] }]) {
    assertEquals(bank({}, consentOf(undefined, payer), true), ONE);
  }
});

Deno.test("an account of another currency cannot be chosen, and a low balance is said [G3]", () => {
  const cases: readonly (readonly [Partial<PayerAccount>, boolean, string | undefined])[] = [
    [{}, true, undefined],
    [{ balance: "10.00" }, true, undefined],
    [{ balance: "9.99", currency: "EUR" }, true, "insufficient_funds"],
    [{ balance: "9.99", currency: "USD" }, false, "other_currency"],
    [{ currency: "USD" }, false, "other_currency"],
  ];
  for (const [account, can, notice] of cases) {
    const whole = { ...ACCOUNT, ...account };
    assertEquals([canPay(whole, EXPLICIT), accountNotice(whole, EXPLICIT)], [can, notice]);
  }
});

Deno.test("a decision on the screen leads to a step if its account can pay, and none without it [CT5, CT6]", () => {
  const foreign = { ...ACCOUNT, currency: "USD" };
  const screen = { payer: PAYER, accounts: [foreign, ACCOUNT] };
  const step = (
    accepted: boolean,
    accountIndex: number | undefined,
    shown: Parameters<typeof stepAfterDecision>[1] = screen,
  ): unknown => stepAfterDecision({ accepted, accountIndex }, shown, EXPLICIT);
  const rejected = { kind: "reject", error: "access_denied", code: "CUST", reason: "customer rejected" };
  assertEquals([step(false, 1), step(false, undefined)], [rejected, rejected]);
  const chosen = { payer: PAYER, account: ACCOUNT };
  assertEquals(step(true, 1), { kind: "authorise", chosen, reason: "customer accepted" });
  const none = [
    step(true, 0),
    step(true, 2),
    step(true, undefined),
    step(true, 1, { ...screen, payer: undefined }),
  ];
  assertEquals(none, none.map(() => undefined));
});

Deno.test("a session is late after 900 s, is kept for a day more, and a decided consent ends it in its own way [G1, CT12]", () => {
  const session = { expiresAt: 900_000 } as AuthorizationSession;
  assertEquals([isLate(session, 899_999), isLate(session, 900_000)], [false, true]);
  assertEquals(keptUntil(session), 900_000 + 86_400_000);
  const decided = { ...EXPLICIT, authoriseBy: 7, statusUpdatedAt: 7 } as Consent;
  const left = { kind: "leave", reason: "consent decided before" };
  assertEquals(stepIfOvertaken(decided), undefined);
  assertEquals(
    stepIfOvertaken({ ...decided, status: "Rejected" }),
    { ...left, error: "access_denied", code: "DS24" } as never,
  );
  const earlier = stepIfOvertaken({ ...decided, status: "Rejected", statusUpdatedAt: 6 });
  assertEquals(earlier, { ...left, error: "invalid_request" } as never);
});

Deno.test("the first result counts, a late success has no effect, and the screen names both parties [ARS3, ARS4, G1, G2]", () => {
  const tpp = { clientId: "SC-1", orgName: "Shop Ltd", role: "PISP", registeredAt: 5 } as unknown;
  const bank = { code: "BANKA", orgName: "Bank A", consentManagedByBank: false } as unknown;
  const step = (
    session: Partial<AuthorizationSession>,
    { now = 0, result = SUCCESS, more = {} }: { now?: number; result?: BankResult; more?: object } = {},
  ): unknown => {
    const whole = { stage: "at_bank", expiresAt: 900_000, ...session } as AuthorizationSession;
    const client = { ...tpp as Client, ...more };
    return stepAfterResult(result, bank as BankClient, {
      session: whole,
      consent: EXPLICIT,
      tpp: client,
      now,
    });
  };
  const expired = (reason: string): object => ({ kind: "leave", error: "session_expired", reason });
  const parties = {
    tpp: { legalName: "Shop Ltd", clientId: "SC-1", role: "PISP", registeredSince: 5 },
    bank: { code: "BANKA", name: "Bank A" },
  };
  assertEquals(step({}), { ...ask, parties });
  const more = { registrationNumber: "R7", clientUri: "https://shop.example" };
  const named = { ...parties.tpp, registrationNumber: "R7", clientUri: "https://shop.example" };
  assertEquals(step({}, { more }), { ...ask, parties: { ...parties, tpp: named } });
  const payer = { ...PAYER, reports: [4, 5] };
  assertEquals(step({ payer }), { ...ask, payer, parties });
  const deciding = { stage: "deciding" } as const;
  assertEquals(step(deciding), "stay");
  assertEquals(step(deciding, { now: 900_000 }), expired("returned again after the session expired"));
  const delivered = { stage: "delivered", result: SUCCESS } as Partial<AuthorizationSession>;
  assertEquals([step(delivered), step(delivered, { result: { ...SUCCESS } })], [{ ...ask, parties }, "stay"]);
  assertEquals(step({}, { now: 900_000 }), expired("bank: success, after the session expired"));
  const failed = { outcome: "failure", isShortOfFunds: false } as const;
  const rejected = { kind: "reject", error: "access_denied", reason: "bank: failure" };
  assertEquals(step({}, { now: 900_000, result: failed }), rejected);
});

Deno.test("the evidence of a decision has the page, and the account only if it was chosen [EN8]", () => {
  const initiation = {
    instructedAmount: { amount: "10.00", currency: "EUR" },
    creditorAccount: { name: "Payee", identification: "DE1", schemeName: "IBAN", more: "not shown" },
    remittanceInformation: { reference: "R1", unstructured: "U1" },
  };
  const accounts = [ACCOUNT, {
    ...ACCOUNT,
    secondaryIdentification: "2",
    currency: "USD",
    balance: "9.00",
  }, { ...ACCOUNT, balance: "9.00" }];
  const parties = { tpp: { legalName: "Shop" }, bank: { code: "BANKA", name: "Bank A" } };
  const open = {
    session: { correlationId: "session", expiresAt: 9 },
    consent: { request: { initiation }, authoriseBy: 8 },
    parties,
    accounts,
  };
  const evidenceOf = (accepted: boolean, accountIndex?: number, userAgent?: string): JsonObject => {
    const { page, evidence: [{ kind, bytes }] } = decisionEvidence(
      open as never,
      { accepted, accountIndex },
      { language: "fr", userAgent },
    );
    const { page: shown, ...decision } = JSON.parse(new TextDecoder().decode(bytes)) as JsonObject;
    assertEquals([kind, page], ["decision", { language: "fr", sha256: digest(canonicalize(shown) ?? "") }]);
    const { accounts: digests, ...facts } = shown as JsonObject;
    assertEquals(
      (digests as object[]).map((one) => Object.keys(one)),
      accounts.map(() => ["account", "balance"]),
    );
    assertEquals(facts, {
      language: "fr",
      ...parties,
      payee: { name: "Payee", identification: "DE1", schemeName: "IBAN" },
      amount: initiation.instructedAmount,
      reference: "R1",
      unstructured: "U1",
      expiresAt: 8,
    });
    return { ...decision, digests };
  };
  const chosenOf = (evidence: JsonObject, index: number): unknown => {
    const { salt, account } = evidence["chosen"] as { readonly salt: string; readonly account: object };
    const { account: sha256 } = (evidence["digests"] as { readonly account: string }[])[index] ?? {};
    assertEquals(sha256, digest(salt, canonicalize(account) ?? ""));
    return account;
  };
  const shown = { schemeName: ACCOUNT.schemeName, identification: ACCOUNT.identification };
  assertEquals(chosenOf(evidenceOf(true, 0), 0), { index: 0, ...shown, currency: "EUR", canPay: true });
  const other = { secondaryIdentification: "2", currency: "USD", canPay: false, why: "other_currency" };
  assertEquals(chosenOf(evidenceOf(true, 1), 1), { index: 1, ...shown, ...other });
  const low = { currency: "EUR", canPay: true, why: "insufficient_funds" };
  assertEquals(chosenOf(evidenceOf(true, 2), 2), { index: 2, ...shown, ...low });
  for (const none of [evidenceOf(false, 0), evidenceOf(true), evidenceOf(true, 3)]) {
    assertEquals(Object.keys(none), ["accepted", "session", "digests"]);
  }
  assertEquals(evidenceOf(false)["accepted"], false);
  const agents = [256, 257].map((length) => evidenceOf(true, 0, "a".repeat(length))["userAgent"]);
  assertEquals(agents, ["a".repeat(256), `${"a".repeat(255)}…`]);
});
