/** What the funnel must be, from the events of all histories in a store. It shares no code with the platform's counting, which it compares. */
import type { AuditEntry } from "../../src/platform/evidence/evidence.ts";
import { auditRecord } from "../../src/platform/evidence/audit_trail.ts";
import { consentRecord } from "../../src/platform/core/consents/consent_store.ts";
import { paymentRecord } from "../../src/platform/core/payments/payment_store.ts";
import { asConsentId, paymentIdOf } from "../../src/base/kernel/identifiers.ts";
import { openLog } from "../../src/base/observability/log.ts";
import type { Store } from "../../src/base/store/store.ts";
import type { Log } from "../../src/platform/observed/log_events.ts";
import { openPlatformMetrics } from "../../src/platform/observed/metrics.ts";
import { funnelDayRecord, openFunnelStore } from "../../src/platform/observed/funnel/funnel_store.ts";
import { countFunnel } from "../../src/platform/operations/funnel/count_funnel.ts";

/**
 * Numbers by `day bank tpp type step` and by `day bank tpp type left step code`, each also with `*` in place of the bank, and
 * of the TPP. Languages are added up.
 */
export type Numbers = Readonly<Record<string, number>>;

const MOST = 100_000;
const STEPS = ["created", "pushed", "opened", "atBank", "returned", "decided", "paid", "final"];
const SETTLED = [
  "Rejected",
  "AcceptedSettlementCompleted",
  "AcceptedWithoutPosting",
  "AcceptedCreditSettlementCompleted",
];

/** Returns the numbers that follow from the histories in the store. */
export async function numbersOfHistories(store: Store): Promise<Numbers> {
  const histories = new Map<string, AuditEntry[]>();
  for (
    const { key, value } of (await store.list({ prefix: ["audit"], limit: MOST })).map(auditRecord.decode)
  ) {
    const subject = key[1] ?? "";
    histories.set(subject, [...histories.get(subject) ?? [], value]);
  }
  const numbers: Record<string, number> = {};
  const add = (day: string, { bank, clientId }: { bank: string; clientId: string }, what: string): void => {
    for (const whose of [`${bank} ${clientId}`, `${bank} *`, `* ${clientId}`]) {
      const name = `${day} ${whose} ${what}`;
      numbers[name] = (numbers[name] ?? 0) + 1;
    }
  };
  for (const [subject, history] of histories) {
    const id = asConsentId(subject);
    if (id === undefined || history[0]?.event !== "consent.AwaitingAuthorisation") continue;
    const consent = (await consentRecord.get(store, ["consent", subject]))?.value;
    const paymentId = await paymentIdOf(id);
    const payment = (await paymentRecord.get(store, ["payment", paymentId]))?.value;
    if (consent === undefined) throw new Error(`the history of ${subject} has no consent`);
    const day = new Date(history[0].at).toISOString().slice(0, 10);
    const type = consent.request.initiation.debtorAccount === undefined ? "explicit" : "implicit";
    const { step, isLeft } = lastStep(history, histories.get(paymentId) ?? []);
    for (const name of STEPS.slice(0, step + 1)) add(day, consent, `${type} ${name}`);
    const code = step < 7 ? consent.statusReasonCode : payment?.statusReasonCode;
    if (isLeft) add(day, consent, `${type} left ${STEPS[step]} ${code ?? "without code"}`);
  }
  return numbers;
}

function lastStep(
  consent: readonly AuditEntry[],
  payment: readonly AuditEntry[],
): { readonly step: number; readonly isLeft: boolean } {
  const end = consent.findIndex(({ event }) => event === "consent.Rejected");
  const before = end < 0 ? consent : consent.slice(0, end + 1);
  const happened = (is: (entry: AuditEntry) => boolean): boolean => before.some(is);
  const byBank = ({ reason = "" }: AuditEntry): boolean => reason.startsWith("bank: ");
  const settled = payment.find(({ event }) => SETTLED.some((status) => event === `payment.${status}`));
  if (end < 0 && settled !== undefined) return { step: 7, isLeft: settled.event === "payment.Rejected" };
  if (end < 0 && payment.length > 0) return { step: 6, isLeft: false };
  const decided = happened(({ event, actor }) =>
    /^consent\.(?:Authorized|Rejected)$/.test(event) && actor === "customer"
  );
  const isLeft = end >= 0;
  if (decided) return { step: 5, isLeft };
  if (happened(byBank)) return { step: 4, isLeft };
  if (happened(({ reason }) => reason === "payer accounts reported")) return { step: 3, isLeft };
  if (happened(({ event }) => event === "consent.customer_sent_to_bank")) return { step: 2, isLeft };
  return { step: happened(({ event }) => event === "consent.authorization_requested") ? 1 : 0, isLeft };
}

/** Returns the numbers that the store's funnel has. */
export async function numbersOfFunnel(store: Store): Promise<Numbers> {
  const numbers: Record<string, number> = {};
  const rows = (await store.list({ prefix: ["funnel_day"], limit: MOST })).map(funnelDayRecord.decode);
  for (const { key: [, day, kind, first, second], value: { parts } } of rows) {
    const of = kind === "both" ? `${first} ${second}` : kind === "bank" ? `${first} *` : `* ${first}`;
    for (const { type, reached, left } of parts) {
      const all = [
        ...Object.entries(reached),
        ...Object.entries(left).map(([name, more]) => [`left ${name}`, more] as const),
      ];
      for (const [name, more = 0] of all) {
        const full = `${day} ${of} ${type} ${name}`;
        if (more !== 0) numbers[full] = (numbers[full] ?? 0) + more;
      }
    }
  }
  return numbers;
}

/** Long enough for every case to be due. */
const LATER_MS = 8 * 3_600_000;

/**
 * Counts what is still due in a store whose processes have stopped, and compares the funnel with the histories. The codes of
 * reasons are not compared: a store without its data keys does not show them.
 */
export async function compareFunnel(
  store: Store,
  now: number,
): Promise<{ readonly cases: number; readonly faults: readonly string[] }> {
  const find = (): Promise<null> => Promise.resolve(null);
  const funnel = openFunnelStore(store, 400 * 86_400_000);
  const clock = (): number => now + LATER_MS;
  const log: Log = openLog({ clock, sink: () => {}, level: "error" });
  const deps = { store, clock, funnel, log, metrics: openPlatformMetrics() };
  while (await countFunnel({ ...deps, consents: { find }, payments: { find } }) > 0);
  const [counted = {}, recorded = {}] = [await numbersOfFunnel(store), await numbersOfHistories(store)]
    .map(withoutCodes);
  const names = [...new Set([...Object.keys(counted), ...Object.keys(recorded)])];
  const created = Object.entries(recorded).filter(([name]) =>
    name.endsWith(" created") && !name.includes(" * ")
  );
  return {
    cases: created.reduce((sum, [, number]) => sum + number, 0),
    faults: names.filter((name) => counted[name] !== recorded[name])
      .map((name) => `${name} is ${counted[name] ?? 0}, in the histories ${recorded[name] ?? 0}`),
  };
}

function withoutCodes(numbers: Numbers): Numbers {
  const sums: Record<string, number> = {};
  for (const [name, number] of Object.entries(numbers)) {
    const short = name.replace(/( left \w+) .*/, "$1");
    sums[short] = (sums[short] ?? 0) + number;
  }
  return sums;
}
