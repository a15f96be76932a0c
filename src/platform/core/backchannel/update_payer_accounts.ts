/**
 * Stores the payer's accounts that the bank reports, or the one chosen on the bank's own screen (contract EP12;
 * Decision C11).
 */
import { invalidStatus, isAtBank, isImplicit, withPayer } from "../consents/consent.ts";
import { MAX_ACCOUNT_REPORTS } from "../../../base/profile.ts";
import type { ConsentStore } from "../consents/consent_store.ts";
import { readConsent } from "../consents/read_consent.ts";
import type { AccountSchemes } from "../../../base/values/account.ts";
import type { BankCode, ClientId } from "../../../base/kernel/identifiers.ts";
import type { ApiError } from "../../../base/kernel/api_error.ts";
import { type SignedBody, signedEvidence } from "../../guards/security/payload_signature.ts";
import { type RequestState, type TransactDeps, transactFor } from "../../../base/store/transaction.ts";
import {
  decodePayerAccounts,
  type PayerAccountsReport,
  unexpectedAccounts,
} from "./payer_accounts_schema.ts";

export interface UpdatePayerAccountsDeps extends TransactDeps {
  readonly consents: ConsentStore;
  readonly accountSchemes: AccountSchemes;
}

/** A report with a verified signature. `json` is parsed but not decoded. */
export interface UpdatePayerAccounts extends RequestState {
  readonly bank: BankCode;
  readonly bankClientId: ClientId;
  readonly consentManagedByBank: boolean;
  readonly consentIdText: string;
  readonly json: unknown;
  /** The signed body, stored as evidence. */
  readonly signedBody: SignedBody;
}

/**
 * Stores the report in place of an earlier one.
 *
 * @throws {ApiError} `resource.not_found`, `resource.invalid_fields`, `resource.invalid_consent_status`
 */
export async function updatePayerAccounts(
  deps: UpdatePayerAccountsDeps,
  command: UpdatePayerAccounts,
): Promise<PayerAccountsReport> {
  return await transactFor(deps, command, { what: "payer accounts" }, async (tx) => {
    const entry = await readConsent(deps, tx, command.consentIdText, { bank: command.bank });
    const consent = entry.value;
    if (isImplicit(consent)) throw unexpectedAccounts();
    const mode = command.consentManagedByBank ? "bank" : "platform";
    const report = decodePayerAccounts(command.json, {
      bank: command.bank,
      consentId: consent.id,
      mode,
      accountSchemes: deps.accountSchemes,
      currency: consent.request.initiation.instructedAmount.currency,
    });
    const now = deps.clock();
    const chosen = mode === "bank" ? { accounts: report.debtorAccount } : {};
    const changed = withPayer(consent, { sub: report.sub, ...chosen }, now);
    if (changed.payer.reports.length > MAX_ACCOUNT_REPORTS) throw tooManyReports();
    if (!isAtBank(consent, now)) throw noOpenSession(); // an earlier return fixes the accounts (Decision G2)
    const proof = signedEvidence("payer_accounts", command.signedBody);
    const cause = { actor: command.bankClientId, reason: "payer accounts reported", ...proof };
    deps.consents.stageChange(tx, entry, changed, cause, now);
    return report;
  });
}

function tooManyReports(): ApiError {
  const message = `The payer's accounts of a consent can be reported ${MAX_ACCOUNT_REPORTS} times at most.`;
  return invalidStatus(message, "too many reports of payer accounts");
}

function noOpenSession(): ApiError {
  const message = "No authorization session is open for this consent. Send the payer's accounts after the " +
    "platform has redirected the customer to the bank and before the bank's return.";
  return invalidStatus(message, "no authorization session is open");
}
