/**
 * Enforces the retention of cases (contract EN13): erases those whose `PLATFORM_ERASE_CASES_DAYS` have passed, and deletes what is
 * left of them after `PLATFORM_DELETE_HISTORIES_DAYS`. Each commit has an entry of the evidence log that names its cases. A search
 * goes through all consents, so that it needs no index and follows a changed configuration.
 */
import { errorText, handleBatch } from "../../../base/kernel/batches.ts";
import { paymentIdOf } from "../../../base/kernel/identifiers.ts";
import type { Entry } from "../../../base/store/store.ts";
import { commitIfUnchanged, transact, type Transaction } from "../../../base/store/transaction.ts";
import type { Consent } from "../../core/consents/consent.ts";
import { recordedErasure } from "../../evidence/personal_data.ts";
import { youngerThan } from "./case_age.ts";
import { type CaseParts, type EraseCaseDeps, isOpen, readCaseParts, stageCaseErased } from "./erase_case.ts";
import {
  type AppliedRule,
  stageApplied,
  stageCaseGone,
  stageDeletionDone,
  stageOldestGone,
  unfinishedDeletions,
} from "./retention_store.ts";
import { searchCases } from "./retention_search.ts";

export interface RetireCasesDeps extends EraseCaseDeps {
  /** Undefined: only operators erase cases. */
  readonly eraseCasesDays: number | undefined;
  /** Undefined: histories are kept. */
  readonly deleteHistoriesDays: number | undefined;
}

/** Cases of one commit: about ten of the 1000 mutations that Deno KV takes, each. */
const BATCH = 20;
const DAY_MS = 86_400_000;

/** Looks at the next consents. Several processes share one search. @returns the number of cases erased or deleted */
export async function retireCases(deps: RetireCasesDeps): Promise<number> {
  const { eraseCasesDays, deleteHistoriesDays } = deps;
  if (eraseCasesDays === undefined && deleteHistoriesDays === undefined) return 0;
  const now = await deps.keptTime.now();
  const erasure = ruleOf("evidence", eraseCasesDays, now);
  const deletion = ruleOf("audit", deleteHistoriesDays, now);
  const erased = erasure === undefined ? 0 : await searchCases(deps, {
    ...erasure,
    isDone: isEmptied,
    canPass: true,
    retire: (consents) => retireAll(deps, erasure, consents, stageErasures),
  }, now);
  const deleted = deletion === undefined ? 0 : await searchCases(deps, {
    ...deletion,
    isDone: () => false,
    canPass: erasure !== undefined, // otherwise old cases stay until an operator erases them
    retire: (consents) => retireAll(deps, deletion, consents.filter(isEmptied), stageDeletions),
  }, now);
  return erased + deleted;
}

async function retireAll(
  deps: RetireCasesDeps,
  rule: AppliedRule,
  consents: readonly Entry<Consent>[],
  stage: Stage,
): Promise<number> {
  const old = consents.filter(({ value: { status, statusUpdatedAt } }) =>
    (status === "Rejected" || status === "Consumed") && statusUpdatedAt <= rule.until
  );
  let retired = 0;
  for (let from = 0; from < old.length; from += BATCH) {
    const counts = await handleBatch(
      old.slice(from, from + BATCH),
      (batch) => retireBatch(deps, rule, batch, stage),
      ({ value: { id: consentId } }, error) => {
        deps.log.error("case.not_erased", { consentId, error: errorText(error) });
      },
    );
    retired += counts.reduce((sum, count) => sum + count, 0);
  }
  return retired;
}

function isEmptied({ value }: Entry<Consent>): boolean {
  return recordedErasure(value) !== undefined;
}

function ruleOf(name: AppliedRule["class"], days: number | undefined, now: number): AppliedRule | undefined {
  if (days === undefined) return undefined;
  const variable = name === "evidence" ? "PLATFORM_ERASE_CASES_DAYS" : "PLATFORM_DELETE_HISTORIES_DAYS";
  return { class: name, rule: `${variable}=${days}`, until: now - days * DAY_MS };
}

type Stage = (
  deps: RetireCasesDeps,
  tx: Transaction,
  rule: AppliedRule,
  cases: readonly CaseParts[],
) => Promise<void>;

/** One commit: the cases of the batch that are due, and the entry that names them. */
async function retireBatch(
  deps: RetireCasesDeps,
  rule: AppliedRule,
  batch: readonly Entry<Consent>[],
  stage: Stage,
): Promise<number> {
  const options = { what: "cases whose retention has ended", attempts: 1, lost: () => 0 };
  return await transact(deps, options, async (tx) => {
    const cases: CaseParts[] = [];
    for (const { value: { id } } of batch) {
      const parts = await readCaseParts(deps, tx, id);
      if (parts !== null && await isDue(deps, parts, rule.until)) cases.push(parts);
    }
    if (cases.length > 0) await stage(deps, tx, rule, cases);
    return cases.length;
  });
}

async function isDue(deps: RetireCasesDeps, parts: CaseParts, until: number): Promise<boolean> {
  const { consent: { value: { id: consentId } }, caseId } = parts;
  return !isOpen(parts, deps.clock()) &&
    await youngerThan(deps, { consentId, caseId }, until) === undefined;
}

async function stageErasures(
  deps: RetireCasesDeps,
  tx: Transaction,
  rule: AppliedRule,
  cases: readonly CaseParts[],
): Promise<void> {
  const at = deps.clock();
  for (const parts of cases) {
    stageCaseErased(deps, tx, parts, { actor: "clock", reason: `retention: ${rule.rule}`, at });
  }
  await stageApplied(tx, rule, cases.map(({ caseId }) => caseId), at);
}

async function stageDeletions(
  deps: RetireCasesDeps,
  tx: Transaction,
  rule: AppliedRule,
  cases: readonly CaseParts[],
): Promise<void> {
  const ids = cases.map(({ caseId }) => caseId);
  const entry = await stageApplied(tx, rule, ids, deps.clock());
  for (const parts of cases) stageCaseGone(tx, parts, entry);
}

/** Deletes the histories of deleted cases, also those that another process has left. Returns the number of cases. */
export async function finishDeletions(deps: RetireCasesDeps): Promise<number> {
  const unfinished = await unfinishedDeletions(deps.store, BATCH);
  for (const consentId of unfinished) {
    for (const subject of [consentId, await paymentIdOf(consentId)]) {
      while (await commitOldestGone(deps, subject));
    }
    await commitIfUnchanged(deps, (tx) => stageDeletionDone(tx, consentId));
  }
  return unfinished.length;
}

async function commitOldestGone(deps: RetireCasesDeps, subject: string): Promise<boolean> {
  return await transact(
    deps,
    { what: "history of a deleted case" },
    (tx) => stageOldestGone(tx, deps.store, subject),
  );
}
