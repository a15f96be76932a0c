/**
 * A customer's visit from the platform's redirect to the redirect back, step by step. Contains no HTML and no cookies.
 * Every failure ends in a return to the platform and never in a success.
 */
import { FLOW_SECONDS } from "../../client/party/profile.ts";
import {
  type BankConsent,
  deliverResult,
  type PayerAccount,
  putPayerAccounts,
  readConsent,
} from "../../client/bank/back_channel.ts";
import { type Handover, openHandover } from "../../client/bank/open_handover.ts";
import { transactionDigest } from "../../client/bank/transaction_digest.ts";
import { returnUrl, type ScaResult, waitingUrl } from "../../client/bank/seal_result.ts";
import type { Bank } from "./bank.ts";
import {
  accountAt,
  accountId,
  type Customer,
  type CustomerAccount,
  findByCredentials,
  SANDBOX_CODE,
} from "./customers.ts";
import { FAULTS, type FaultSubject, type MetFault, metFault } from "./faults.ts";
import { minorUnits } from "./money.ts";
import { sealReturn } from "./seal_return.ts";
import {
  type EntryComplaint,
  randomText,
  type ScaSession,
  type ScaStep,
  tryOf,
  type VisitOutcome,
} from "./sessions.ts";

/** Fields of the bank's forms, as sent. */
export type FormEntry = Readonly<Record<string, string>>;

/** Wrong entries at one step before the visit fails. */
const maxFailures = 3;
/** `sub` of a return if no customer has signed in. No customer has this id. */
const nobody = "not-authenticated";
const FAILURE = { statusCode: "failure" } as const;

/**
 * Opens the handover JWT, reads the consent and starts a visit.
 * @throws {HandoverRejected} if the JWT is not authentic
 */
export async function startVisit(
  bank: Bank,
  { oAuthUrl, customerIp }: { readonly oAuthUrl: string; readonly customerIp: string },
): Promise<VisitOutcome> {
  const handover = await openHandover(bank.party, oAuthUrl);
  const consent = await readConsent(bank.party, { consentId: handover.consentId, customerIp })
    .catch((error: unknown) => noteTrouble(bank, error));
  if (consent === undefined || !await isAbout(handover, consent)) {
    const result: ScaResult = { statusCode: "error", status: "consent_unavailable", sub: nobody };
    return { go: "platform", url: await sealed(bank, handover, result) };
  }
  const session = bank.sessions.open({ bankCode: bank.profile.code, customerIp, handover, consent });
  return { go: "page", session };
}

/** Whether the handover is about the payment that the customer would be shown. */
async function isAbout(
  { debtorAccountPresent, transactionDigest: digest }: Handover,
  consent: BankConsent,
): Promise<boolean> {
  return debtorAccountPresent === Boolean(consent.DebtorAccount) &&
    (digest === undefined || digest === await transactionDigest(consent));
}

/** The response to a visit without an entry: the page of its step, or back to the platform if it is over. */
export function continueVisit(bank: Bank, session: ScaSession): Promise<VisitOutcome> {
  const { step } = session;
  if (step.at === "returned") return step.url.then((url) => ({ go: "platform", url }));
  if (session.expiresAtMs > bank.clock()) return Promise.resolve({ go: "page", session });
  return finish(bank, session, { ...FAILURE, status: "timed_out", reasonCode: "NOAS", sub: subOf(step) });
}

/**
 * Processes the form entry for the visit's current step. An entry for an earlier step or try has no effect, and one that
 * comes while another is processed, such as a double click, has the outcome of that one.
 */
export async function takeEntry(bank: Bank, session: ScaSession, entry: FormEntry): Promise<VisitOutcome> {
  const { underWay } = bank.sessions;
  const outcome = underWay.get(session.secret) ?? processEntry(bank, session, entry);
  underWay.set(session.secret, outcome);
  try {
    return await outcome;
  } finally {
    underWay.delete(session.secret);
  }
}

function processEntry(bank: Bank, before: ScaSession, entry: FormEntry): Promise<VisitOutcome> {
  const session = { ...before, ...faultOf(entry) };
  const { step } = session;
  if (step.at === "returned" || session.expiresAtMs <= bank.clock()) return continueVisit(bank, session);
  if (entry["step"] !== tryOf(session)) return Promise.resolve({ go: "page", session });
  if (entry["decision"] === "refuse") {
    return finish(bank, session, {
      ...FAILURE,
      status: "refused_by_customer",
      reasonCode: "CUST",
      sub: subOf(step),
    });
  }
  switch (step.at) {
    case "login":
      return login(bank, session, entry);
    case "code":
      return confirmCode(bank, session, step.customer, entry);
    case "consent":
      return selectAccount(bank, session, step.customer, entry);
  }
}

async function login(bank: Bank, session: ScaSession, entry: FormEntry): Promise<VisitOutcome> {
  if (entry["decision"] !== "continue") return { go: "page", session };
  const customer = findByCredentials(bank.customers, {
    username: (entry["username"] ?? "").trim().toLowerCase(),
    password: entry["password"] ?? "",
  });
  if (customer === undefined) {
    return await tryAgain(bank, session, { says: "wrong_credentials", username: entry["username"] ?? "" });
  }
  const { DebtorAccount } = session.consent;
  if (DebtorAccount && accountAt(customer.accounts, DebtorAccount, currencyOf(session)) === undefined) {
    return await finish(bank, session, {
      ...FAILURE,
      status: "debtor_account_not_owned",
      reasonCode: "AC01",
      sub: customer.id,
    });
  }
  return moveTo(bank, session, { at: "code", customer });
}

async function confirmCode(
  bank: Bank,
  session: ScaSession,
  customer: Customer,
  entry: FormEntry,
): Promise<VisitOutcome> {
  if (entry["decision"] === "app" && bank.profile.hasApp) return moveToApp(bank, session);
  if (entry["decision"] !== "confirm") return { go: "page", session };
  if ((entry["code"] ?? "").trim() !== SANDBOX_CODE) {
    return await tryAgain(bank, session, { says: "wrong_code" });
  }
  const { DebtorAccount } = session.consent;
  if (session.handover.debtorAccountPresent && DebtorAccount) {
    const named = accountAt(customer.accounts, DebtorAccount, currencyOf(session));
    if (isShort(session, (await payerAccounts(bank, named === undefined ? [] : [named]))[0])) {
      return await endForFunds(bank, session, customer);
    }
    return await succeed(bank, session, customer, undefined);
  }
  if (bank.profile.consentScreen === "bank") return moveTo(bank, session, { at: "consent", customer });
  return await succeed(bank, session, customer, await payerAccounts(bank, customer.accounts));
}

async function selectAccount(
  bank: Bank,
  session: ScaSession,
  customer: Customer,
  entry: FormEntry,
): Promise<VisitOutcome> {
  if (entry["decision"] !== "accept") return { go: "page", session };
  // Compared with this customer's own accounts, so that a manipulated form cannot select another account.
  const chosen = customer.accounts.filter((account) => accountId(account) === entry["account"]);
  const selected = await payerAccounts(bank, chosen);
  if (selected.length !== 1) return stay(bank, session, { says: "no_account" });
  if (isShort(session, selected[0])) return await endForFunds(bank, session, customer);
  return await succeed(bank, session, customer, selected);
}

/**
 * Returns whether the balance is too low; these banks grant no overdraft. Accounts in another currency are not
 * compared.
 */
function isShort({ consent }: ScaSession, account: PayerAccount | undefined): boolean {
  const { Amount, Currency } = consent.InstructedAmount;
  if (account?.Currency !== Currency) return false;
  return (minorUnits(account.Balance ?? "") ?? 0) < (minorUnits(Amount) ?? 0);
}

function endForFunds(bank: Bank, session: ScaSession, { id: sub }: Customer): Promise<VisitOutcome> {
  const status = "insufficient_funds";
  const result: ScaResult = { statusCode: status, status, reasonCode: "AM04", sub };
  return finish(bank, session, result);
}

/** Sends the accounts, if any, then returns success. */
async function succeed(
  bank: Bank,
  session: ScaSession,
  customer: Customer,
  accounts: readonly PayerAccount[] | undefined,
): Promise<VisitOutcome> {
  const { handover: { consentId }, customerIp } = session;
  const sent = faultyAccounts(bank, session, customer, accounts);
  try {
    if (sent) {
      await putPayerAccounts(bank.party, { consentId, sub: customer.id, accounts: sent, customerIp });
    }
  } catch (error) {
    noteTrouble(bank, error);
    return await finish(bank, session, {
      statusCode: "error",
      status: "accounts_not_sent",
      sub: customer.id,
    });
  }
  return await finish(bank, session, { statusCode: "success", status: "success", sub: customer.id });
}

function tryAgain(bank: Bank, session: ScaSession, complaint: EntryComplaint): Promise<VisitOutcome> {
  const failures = session.failures + 1;
  if (failures >= maxFailures) {
    const result: ScaResult = {
      ...FAILURE,
      status: "authentication_failed",
      reasonCode: "AC06", // ISO 20022 has no code for a blocked access
      sub: subOf(session.step),
    };
    return finish(bank, session, result);
  }
  const triesLeft = maxFailures - failures;
  return Promise.resolve(stay(bank, { ...session, failures }, { ...complaint, triesLeft }));
}

function stay(bank: Bank, session: ScaSession, complaint: EntryComplaint): VisitOutcome {
  const next = { ...session, complaint };
  bank.sessions.save(next);
  return { go: "page", session: next };
}

/** The customer, who has signed in with this browser, goes on in the app. This browser waits. */
function moveToApp(bank: Bank, session: ScaSession): VisitOutcome {
  const next = { ...session, app: session.app ?? randomText(32) };
  bank.sessions.save(next);
  return { go: "page", session: next };
}

function moveTo(bank: Bank, session: ScaSession, step: ScaStep): VisitOutcome {
  const next = { ...session, step, failures: 0, complaint: undefined };
  bank.sessions.save(next);
  return { go: "page", session: next };
}

async function finish(bank: Bank, session: ScaSession, result: ScaResult): Promise<VisitOutcome> {
  const fault = session.fault === undefined
    ? bank.faults.meet("return", subjectOf(session))
    : metFault(session.fault);
  const { handover, consent, app } = session;
  const url = sealed(bank, handover, result, { fault, isInApp: app !== undefined, consent });
  // Set before the first await: no further password or code can be tried, and a double click gets the same URL.
  moveTo(bank, session, { at: "returned", url });
  try {
    return { go: "platform", url: await url };
  } catch (error) {
    bank.sessions.save(session); // sealing the return failed: the customer may try again
    throw error;
  }
}

/** How the bank returns a customer. `consent`: what the customer was shown. */
interface Returning {
  readonly fault?: MetFault | undefined;
  readonly isInApp?: boolean;
  readonly consent?: BankConsent;
}

async function sealed(
  bank: Bank,
  handover: Handover,
  result: ScaResult,
  { fault, isInApp = false, consent }: Returning = {},
): Promise<string> {
  const { profile: { code }, party } = bank;
  if (fault?.name === "late_customer") await bank.letTimePass(FLOW_SECONDS * 1000);
  bank.log("sca.returned", { bank: code, statusCode: result.statusCode, status: result.status });
  const linked = consent === undefined ? {} : { transactionDigest: await transactionDigest(consent) };
  const text = await sealReturn(bank, handover, { ...result, ...linked }, fault);
  const isDelivered = isInApp && await delivers(bank, text);
  return isDelivered ? waitingUrl(party, handover) : returnUrl(party, text);
}

/** If the platform does not take the result, the browser of the handover returns with it. */
async function delivers(bank: Bank, text: string): Promise<boolean> {
  try {
    await deliverResult(bank.party, text).catch(() => deliverResult(bank.party, text)); // the answer may be lost
    return true;
  } catch (error) {
    noteTrouble(bank, error);
    return false;
  }
}

function currencyOf({ consent }: ScaSession): string {
  return consent.InstructedAmount.Currency;
}

async function payerAccounts(
  bank: Bank,
  accounts: readonly CustomerAccount[],
): Promise<readonly PayerAccount[]> {
  const balances = await bank.ledger.balances();
  return accounts.map((account) => ({
    SchemeName: account.schemeName,
    Identification: account.identification,
    Balance: balances.of(account),
    Currency: account.currency,
  }));
}

/** The accounts as changed by the fault that applies here, if any. */
function faultyAccounts(
  bank: Bank,
  session: ScaSession,
  { accounts: [own] }: Customer,
  accounts: readonly PayerAccount[] | undefined,
): readonly PayerAccount[] | undefined {
  const fault = bank.faults.meet("accounts", subjectOf(session))?.name;
  if (fault === "no_balance") return accounts?.map(({ Balance: _, ...account }) => account);
  if (fault !== "too_many_accounts" || own === undefined) return accounts;
  const one = { SchemeName: own.schemeName, Identification: own.identification };
  return Array.from({ length: 101 }, (_, index) => ({ ...one, SecondaryIdentification: String(index) }));
}

/** A customer without a browser chooses how its return fails. */
function faultOf({ fault }: FormEntry): Pick<ScaSession, "fault"> {
  const found = FAULTS.find(({ name, at }) => name === fault && at === "return");
  return found === undefined ? {} : { fault: found.name };
}

function subjectOf({ handover, consent }: ScaSession): FaultSubject {
  return { consentId: handover.consentId, amount: consent.InstructedAmount.Amount };
}

function subOf(step: ScaStep): string {
  return step.at === "code" || step.at === "consent" ? step.customer.id : nobody;
}

function noteTrouble(bank: Bank, error: unknown): undefined {
  bank.log("platform.call_failed", {
    bank: bank.profile.code,
    error: error instanceof Error ? error.message : String(error),
  });
}
