/**
 * The hook of `deno task certify bank` (docs/bank.md): the accounts of one customer, and the customer's decision on a
 * visit without pages. Served only while the bank is certified.
 */
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { z } from "zod";
import type { Bank } from "./bank.ts";
import { accountAt, accountId, SANDBOX_CODE, SANDBOX_PASSWORD } from "./customers.ts";
import { continueVisit, type FormEntry, takeEntry, type VisitOutcome } from "./sca_visit.ts";
import type { ScaSession } from "./sessions.ts";

const MAX_BODY_BYTES = 4096;

const decisionSchema = z.strictObject({
  consent_id: z.string().min(1).max(64),
  decision: z.enum(["approve", "refuse", "timeout", "approve_elsewhere"]),
  account: z.string().min(1).max(64).optional(),
});
type Decision = z.infer<typeof decisionSchema>;

/** Routes below `/{CODE}/certification`. */
export function certificationRoutes(bank: Bank): Hono {
  const routes = new Hono();
  routes.get("/", async (c) => c.json({ accounts: await accountsOf(bank) }));
  routes.post("/decisions", bodyLimit({ maxSize: MAX_BODY_BYTES }), (c) => decide(c, bank));
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
  return takeEntry(bank, session, { ...entry, step: session.step.at });
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
