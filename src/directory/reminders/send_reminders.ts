/** Sends the reminders that are due, and does so again and again (contract DRM1 to DRM4). */
import { awaitFor } from "../../base/kernel/await_for.ts";
import { daysBefore } from "../../base/kernel/date_time.ts";
import type { Store } from "../../base/store/store.ts";
import type { Directory } from "../changes/directory.ts";
import type { DirectoryLog } from "../observed/log_events.ts";
import type { OrgId } from "../participants/identifiers.ts";
import type { Participant } from "../participants/participant.ts";
import type { HistoryEntry } from "../participants/history.ts";
import { listHistory } from "../participants/history_store.ts";
import { listKeys, listParticipants } from "../participants/participant_store.ts";
import type { SendMail } from "./mailer.ts";
import {
  endingsOf,
  ISSUE_MAIL_MS,
  issueMailOf,
  issuesIn,
  type Mail,
  mailOf,
  type MailTerms,
} from "./reminder.ts";
import { claimReminder, settleReminder } from "./reminder_store.ts";

export interface ReminderDeps {
  readonly directory: Directory;
  readonly terms: MailTerms;
  /** Before the end. */
  readonly days: readonly number[];
  readonly send: SendMail;
  readonly log: DirectoryLog;
}

/** Work that goes on until it is stopped. */
export interface Work {
  /** Ends it, and waits for a mail that is being sent, for 2 s at most. */
  stop(): Promise<void>;
}

/** Mails of one pass. The next pass sends the others. */
const MAX_A_PASS = 200;
const EVERY_MS = 3_600_000;
const STOP_MS = 2000;

export interface Reminders {
  /** Sends what is due. */
  sendDue(): Promise<void>;
  /** Sends what is due now, and every hour or as often as `everyMs`. */
  start(everyMs?: number): Work;
}

export function openReminders(deps: ReminderDeps): Reminders {
  let endedAt: OrgId | undefined;
  const pass = async (isStopped: () => boolean): Promise<void> =>
    void (endedAt = await sendReminders(deps, endedAt, isStopped));
  return {
    sendDue: () => pass(() => false),
    start: (everyMs = EVERY_MS) => startReminders(deps, pass, everyMs),
  };
}

function startReminders(
  deps: ReminderDeps,
  send: (isStopped: () => boolean) => Promise<void>,
  everyMs: number,
): Work {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;
  const pass = async (): Promise<void> => {
    await send(() => isStopped).catch((error: Error) => {
      if (!isStopped) deps.log.error("directory.reminders_failed", { why: error.message });
    });
    if (!isStopped) timer = setTimeout(() => running = pass(), everyMs);
  };
  let running = pass();
  return {
    async stop(): Promise<void> {
      isStopped = true;
      clearTimeout(timer);
      await awaitFor(STOP_MS, running, () => {});
    },
  };
}

/**
 * Sends what is due. It ends early if the mail server cannot be reached, and returns the participant of that mail. A
 * restored copy may lack what was sent and what was renewed, so nothing is sent until it is confirmed.
 *
 * @param endedAt where the pass before ended early. This one begins behind it, so that no mail blocks those of others
 */
async function sendReminders(
  deps: ReminderDeps,
  endedAt: OrgId | undefined,
  isStopped: () => boolean,
): Promise<OrgId | undefined> {
  const { directory: { store, restored } } = deps;
  if (await restored.takenAt() !== undefined) return endedAt;
  let sent = 0;
  const all = await listParticipants(store);
  const start = all.findIndex(({ orgId }) => orgId === endedAt) + 1;
  for (const participant of [...all.slice(start), ...all.slice(0, start)]) {
    for (const due of await dueOf(deps, participant)) {
      if (isStopped() || sent >= MAX_A_PASS) return participant.orgId;
      const outcome = await remind(deps, participant, due);
      if (outcome === "unreachable") return participant.orgId;
      if (outcome === "tried") sent++;
    }
  }
  return undefined;
}

/** A mail that is due. */
interface Due {
  readonly id: string;
  /** Milliseconds: of what ends or was issued. */
  readonly endsAt: number;
  /** Before the end; 0 for what was issued. */
  readonly days: number;
  readonly mail: () => Promise<Mail>;
}

/** Entries of a history that are read at a time, newest ones first, and how often at most. */
const PAGE = 200;
const MAX_PAGES = 50;

/** Returns the entries of the time in which an issue is told of. Other changes must not hide one. */
async function newestHistory(
  store: Store,
  { orgId, historyLength }: Participant,
  from: number,
): Promise<readonly HistoryEntry[]> {
  const pages: (readonly HistoryEntry[])[] = [];
  for (let end = historyLength; end > 0 && pages.length < MAX_PAGES; end -= PAGE) {
    const start = Math.max(0, end - PAGE);
    const page = await listHistory(store, orgId, start === 0 ? undefined : start - 1, end - start);
    pages.unshift(page);
    if ((page[0]?.at ?? 0) < from) break;
  }
  return pages.flat();
}

async function dueOf(
  { directory: { store, clock, terms: statements, certification }, days, terms }: ReminderDeps,
  participant: Participant,
): Promise<readonly Due[]> {
  const { orgId } = participant;
  const history = await newestHistory(store, participant, clock() - ISSUE_MAIL_MS);
  const issues = issuesIn(history, clock()).map((issue): Due => ({
    id: issue.id,
    endsAt: issue.at,
    days: 0,
    mail: () => issueMailOf(participant, issue, terms),
  }));
  const keys = await listKeys(store, orgId);
  const endings = endingsOf(participant, keys, statements, certification).flatMap((ending): Due[] => {
    const due = daysBefore(ending.endsAt, days, clock());
    if (due === undefined) return [];
    const { id, endsAt } = ending;
    return [{ id, endsAt, days: due, mail: () => mailOf(participant, ending, due, terms) }];
  });
  return [...issues, ...endings];
}

async function remind(
  { directory, send, log }: ReminderDeps,
  { orgId }: Participant,
  due: Due,
): Promise<"nothing" | "tried" | "unreachable"> {
  const { days } = due;
  const claim = await claimReminder(directory, orgId, due, days);
  if (claim === undefined) return "nothing";
  const mail = await due.mail();
  const sent = await send(mail);
  const state = await settleReminder(directory, claim, sent.outcome);
  const { messageId } = mail;
  if (sent.outcome === "sent") {
    const { rejectedAddresses } = sent;
    log.info("directory.reminder_sent", { orgId, messageId, days, rejectedAddresses });
    return "tried";
  }
  log.warn("directory.reminder_not_sent", { orgId, messageId, days, why: sent.why, state });
  return sent.outcome === "unreachable" ? "unreachable" : "tried";
}
