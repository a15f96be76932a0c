/** A simulated bank: takes orders, executes each once, reports on them, and shows customers its own pages. */
import { accountId, customersOf } from "../../../src/sandbox/bank/customers.ts";
import type { ExecutedSeen } from "../prove/bank_records.ts";
import type { PaymentOrder } from "../../testing/answers.ts";
import type { Answer, Line } from "./calls.ts";
import { claimsOf, headerOf, signedJwt } from "./jwts.ts";
import type { Incoming, Outgoing } from "./outgoing.ts";
import { AUTH, BANKS, type Party } from "./parties.ts";
import { callResource } from "./tokens.ts";

/** An order in the bank's ledger. */
interface Executed {
  readonly id: string;
  readonly consentId: string;
  readonly amount: { readonly Amount: string; readonly Currency: string };
  readonly debtor: string;
  /** The platform's order as it came. */
  readonly signed: string;
  readonly at: number;
  status: string;
}

/** A bank. */
export interface SimulatedBank {
  readonly party: Party;
  /** Takes a pushed order; undefined: no answer. */
  receive(request: Incoming): Promise<Outgoing | undefined>;
  ledger(): readonly ExecutedSeen[];
  /** Account number to balance. */
  balances(): Readonly<Record<string, string>>;
  /** Payments whose orders came again. */
  readonly pushedAgain: ReadonlySet<string>;
  /** Whether every order has been reported on to its end. */
  isIdle(): boolean;
}

interface State {
  readonly line: Line;
  readonly party: Party;
  readonly ledger: Map<string, Executed>;
  readonly pushedAgain: Set<string>;
  reporting: number;
}

interface OrderData {
  readonly DomesticPaymentId: string;
  readonly ConsentId: string;
  readonly Initiation: { readonly InstructedAmount: { readonly Amount: string; readonly Currency: string } };
  readonly DebtorAccount: { readonly Identification: string };
}

/** Opens a bank. */
export function openBank(line: Line, code: string): SimulatedBank {
  const party = BANKS[code];
  if (party === undefined) throw new Error(`no bank ${code}`);
  const state: State = { line, party, ledger: new Map(), pushedAgain: new Set(), reporting: 0 };
  return {
    party,
    receive: ({ body }) => isInquiry(body) ? Promise.resolve(statement(state, body)) : receive(state, body),
    ledger: () =>
      [...state.ledger.values()].map(({ id, status, amount, debtor }) => ({
        DomesticPaymentId: id,
        Status: status,
        InstructedAmount: amount,
        DebtorAccount: { Identification: debtor },
      })),
    balances: () => balancesOf(state),
    pushedAgain: state.pushedAgain,
    isIdle: () => state.reporting === 0,
  };
}

/** One answer an order, however often it comes; the bank takes its time and may be away. */
async function receive(state: State, body: string): Promise<Outgoing | undefined> {
  const order = claimsOf(body)["Data"] as OrderData;
  const { simulation } = state.line;
  const random = simulation.random(`bank ${state.party.orgId}`);
  const id = order.DomesticPaymentId;
  if (isAway(state)) return undefined;
  const fault = random.below(1000) < (simulation.fault("bank faults")?.rate ?? 0)
    ? random.below(4)
    : undefined;
  if (fault === 0) { // before it has understood anything
    return { status: 503, body: "" };
  }
  await simulation.scheduler.sleep(fault === 1 ? random.below(4500) : random.below(200));
  const known = state.ledger.get(id);
  if (known !== undefined) state.pushedAgain.add(id);
  const taken = known ?? execute(state, order, body, random.chance(0.15));
  if (fault === 2) return undefined; // executed, and no party is told
  if (fault === 3) return { status: 500, body: "" };
  return json({ Status: taken.status === "Rejected" ? "Rejected" : "AcceptedSettlementInProcess" });
}

/** Returns the bank's orders for the platform's inquiry after a restore. */
function statement({ line, party, ledger }: State, inquiry: string): Outgoing {
  const body = statementOf(party, inquiry, [...ledger.values()], line.simulation.scheduler.now());
  return { status: 200, body, headers: { "content-type": "application/jose" } };
}

function isAway({ line: { simulation }, party }: State): boolean {
  const away = simulation.fault("bank away");
  const passed = simulation.passed();
  return away !== undefined && away.bank === party.orgId && passed >= away.after &&
    passed < away.after + away.for;
}

function execute(state: State, order: OrderData, signed: string, isRejected: boolean): Executed {
  const { simulation } = state.line;
  const executed: Executed = {
    id: order.DomesticPaymentId,
    signed,
    at: simulation.scheduler.now(),
    consentId: order.ConsentId,
    amount: order.Initiation.InstructedAmount,
    debtor: order.DebtorAccount.Identification,
    status: isRejected ? "Rejected" : "AcceptedSettlementInProcess",
  };
  for (const { id, consentId } of state.ledger.values()) {
    if (consentId === executed.consentId) {
      simulation.violated(
        "one payment a consent",
        `${state.party.orgId} has ${id} and ${executed.id} for ${consentId}`,
      );
    }
  }
  simulation.note(`${state.party.orgId} takes ${executed.id}: ${executed.status}`);
  state.ledger.set(executed.id, executed);
  void reportOn(state, executed);
  return executed;
}

/** Reports every status in turn until the last one: a lost answer to the push must not hold the payment up. */
async function reportOn(state: State, executed: Executed): Promise<void> {
  const { line, party } = state;
  const random = line.simulation.random(`reports of ${party.orgId}`);
  state.reporting++;
  const ways = ["AcceptedSettlementCompleted", "AcceptedCreditSettlementCompleted"];
  const later = executed.status === "Rejected" ? [] : random.chance(0.1) ? ["Rejected"] : ways;
  await line.simulation.scheduler.sleep(random.chance(0.5) ? random.below(3000) : random.below(600_000));
  await report(state, executed);
  for (const status of later) {
    await line.simulation.scheduler.sleep(random.below(60_000));
    executed.status = status;
    await report(state, executed);
  }
  state.reporting--;
}

async function report({ line, party }: State, { id, status }: Executed): Promise<void> {
  const { simulation } = line;
  const StatusUpdateDateTime = new Date(simulation.scheduler.now()).toISOString();
  const path = `/${party.orgId}/back-channel-payments/v1/${id}`;
  const body = { Data: { Status: status, StatusUpdateDateTime } };
  const answer = await callResource(line, { who: party, method: "PUT", path, body });
  if (answer.status === 200) return observe(line, id, answer);
  if (simulation.wasRestored) return; // the platform may have lost the payment
  simulation.violated(
    "nothing valid is rejected",
    `the report ${status} of ${id} was answered ${answer.text}`,
  );
}

function observe({ simulation }: Line, id: string, { text, asked, told }: Answer): void {
  const { Data } = JSON.parse(text) as PaymentOrder;
  simulation.watch.observed(`payment ${id}`, Data.Status, asked, told);
}

function balancesOf({ party, ledger }: State): Record<string, string> {
  const left = new Map(
    customersOf(party.orgId).flatMap(({ accounts }) =>
      accounts.map((account) => [accountId(account), account.openingMinorUnits] as const)
    ),
  );
  for (const { status, amount, debtor } of ledger.values()) {
    if (status !== "Rejected") {
      const account = accountId({ identification: debtor, currency: amount.Currency });
      left.set(account, (left.get(account) ?? 0) - Math.round(Number(amount.Amount) * 100));
    }
  }
  return Object.fromEntries([...left].map(([account, cents]) => [account, (cents / 100).toFixed(2)]));
}

function json(value: object): Outgoing {
  return { status: 200, body: JSON.stringify(value), headers: { "content-type": "application/json" } };
}

/** An order as the statement names it. */
interface StatedOrder {
  readonly id: string;
  readonly consentId: string;
  readonly status: string;
  /** The platform's order as it came. */
  readonly signed: string;
  /** Milliseconds. */
  readonly at: number;
}

/** Whether a JWS is an inquiry and not an order. */
function isInquiry(jws: string): boolean {
  return headerOf(jws)["typ"] === "order-inquiry+jwt";
}

/** The whole statement in one page. */
function statementOf(
  bank: Party,
  inquiry: string,
  orders: readonly StatedOrder[],
  now: number,
): string {
  const iat = Math.floor(now / 1000);
  const { Since } = claimsOf(inquiry)["Data"] as { readonly Since: string };
  return signedJwt(bank.signing.n, { typ: "order-statement+jwt", kid: bank.signing.kid }, {
    iss: bank.orgId,
    aud: AUTH,
    iat,
    exp: iat + 300,
    jti: `statement ${now}`,
    Data: {
      Since,
      PaymentOrder: orders.map(({ id, consentId, status, signed, at }) => ({
        DomesticPaymentId: id,
        ConsentId: consentId,
        Status: status,
        StatusUpdateDateTime: new Date(at).toISOString(),
        Order: signed,
      })),
    },
  });
}
