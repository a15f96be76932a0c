/**
 * Background work: notes the last pushes of this process, and judges each bank by those of all (contract BH1 to BH3). Every
 * process does so. It reads the stored states before the pushes, and a commit fails if another process has changed the state
 * since, so that no process overwrites a state with an older view.
 */
import { asBankCode, type BankCode } from "../../../base/kernel/identifiers.ts";
import { MAX_PROCESS_SKEW_MS, type SteadyClock, wireDateTime } from "../../../base/kernel/clock.ts";
import type { Entry } from "../../../base/store/store.ts";
import { commitIfUnchanged, type TransactDeps } from "../../../base/store/transaction.ts";
import { BANKS_PATH } from "../../config/paths.ts";
import { bankHealthKey } from "../../config/store_keys.ts";
import { type NoticeToAll, stageNoticeToAll } from "../../events/spread_notices.ts";
import { type CurrentControls, outageAt } from "../../guards/security/controls_store.ts";
import { type ProcessPushes, pushesTo } from "../../observed/figures/last_pushes.ts";
import type { FiguresRecorder } from "../../observed/figures/recorder.ts";
import type { Log } from "../../observed/log_events.ts";
import { applySigns, type BankHealth, healthy, told } from "./bank_health.ts";
import { bankHealthRecord, listBankHealth, listPushNotes, notePushes } from "./bank_health_store.ts";

export interface JudgeBanksDeps extends TransactDeps {
  readonly authUrl: string;
  readonly steady: SteadyClock;
  readonly log: Log;
  readonly currentControls: CurrentControls;
  readonly figures: Pick<FiguresRecorder, "lastPushes" | "minute">;
}

const EVERY_MS = 1500;

/** Opens the job. It returns how many states have changed, and 0 at once if it has just looked. @throws {StoreFailure} */
export function openBankJudge(deps: JudgeBanksDeps): () => Promise<number> {
  let judgedAt = -Infinity;
  const noted = new Map<string, string>();
  return async () => {
    if (deps.steady() < judgedAt + EVERY_MS) return 0;
    judgedAt = deps.steady();
    for (const own of deps.figures.lastPushes()) {
      const news = JSON.stringify(own.banks);
      if (news !== noted.get(own.id)) await notePushes(deps.store, own);
      noted.set(own.id, news);
    }
    return await judgeBanks(deps);
  };
}

async function judgeBanks(deps: JudgeBanksDeps): Promise<number> {
  const stored = new Map((await listBankHealth(deps.store)).map((entry) => [entry.value.bank, entry]));
  const [notes, controls] = await Promise.all([listPushNotes(deps.store), deps.currentControls.get()]);
  const now = deps.clock();
  const pushed = notes.flatMap(({ banks }) => banks.map(({ bank }) => asBankCode(bank)));
  const banks = [
    ...stored.keys(),
    ...pushed,
    ...[...controls.holds, ...controls.outages].map(({ bank }) => bank),
  ];
  let changes = 0;
  for (const bank of new Set(banks.filter((code) => code !== undefined))) {
    const signs = {
      pushes: pushesOf(bank, notes, now),
      isInOutage: outageAt(controls, bank, now) !== undefined,
      isHeld: controls.holds.some((hold) => hold.bank === bank),
    };
    const former = stored.get(bank);
    const health = former?.value ?? healthy(bank);
    if (await record(deps, former, health, applySigns(health, signs, now), now)) changes++;
  }
  return changes;
}

/** The clock of a process may be ahead of this one's. */
function pushesOf(bank: BankCode, notes: readonly ProcessPushes[], now: number): ReturnType<typeof pushesTo> {
  return pushesTo(bank, notes, now + MAX_PROCESS_SKEW_MS);
}

async function record(
  deps: JudgeBanksDeps,
  former: Entry<BankHealth> | undefined,
  health: BankHealth,
  now: BankHealth,
  at: number,
): Promise<boolean> {
  const known = told(now, at);
  const changed = known ?? now;
  if (changed === health) return false;
  const isCommitted = await commitIfUnchanged(deps, (tx) => {
    bankHealthRecord.replace(tx, bankHealthKey(changed.bank), former, changed);
    if (known !== undefined) stageNoticeToAll(tx, noticeOf(deps.authUrl, known));
  });
  if (!isCommitted || now === health) return false; // another process has
  const { bank, state, since } = now;
  deps.log.warn("bank.state_changed", { bank, state, since: wireDateTime(since) });
  if (state === "down") markDown(deps.figures, bank, since, at);
  return true;
}

/** The downtime of reports counts from the first failure, not from when it was seen. */
function markDown(figures: JudgeBanksDeps["figures"], bank: BankCode, since: number, now: number): void {
  for (let at = since; at < now; at += 60_000) figures.minute("down", bank, at);
  figures.minute("down", bank, now);
}

function noticeOf(authUrl: string, { bank, id, told, toldAt, since }: BankHealth): NoticeToAll {
  return {
    bank,
    id,
    position: toldAt,
    notice: {
      type: "bank-state-changed",
      status: told,
      at: since,
      about: "bank",
      link: `${authUrl}${BANKS_PATH}`,
      details: {},
    },
  };
}
