/** Everybody's books at the end of a run, read as their owners read them, for the checks of the prover. */
import {
  auditRecord,
  bodyOf,
  historyOf,
  piecesOf,
  type PlacedEntry,
  placedHistoryOf,
} from "../../../src/platform/evidence/audit_trail.ts";
import { openSealed } from "../../../src/platform/evidence/data_keys/sealed_store.ts";
import { openWrappingKeys } from "../../../src/platform/evidence/data_keys/wrapping_keys.ts";
import type { Store } from "../../../src/base/store/store.ts";
import { hashText } from "../../../src/base/merkle/tree.ts";
import { bodyDigest, leafHash } from "../../../src/platform/evidence/evidence.ts";
import type { BankBooks, PaymentSeen, TppBooks } from "../prove/bank_records.ts";
import type { Evidence } from "../prove/checks.ts";
import type { ConsentFact } from "../prove/payment.ts";
import { readSealedRecords } from "../prove/sealed_records.ts";
import type { Consent, Payment, PaymentOrders } from "../../testing/answers.ts";
import type { SimulatedBank } from "./bank.ts";
import type { Answer, Line } from "./calls.ts";
import { directStore } from "./database.ts";
import { missingOrForeign, readLogBooks } from "../../testing/evidence_log.ts";
import { type Party, TPPS, WRAPPING_KEY } from "./parties.ts";
import type { SimulatedPayment } from "./plan.ts";
import { callResource } from "./tokens.ts";

/** The observations of the TPPs' scripts, by payment plan. */
export type Fact = readonly [SimulatedPayment, ConsentFact];

/** Reads all of it. */
export async function gatherEvidence(
  line: Line,
  facts: readonly Fact[],
  banks: Readonly<Record<string, SimulatedBank>>,
): Promise<Evidence> {
  const { database } = line.simulation;
  const books: Record<string, BankBooks> = {};
  const tpp: Record<string, TppBooks> = {};
  for (const [code, bank] of Object.entries(banks)) {
    if (!facts.some(([, fact]) => fact.bank === code)) continue;
    books[code] = {
      orders: await listOrders(line, bank),
      executed: bank.ledger(),
      balances: bank.balances(),
    };
    tpp[code] = await readTppBooks(line, facts.filter(([, fact]) => fact.bank === code));
  }
  const orders = Object.values(books).flatMap(({ orders }) => orders);
  const subjects = orders.flatMap(({ DomesticPaymentId, ConsentId }) => [DomesticPaymentId, ConsentId]);
  const store = directStore(database);
  const histories = new Map<string, Awaited<ReturnType<typeof historyOf>>>();
  for (const subject of subjects) {
    const entries = await historyOf(store, subject);
    histories.set(subject, entries.filter(({ event }) => !event.startsWith("payment_order."))); // given up, tried again
  }
  const named = (prefix: string): string[] =>
    database.list({ prefix: [prefix], limit: 1000 }).map(({ key }) => key.at(-1) ?? "");
  return {
    consents: facts.map(([, fact]) => fact),
    banks: books,
    tpp,
    dead: named("outbox_dead"),
    waiting: named("outbox"),
    pushedAgain: new Set(Object.values(banks).flatMap(({ pushedAgain }) => [...pushedAgain])),
    histories,
    sealed: await readSealedRecords(store),
  };
}

/** Returns the faults of the evidence log: every entry of a history must have one place in it. */
export async function logFaults({ simulation: { database } }: Line): Promise<readonly string[]> {
  const books = await readLogBooks(directStore(database));
  const entries = database.list({ prefix: [auditRecord.name], limit: 100_000 }).map(auditRecord.decode);
  const leaves = entries.map(({ key, value }) => ({
    leaf: hashText(leafHash(key[1] ?? "", value)),
    at: value.at,
  }));
  const waiting = books.waiting.map((leaf) => `${leaf} has no place`);
  return [...books.faults, ...waiting, ...missingOrForeign(books, leaves)];
}

/** Returns the faults of the evidence: what an entry names must be there as it was, until a later entry deletes it. */
export async function evidenceFaults({ simulation }: Line): Promise<readonly string[]> {
  const { database, dataKeys, scheduler } = simulation;
  const { store } = await openSealed({
    store: directStore(database),
    vault: directStore(dataKeys),
    wrapping: await openWrappingKeys(WRAPPING_KEY),
    monotonic: scheduler.now,
  });
  const entries = database.list({ prefix: [auditRecord.name], limit: 100_000 });
  const faults: string[] = [];
  for (const subject of new Set(entries.map(({ key }) => key[1] ?? ""))) {
    const history = await placedHistoryOf(directStore(database), subject);
    const deleted = new Set(history.flatMap(({ entry }) => entry.deleted ?? []));
    for (const placed of history) faults.push(...await missingEvidence(store, placed, deleted));
  }
  return faults;
}

async function missingEvidence(
  store: Store,
  placed: PlacedEntry,
  deleted: ReadonlySet<string>,
): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const [index, piece] of piecesOf(placed).entries()) {
    if (deleted.has(piece.place)) continue;
    const body = await bodyOf(store, piece);
    if (body === null || body === "lost") faults.push(`${piece.place} is not there`);
    else if (bodyDigest(body) !== placed.entry.items?.[index]?.sha256) {
      faults.push(`${piece.place} is another`);
    }
  }
  return faults;
}

async function listOrders(line: Line, { party }: SimulatedBank): Promise<readonly PaymentSeen[]> {
  const answer = await get(line, party, party.orgId, "back-channel-payments/v1");
  return answer.status === 200 ? (JSON.parse(answer.text) as PaymentOrders).Data.PaymentOrder : [];
}

async function readTppBooks(line: Line, facts: readonly Fact[]): Promise<TppBooks> {
  const payments = new Map<string, PaymentSeen | undefined>();
  const consents = new Map<string, string>();
  for (const [plan, { bank, consentId, posts }] of facts) {
    const who = TPPS[plan.tpp];
    if (who === undefined) continue;
    const consent = await get(line, who, bank, `domestic-payment-consents/v1/${consentId}`);
    consents.set(consentId, statusOf(line, `consent ${consentId}`, consent));
    for (const id of new Set(posts.flatMap(({ paymentId }) => paymentId ?? []))) {
      const payment = await get(line, who, bank, `domestic-payments/v1/${id}`);
      if (payment.status === 200) statusOf(line, `payment ${id}`, payment);
      payments.set(id, payment.status === 200 ? (JSON.parse(payment.text) as Payment).Data : undefined);
    }
  }
  return { payments, consents };
}

function statusOf({ simulation }: Line, subject: string, { status, text, asked, told }: Answer): string {
  if (status !== 200) return `answered ${status}`;
  const { Data: { Status } } = JSON.parse(text) as Consent | Payment;
  simulation.watch.observed(subject, Status, asked, told);
  return Status;
}

function get(line: Line, who: Party, bank: string, below: string): Promise<Answer> {
  return callResource(line, { who, method: "GET", path: `/${bank}/${below}` });
}
