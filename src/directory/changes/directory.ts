/** Dependencies of the directory's use cases, and its log events. */
import type { Clock } from "../../base/kernel/clock.ts";
import type { GuardedStore } from "../../base/store/guarded_store.ts";
import type { CertificateAuthority } from "../keys/certificate_authority.ts";
import type { CertificationTerms } from "../certification/certification.ts";
import type { HistoryHead } from "../participants/history_store.ts";
import type { RestoredCopy } from "./restored_copy_store.ts";
import type { StatementTerms } from "../statements/software_statement.ts";
import type { StatementKeys } from "../statements/statement_keys.ts";

/** @param subject an org_id, or `people` */
export type Witness = (subject: string, head: HistoryHead) => void;

export interface Directory {
  readonly store: GuardedStore;
  readonly clock: Clock;
  readonly authority: CertificateAuthority;
  /** Validity of new certificates, days. */
  readonly certificateDays: number;
  /** The clock of the clients that verify new certificates; never ahead of `clock`. */
  readonly judgesClock: Clock;
  readonly statementKeys: StatementKeys;
  readonly terms: StatementTerms;
  readonly certification: CertificationTerms;
  readonly restored: RestoredCopy;
  /** Sends the newest hash of a history elsewhere, so that who rewrites the whole history in the database is noticed. */
  readonly witness: Witness;
}
