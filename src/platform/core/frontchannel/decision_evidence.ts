/**
 * The evidence of a customer's decision on the platform's screen: what the screen showed, and who decided. The accounts
 * that were offered are covered by salted digests, so the page's hash can be recomputed although only the chosen account
 * is kept, and no balance (contract EN8).
 */
import type { Language } from "../../../pages/language.ts";
import canonicalize from "canonicalize";
import { boundedText } from "../../../base/kernel/foreign_text.ts";
import { digest } from "../../evidence/digest.ts";
import { type Evidence, newSalt, type ShownPage } from "../../evidence/evidence.ts";
import type { Decision, OpenDecision } from "./open_decision.ts";
import { type ShownAccount, shownFacts } from "./shown_facts.ts";

const MAX_USER_AGENT_CHARACTERS = 256;

/** How the customer read the page. */
export interface Reading {
  readonly language: Language;
  /** The browser's `User-Agent` header. */
  readonly userAgent: string | undefined;
}

/** The members of a history entry that a decision adds. */
export interface DecisionEvidence {
  readonly page: ShownPage;
  readonly evidence: readonly [Evidence];
}

/** A salted value: `sha256` is SHA-256 of the salt as text and the RFC 8785 form of the value. */
interface Salted<T> {
  readonly salt: string;
  readonly value: T;
  readonly sha256: string;
}

/**
 * Returns the evidence. The page is the facts on which the customer decides and their language. The HTML is not part of
 * it, because markup, words and the minutes left are not part of the agreement.
 */
export function decisionEvidence(
  open: OpenDecision,
  { accepted, accountIndex }: Decision,
  { language, userAgent }: Reading,
): DecisionEvidence {
  const { accounts, ...facts } = shownFacts(open);
  const offered = accounts.map(saltedAccount);
  const digests = offered.map(({ account, balance }) => ({
    account: account.sha256,
    balance: balance.sha256,
  }));
  const page = { language, ...facts, accounts: digests };
  const chosen = accepted && accountIndex !== undefined ? offered[accountIndex]?.account : undefined;
  const decision = {
    accepted,
    page,
    session: open.session.correlationId,
    ...(chosen === undefined ? {} : { chosen: { salt: chosen.salt, account: chosen.value } }),
    ...(userAgent === undefined ? {} : { userAgent: boundedText(userAgent, MAX_USER_AGENT_CHARACTERS) }),
  };
  return {
    page: { language, sha256: digest(canonicalize(page) ?? "") },
    evidence: [{ kind: "decision", bytes: new TextEncoder().encode(canonicalize(decision)) }],
  };
}

function saltedAccount({ balance, ...account }: ShownAccount): {
  readonly account: Salted<Omit<ShownAccount, "balance">>;
  readonly balance: Salted<string | null>;
} {
  return { account: addSalt(account), balance: addSalt(balance ?? null) };
}

function addSalt<T>(value: T): Salted<T> {
  const salt = newSalt();
  return { salt, value, sha256: digest(salt, canonicalize(value) ?? "") };
}
