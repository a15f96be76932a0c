/** What every use case of the directory gets, and what the directory may tell its operator. */
import type { Clock } from "../base/kernel/clock.ts";
import type { GuardedStore } from "../base/store/guarded_store.ts";
import type { CertificateAuthority } from "./certificate_authority.ts";
import type { RestoredCopy } from "./restored_copy_store.ts";
import type { StatementTerms } from "./software_statement.ts";
import type { StatementKeys } from "./statement_keys.ts";

/** The directory's parts, opened. */
export interface Directory {
  readonly store: GuardedStore;
  readonly clock: Clock;
  readonly authority: CertificateAuthority;
  /** Validity of new certificates, days. */
  readonly certificateDays: number;
  /** The time by which those who are shown new certificates judge them; never ahead of `clock`. */
  readonly judgesClock: Clock;
  readonly statementKeys: StatementKeys;
  readonly terms: StatementTerms;
  readonly restored: RestoredCopy;
}

/** Structured log lines. Ids, reasons and counts only: no token, no key, no contact data. */
export interface DirectoryLog {
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}
type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;
