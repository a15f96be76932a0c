/**
 * `deno task prove`: shows that an order reaches the bank exactly once. Runs payments through a real sandbox process,
 * torments it, reads everybody's books and says whether they agree.
 */
import { emptyMessageLog } from "../../src/client/tpp/message_log.ts";
import { openFlow, type PaymentFlow } from "../../src/client/tpp/payment_journey.ts";
import { openTpp, type Tpp } from "../../src/client/tpp/tpp.ts";
import {
  type BankBooks,
  readBankBooks,
  readDeadOrders,
  readRepeatedPushes,
  readStore,
  readTppBooks,
  type TppBooks,
} from "./bank_records.ts";
import { pause, persistently } from "./calls.ts";
import { type CheckResult, type Evidence, judge } from "./checks.ts";
import { UsageError } from "../command_line/run.ts";
import { type ProveOptions, readProveOptions, usage } from "./options.ts";
import { type ConsentFact, makePayment } from "./payment.ts";
import { type KillPlan, planKills, planPayment } from "./plan.ts";
import { type ProvedSandbox, startProvedSandbox } from "./sandbox.ts";

type Print = (line: string) => void;

const AT_ONCE = 8;
const BANKS = ["BANKA", "BANKB"] as const;
const SETTLE_WITHIN_MS = 120_000;
const MAX_SHOWN = 20;

/**
 * Proves, or finds what does not hold.
 *
 * @param denoConfig another Deno configuration for the sandbox's process
 * @returns every check's outcome
 */
export async function prove(
  options: ProveOptions,
  print: Print,
  denoConfig?: string,
): Promise<readonly CheckResult[]> {
  print(`seed ${options.seed}: ${options.payments} payments, ${AT_ONCE} at a time, ${options.kills} kills`);
  await using sandbox = await startProvedSandbox(denoConfig);
  const tpp = await openShop(sandbox);
  try {
    const consents = await makeAllPayments(sandbox, tpp, options, print);
    const evidence = await gather(sandbox, tpp, consents);
    const results = judge(evidence);
    report(evidence, results, print);
    return results;
  } finally {
    tpp.close();
  }
}

function openShop({ dir, endpoints }: ProvedSandbox): Promise<Tpp> {
  return openTpp({ dir, name: "shop", endpoints, redirectUri: `${endpoints.shop_url}/callback` });
}

async function makeAllPayments(
  sandbox: ProvedSandbox,
  tpp: Tpp,
  options: ProveOptions,
  print: Print,
): Promise<readonly ConsentFact[]> {
  const kills = planKills(options.seed, options.payments, options.kills);
  const killing: Promise<void>[] = [];
  const facts: ConsentFact[] = [];
  let next = 0;
  async function worker(): Promise<void> {
    const flows = await openFlows(sandbox, tpp);
    while (next < options.payments) {
      const plan = planPayment(options.seed, next++);
      const planned = kills.find(({ index }) => index === plan.index);
      const onPhase = (phase: KillPlan["phase"]): void => {
        if (planned?.phase !== phase || !kills.includes(planned)) return;
        kills.splice(kills.indexOf(planned), 1);
        killing.push(killAfter(sandbox, planned, print));
      };
      facts.push(...await makePayment({ sandbox, flow: flows[plan.bank], onPhase }, plan));
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, options.payments) }, worker));
  await Promise.all(killing);
  return facts;
}

async function killAfter(
  sandbox: ProvedSandbox,
  { index, phase, afterMs }: KillPlan,
  print: Print,
): Promise<void> {
  await pause(afterMs);
  print(`kill -9, ${afterMs} ms into the ${phase} of payment ${index}`);
  await sandbox.killAndRestart();
}

async function openFlows(
  sandbox: ProvedSandbox,
  tpp: Tpp,
): Promise<Readonly<Record<typeof BANKS[number], PaymentFlow>>> {
  const open = (bank: string): Promise<PaymentFlow> =>
    persistently(sandbox, () => openFlow(tpp, bank, emptyMessageLog()));
  const [BANKA, BANKB] = [await open("BANKA"), await open("BANKB")];
  return { BANKA, BANKB };
}

async function gather(sandbox: ProvedSandbox, tpp: Tpp, consents: readonly ConsentFact[]): Promise<Evidence> {
  const banks = await settledBooks(sandbox);
  const flows = await openFlows(sandbox, tpp);
  const tppBooks: Record<string, TppBooks> = {};
  for (const bank of BANKS) {
    const own = consents.filter((consent) => consent.bank === bank);
    const payments = own.flatMap(({ posts }) => posts.flatMap(({ paymentId }) => paymentId ?? []));
    const ids = { payments: [...new Set(payments)], consents: own.map(({ consentId }) => consentId) };
    tppBooks[bank] = await readTppBooks(sandbox, flows[bank], ids);
  }
  const dead = await readDeadOrders(sandbox);
  await sandbox.stop();
  const orders = Object.values(banks).flatMap(({ orders }) => orders);
  const subjects = orders.flatMap(({ DomesticPaymentId, ConsentId }) => [DomesticPaymentId, ConsentId]);
  const pushedAgain = await readRepeatedPushes(sandbox.dir);
  return { consents, banks, tpp: tppBooks, dead, pushedAgain, ...await readStore(sandbox.dir, subjects) };
}

/** The banks' ledgers when they no longer change, or after two minutes. */
async function settledBooks(sandbox: ProvedSandbox): Promise<Readonly<Record<string, BankBooks>>> {
  for (const startedAt = Date.now();;) {
    const books: Record<string, BankBooks> = {};
    for (const bank of BANKS) {
      books[bank] = await persistently(sandbox, () => readBankBooks(sandbox, bank));
    }
    const statuses = Object.values(books).flatMap(({ orders }) => orders.map(({ Status }) => Status));
    const isSettled = statuses.every((status) =>
      status === "AcceptedCreditSettlementCompleted" || status === "Rejected"
    );
    if (isSettled || Date.now() - startedAt > SETTLE_WITHIN_MS) return books;
    await pause(2000);
  }
}

function report(
  { consents, banks, pushedAgain }: Evidence,
  results: readonly CheckResult[],
  print: Print,
): void {
  const posts = consents.flatMap(({ posts }) => posts);
  const orders = Object.values(banks).flatMap(({ orders }) => orders);
  const counts: readonly (readonly [string, number])[] = [
    ["consents", consents.length],
    [
      "consents lost to a kill before they could be used",
      consents.filter((each) => each.posts.length === 0).length,
    ],
    ["payments", orders.length],
    ["payments that the bank rejected", orders.filter(({ Status }) => Status === "Rejected").length],
    [
      "orders that banks were told to go wrong with",
      consents.filter(({ fault }) => fault !== undefined).length,
    ],
    ["orders pushed again to a bank that had them", pushedAgain.size],
    ["POSTs of payments, repetitions counted", posts.reduce((sum, { tries }) => sum + tries, 0)],
    ["answers dropped by the client", posts.filter(({ dropped }) => dropped).length],
    [
      "POSTs cut off by a kill, or put off by a rate limit",
      posts.filter(({ tries, dropped }) => tries > (dropped ? 2 : 1)).length,
    ],
    ["POSTs with another amount", posts.filter(({ mismatch }) => mismatch).length],
  ];
  for (const [name, count] of counts) print(`${name.padEnd(56)}${String(count).padStart(8)}`);
  print(`${"".padEnd(56)}${"judged".padStart(8)}${"broken".padStart(8)}`);
  for (const { name, judged, violations } of results) {
    print(`${name.padEnd(56)}${String(judged).padStart(8)}${String(violations.length).padStart(8)}`);
  }
  const violations = results.flatMap((each) => each.violations);
  for (const violation of violations.slice(0, MAX_SHOWN)) print(`VIOLATION ${violation}`);
  if (violations.length > MAX_SHOWN) print(`and ${violations.length - MAX_SHOWN} more`);
  print(violations.length === 0 ? "Everything held." : "Something did not hold.");
}

async function main(args: readonly string[]): Promise<number> {
  const print: Print = (line) => void Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
  try {
    const options = readProveOptions(args);
    if (options === undefined) {
      print(usage);
      return 0;
    }
    const results = await prove(options, print);
    return results.every(({ violations }) => violations.length === 0) ? 0 : 1;
  } catch (error) {
    print(error instanceof Error ? error.message : String(error));
    return error instanceof UsageError ? 2 : 1;
  }
}

// A connection that lingers must not keep the prover from ending.
if (import.meta.main) Deno.exit(await main(Deno.args));
