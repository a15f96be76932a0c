/**
 * The hook of `deno task certify bank` (docs/bank.md): the accounts of one customer, and the customer's decision on a
 * visit without pages. Served only while the bank is certified.
 */
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { z } from "zod";
import {
  PlatformRejected,
  pollBankEvents,
  readCase,
  takeDisputeStep,
} from "../../client/bank/back_channel.ts";
import type { Bank } from "./bank.ts";
import { accountAt, accountId, SANDBOX_CODE, SANDBOX_PASSWORD } from "./customers.ts";
import { continueVisit, type FormEntry, takeEntry } from "./sca_visit.ts";
import { type ScaSession, tryOf, type VisitOutcome } from "./sessions.ts";

const MAX_BODY_BYTES = 4096;
/** Of events before that of a dispute. */
const MAX_POLLS = 20;
const MAX_ATTEMPTS = 20;
const PAUSE_MS = 500;

const decisionSchema = z.strictObject({
  consent_id: z.string().min(1).max(64),
  decision: z.enum(["approve", "refuse", "timeout", "approve_elsewhere"]),
  account: z.string().min(1).max(64).optional(),
});
const disputeSchema = z.strictObject({ payment_id: z.uuid() });
type Decision = z.infer<typeof decisionSchema>;

/** Routes below `/{CODE}/certification`. */
export function certificationRoutes(bank: Bank): Hono {
  const routes = new Hono();
  routes.get("/", async (c) => c.json({ accounts: await accountsOf(bank) }));
  routes.post("/decisions", bodyLimit({ maxSize: MAX_BODY_BYTES }), (c) => decide(c, bank));
  routes.post("/disputes", bodyLimit({ maxSize: MAX_BODY_BYTES }), (c) => answerDispute(c, bank));
  return routes;
}

async function accountsOf(
  { customers: [customer], ledger }: Bank,
): Promise<readonly Readonly<Record<string, string>>[]> {
  const balances = await ledger.balances();
  return (customer?.accounts ?? []).map((account) => ({
    SchemeName: account.schemeName,
    Identification: account.identification,
    Currency: account.currency,
    Balance: balances.of(account),
  }));
}

async function decide(c: Context, bank: Bank): Promise<Response> {
  const decoded = decisionSchema.safeParse(await c.req.json<unknown>().catch(() => undefined));
  if (!decoded.success) return c.json({ error: "invalid_request" }, 400);
  const session = bank.sessions.findOpen(bank.profile.code, decoded.data.consent_id);
  if (session === undefined) return c.json({ error: "no_visit" }, 404);
  const outcome = await outcomeOf(bank, session, decoded.data);
  return outcome.go === "platform"
    ? c.json({ location: outcome.url }, 200)
    : c.json({ error: "not_decided" }, 409);
}

/** Waits for the event of the dispute, answers it, and gets the evidence when the log has the answer. */
async function answerDispute(c: Context, { party, pause }: Bank): Promise<Response> {
  const decoded = disputeSchema.safeParse(await c.req.json<unknown>().catch(() => undefined));
  if (!decoded.success) return c.json({ error: "invalid_request" }, 400);
  const { payment_id: paymentId } = decoded.data;
  if (!await hasCome(party)) return c.json({ error: "no_dispute" }, 409);
  const statement = "It was credited on the same day.";
  await takeDisputeStep(party, { paymentId, action: "Answer", isAgreed: false, statement });
  return c.json({ bundle: await evidenceOf(party, paymentId, () => pause(PAUSE_MS)) });
}

/** The log has a new entry within seconds. Until then the case is 503. */
async function evidenceOf(
  party: Bank["party"],
  paymentId: string,
  wait: () => Promise<void>,
): Promise<unknown> {
  for (let attempt = 1;; attempt++) {
    try {
      return await readCase(party, paymentId);
    } catch (error) {
      const isLate = error instanceof PlatformRejected && error.status === 503;
      if (!isLate || attempt === MAX_ATTEMPTS) throw error;
      await wait();
    }
  }
}

/** Polls until the event of an open dispute has come, and acknowledges it and those before it. */
async function hasCome(party: Bank["party"]): Promise<boolean> {
  let ack: readonly string[] = [];
  let isThere = false;
  for (let polls = 0; polls < MAX_POLLS && !isThere; polls++) {
    const { events } = await pollBankEvents(party, { ack, returnImmediately: true });
    ack = events.map(({ jti }) => jti);
    isThere = events.some(({ type, status }) => type === "dispute-changed" && status === "Open");
  }
  await pollBankEvents(party, { ack, returnImmediately: true });
  return isThere;
}

async function outcomeOf(bank: Bank, session: ScaSession, decided: Decision): Promise<VisitOutcome> {
  if (decided.decision === "timeout") return await continueVisit(bank, { ...session, expiresAtMs: 0 });
  if (decided.decision === "refuse") return await enter(bank, session, { decision: "refuse" });
  let outcome: VisitOutcome = { go: "page", session };
  for (const entry of entriesOf(bank, session, decided)) {
    if (outcome.go === "page") outcome = await enter(bank, outcome.session, entry);
  }
  return outcome;
}

function enter(bank: Bank, session: ScaSession, entry: FormEntry): Promise<VisitOutcome> {
  return takeEntry(bank, session, { ...entry, step: tryOf(session) });
}

/** The customer's entries on the pages, in their order. */
function entriesOf(
  { customers: [customer] }: Bank,
  { consent }: ScaSession,
  { decision, account }: Decision,
): readonly FormEntry[] {
  const currency = consent.InstructedAmount.Currency;
  const [first] = customer?.accounts ?? [];
  const named = account === undefined ? first : accountAt(customer?.accounts ?? [], {
    SchemeName: "IBAN",
    Identification: account,
  }, currency);
  return [
    { decision: "continue", username: customer?.username ?? "", password: SANDBOX_PASSWORD },
    ...decision === "approve_elsewhere" ? [{ decision: "app" }] : [],
    { decision: "confirm", code: SANDBOX_CODE },
    { decision: "accept", account: named === undefined ? "" : accountId(named) },
  ];
}
