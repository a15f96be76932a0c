/**
 * Composes the sandbox's banks behind one Fetch handler. The banks are external parties and use only the platform's
 * HTTP interface. Only this file uses timers and the network; all other files receive them as dependencies.
 */
import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { reportStatus } from "../../client/bank/back_channel.ts";
import type { Bank as Party } from "../../client/bank/bank.ts";
import { type Bank, openParty, type PartyDeps } from "./bank.ts";
import type { BankLog, BankProfile } from "./bank_profile.ts";
import { appRoutes } from "./app_routes.tsx";
import { authorizationRoutes } from "./authorization_routes.ts";
import { certificationRoutes } from "./certification_routes.ts";
import { customersOf } from "./customers.ts";
import { bankListPage, homeRoutes, problemPage } from "./home_routes.tsx";
import { createFaults } from "./faults.ts";
import { faultRoutes } from "./fault_routes.ts";
import { type Ledger, openLedger } from "./ledger.ts";
import { orderRoutes } from "./order_routes.ts";
import { pageHeaders } from "./page_headers.ts";
import { type OrderPuller, startPulling } from "./pull_orders.ts";
import { createReturnIds } from "./seal_return.ts";
import { createSessions } from "./sessions.ts";
import { createSettlement, type Schedule } from "./settlement.ts";
import { type ConnectionEnv, visitRoutes } from "./visit_routes.tsx";
import base from "../../pages/base.css" with { type: "text" };
import shared from "../pages/frame.css" with { type: "text" };
import frame from "./frame.css" with { type: "text" };
import logo from "./logo.svg" with { type: "text" };
import visit from "./visit.css" with { type: "text" };

// The banks' one style sheet and their logo, as text.

/** Served as `/assets/bank.css`. */
export const STYLESHEET = [base, shared, frame, visit].join("\n");

/** Served as `/logo.svg`, the `logo_uri` given at onboarding. */
export const LOGO = logo;

/** From acceptance to the first settlement step and between steps. */
const SETTLEMENT_STEP_MS = 3000;

/** URLs have no trailing slash. */
export interface BanksDeps extends PartyDeps {
  readonly banks: readonly BankProfile[];
  readonly banksUrl: string;
  readonly log: BankLog;
  /** Default: timers that do not keep the process alive. */
  readonly schedule?: Schedule;
  /** Path of a bank's ledger file; default: in memory only. */
  readonly bookPath?: (bankCode: string) => string;
  /** Advances the sandbox clock by so many milliseconds, for all parts; default: waits that long. */
  readonly letTimePass?: (milliseconds: number) => Promise<void>;
  /** How often orders are pulled, milliseconds; default: never. */
  readonly pullEveryMs?: number;
  /** Whether the banks serve the hook of their certification; default: no. */
  readonly isCertified?: boolean;
}

/** The part of the connection information of `Deno.serve` that the banks use. */
export interface ConnectionInfo {
  readonly remoteAddr: { readonly hostname: string };
}

/** The running banks. */
export interface Banks {
  /** Can be passed to `Deno.serve`. */
  readonly fetch: (request: Request, info?: ConnectionInfo) => Promise<Response>;
  /** Cancels pending settlement and pulling, closes ledgers and connections to the platform. */
  readonly stop: () => void;
}

/**
 * The banks as one handler. Orders that their ledgers have not yet settled continue to settle.
 * @throws {Error} if a bank has no customers in the sandbox, or another process has its ledger open
 */
export async function composeBanks(deps: BanksDeps): Promise<Banks> {
  const unknown = deps.banks.find(({ code }) => customersOf(code).length === 0);
  if (unknown !== undefined) throw new Error(`the sandbox has no customers for bank ${unknown.code}`);
  const schedule = deps.schedule ?? unobtrusiveTimer;
  const parties = await Promise.all(deps.banks.map((profile) => openParty(profile, deps)));
  const ledgers = await Promise.all(deps.banks.map((profile) => openBook(deps, profile)));
  const banks = deps.banks.map((profile, index) => {
    const [party, ledger] = [parties[index], ledgers[index]];
    if (party === undefined || ledger === undefined) throw new Error("a bank without a party or a book");
    return composeBank(deps, { profile, schedule, ledger, party });
  });
  for (const bank of banks) await resumeSettlement(bank);
  const { pullEveryMs } = deps;
  const pullers: readonly OrderPuller[] = pullEveryMs === undefined
    ? []
    : banks.map((bank) => startPulling(bank, pullEveryMs, schedule));
  const app = composeApp(deps, banks);
  let isStopped = false;
  return {
    fetch: async (request, info) =>
      await app.fetch(request, info === undefined ? {} : { customerIp: info.remoteAddr.hostname }),
    stop(): void {
      if (isStopped) return;
      isStopped = true;
      for (const { settlement } of banks) settlement.stop();
      for (const part of pullers) part.stop();
      for (const part of [...parties, ...ledgers]) part.close();
    },
  };
}

function openBook({ bookPath, clock }: BanksDeps, { code }: BankProfile): Promise<Ledger> {
  return openLedger({ path: bookPath?.(code) ?? ":memory:", customers: customersOf(code), clock });
}

function composeBank(
  deps: BanksDeps,
  { profile, schedule, ledger, party }: {
    readonly profile: BankProfile;
    readonly schedule: Schedule;
    readonly ledger: Ledger;
    readonly party: Party;
  },
): Bank {
  const { clock, log } = deps;
  const settlement = createSettlement({
    delayMs: SETTLEMENT_STEP_MS,
    schedule,
    clock,
    report: (report) => reportStatus(party, report),
    noteStatus: ledger.noteStatus,
    log,
  });
  const pause = (milliseconds: number): Promise<void> =>
    new Promise((done) => schedule(() => Promise.resolve(done()), milliseconds));
  return {
    profile,
    party,
    customers: customersOf(profile.code),
    ledger,
    settlement,
    faults: createFaults(),
    returnIds: createReturnIds(),
    sessions: createSessions(clock),
    clock,
    log,
    pause,
    letTimePass: deps.letTimePass ?? pause,
  };
}

/** A killed process leaves orders that are not yet settled. */
async function resumeSettlement({ ledger, settlement }: Bank): Promise<void> {
  for (const { order, answer, status } of await ledger.orders()) {
    const isUnderWay = answer !== "Rejected" && status !== "AcceptedCreditSettlementCompleted";
    if (isUnderWay) settlement.begin(order.domesticPaymentId, status);
  }
}

function composeApp(deps: BanksDeps, banks: readonly Bank[]): Hono<ConnectionEnv> {
  const app = new Hono<ConnectionEnv>();
  app.use(pageHeaders(deps));
  app.get("/", (c) => bankListPage(c, deps.banks));
  app.route("/authorizations", authorizationRoutes(deps));
  const brief = { "cache-control": "max-age=300" };
  app.get(
    "/assets/bank.css",
    (c) => c.body(STYLESHEET, 200, { ...brief, "content-type": "text/css; charset=utf-8" }),
  );
  app.get("/logo.svg", (c) => c.body(LOGO, 200, { ...brief, "content-type": "image/svg+xml" }));
  for (const bank of banks) {
    app.route(`/${bank.profile.code}`, homeRoutes(bank));
    app.route(`/${bank.profile.code}`, visitRoutes(bank, deps.banksUrl));
    if (bank.profile.hasApp) app.route(`/${bank.profile.code}`, appRoutes(bank));
    app.route(`/${bank.profile.code}`, orderRoutes(bank));
    app.route(`/${bank.profile.code}`, faultRoutes(bank));
    if (deps.isCertified) app.route(`/${bank.profile.code}/certification`, certificationRoutes(bank));
  }
  app.notFound((c) => problemPage(c, 404));
  app.onError((error, c) => {
    if (error instanceof HTTPException) return error.getResponse(); // a body that is too large
    deps.log("request.failed", {
      path: new URL(c.req.url).pathname,
      error: error.name,
      message: error.message,
    });
    return problemPage(c, 503);
  });
  return app;
}

function unobtrusiveTimer(task: () => Promise<void>, delayMs: number): () => void {
  const timer = setTimeout(task, delayMs);
  Deno.unrefTimer(timer);
  return () => clearTimeout(timer);
}
