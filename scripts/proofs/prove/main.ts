/**
 * `deno task prove`: shows that an order reaches the bank exactly once. Runs payments through a real sandbox or a real
 * cluster, torments it, reads everybody's books and says whether they agree.
 */
import { emptyMessageLog } from "../../../src/client/tpp/message_log.ts";
import type { TppEvent } from "../../../src/client/tpp/events.ts";
import { openFlow, type PaymentFlow } from "../../../src/client/tpp/payment_journey.ts";
import { openTpp, type Tpp } from "../../../src/client/tpp/tpp.ts";
import {
  type BankBooks,
  readBankBooks,
  readRepeatedPushes,
  readStore,
  readTppBooks,
  type TppBooks,
} from "./bank_records.ts";
import { interruptions, judgeAnswers, openAnswerLog } from "./answers.ts";
import { pause, persistently } from "./calls.ts";
import { casesOf, judgeCases } from "./case_checks.ts";
import { type CaseSeen, readCases } from "./case_files.ts";
import { type CheckResult, type Evidence, judge } from "./checks.ts";
import { judgeEvents, judgePushes, type PushEvidence } from "./event_checks.ts";
import { openPushReceiver, type PushReceiver } from "./push_receiver.ts";
import { endPushes, joinPushTpp, subscribeAll } from "./push_tpp.ts";
import { type EventReader, startEventReader } from "./tpp_events.ts";
import { openProgress } from "../../command_line/progress.ts";
import { runProgram } from "../../command_line/run.ts";
import { type ProveOptions, readProveOptions, usage } from "./options.ts";
import { type ConsentFact, makePayment } from "./payment.ts";
import { type KillPlan, planKills, planPayment } from "./plan.ts";
import { type LogWitness, openLogWitness } from "./log_witness.ts";
import { startProvedCluster } from "./cluster.ts";
import { report } from "./report.ts";
import { startProvedSandbox } from "./sandbox.ts";
import type { ProvedSystem } from "./system.ts";

type Print = (line: string) => void;

const AT_ONCE = 8;
const BANKS = ["BANKA", "BANKB"] as const;
const SETTLE_WITHIN_MS = 120_000;

/**
 * Proves, or finds what does not hold.
 *
 * @param denoConfig another Deno configuration for the process of a sandbox with its store in a file
 * @param ended rejects if the proof is to end early; everything that was started ends then
 * @returns every check's outcome
 */
export async function prove(
  options: ProveOptions,
  print: Print,
  denoConfig?: string,
  ended: Promise<never> = new Promise(() => {}),
): Promise<readonly CheckResult[]> {
  print(`seed ${options.seed}: ${options.payments} payments, ${AT_ONCE} at a time, ${options.kills} kills`);
  await using receiver = await openPushReceiver(options.seed);
  await using sandbox = options.store === "postgres"
    ? await startProvedCluster(options, receiver.caFile)
    : await startProvedSandbox(options.store, receiver.caFile, denoConfig);
  return await Promise.race([ended, proveAt(sandbox, receiver, options, print)]);
}

async function proveAt(
  sandbox: ProvedSystem,
  receiver: PushReceiver,
  options: ProveOptions,
  print: Print,
): Promise<readonly CheckResult[]> {
  const answers = openAnswerLog();
  const tpps = {
    polling: answers.watch(await openShop(sandbox)),
    pushed: answers.watch(await joinPushTpp(sandbox, receiver)),
  };
  try {
    const startedAt = Date.now();
    const witness = openLogWitness(sandbox);
    await witness.look();
    const flows = await openAllFlows(sandbox, tpps);
    await subscribeAll(sandbox, Object.values(flows.pushed), receiver);
    const reader = startEventReader(sandbox, Object.values(flows.polling));
    const run: Run = { sandbox, tpps, witness, reader, receiver };
    const consents = await makeAllPayments(run, options, print);
    print(`${Math.round((Date.now() - startedAt) / 1000)} s of payments`);
    const { cases, events, pushes, funnel, ...evidence } = await gather(run, consents, print);
    const results = [
      ...judge(evidence),
      ...judgeCases(evidence, cases, witness.testimonies),
      judgeEvents(cases, events),
      ...judgePushes(pushes),
      ...judgeAnswers(answers),
      { name: "the funnel is equal to the histories", judged: funnel.cases, violations: funnel.faults },
    ];
    report(evidence, answers, pushes, results, print);
    for (const milliseconds of interruptions(answers.answers, sandbox.losses)) {
      print(`after the loss of the primary no POST succeeded for ${milliseconds} ms`);
    }
    return results;
  } finally {
    for (const tpp of Object.values(tpps)) tpp.close();
  }
}

function openShop({ dir, endpoints }: ProvedSystem): Promise<Tpp> {
  return openTpp({ dir, name: "shop", endpoints, redirectUri: `${endpoints.shop_url}/callback` });
}

/** Something for each TPP: one fetches its events, the other one has them pushed. */
interface ByTpp<T> {
  readonly polling: T;
  readonly pushed: T;
}

/** The system, and the parties that only look at it from outside. */
interface Run {
  readonly sandbox: ProvedSystem;
  readonly tpps: ByTpp<Tpp>;
  readonly witness: LogWitness;
  readonly reader: EventReader;
  readonly receiver: PushReceiver;
}

async function makeAllPayments(
  run: Run,
  options: ProveOptions,
  print: Print,
): Promise<ByTpp<readonly ConsentFact[]>> {
  const { sandbox, tpps } = run;
  const targets = sandbox.targets.filter((target) => target.startsWith(options.kill));
  const kills = planKills(options.seed, options.payments, options.kills, targets);
  const killing: Promise<void>[] = [];
  const facts: ByTpp<ConsentFact[]> = { polling: [], pushed: [] };
  using progress = openProgress("payments", options.payments);
  const say = (line: string): void => progress.above(() => print(line));
  let [next, done] = [0, 0];
  async function worker(): Promise<void> {
    const flows = await openAllFlows(sandbox, tpps);
    while (next < options.payments) {
      const plan = planPayment(options.seed, next++);
      const planned = kills.find(({ index }) => index === plan.index);
      const onPhase = (phase: KillPlan["phase"]): void => {
        if (planned?.phase !== phase || !kills.includes(planned)) return;
        kills.splice(kills.indexOf(planned), 1);
        const kill = killAfter(run, planned, say);
        kill.catch(() => {}); // it fails below, where what was started ends with it
        killing.push(kill);
      };
      const tpp = plan.isPushed ? "pushed" : "polling";
      facts[tpp].push(...await makePayment({ sandbox, flow: flows[tpp][plan.bank], onPhase }, plan));
      progress.done(++done);
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, options.payments) }, worker));
  await Promise.all(killing);
  return facts;
}

/** The witness sees what the platform has signed before a kill: the log must still contain it after the kill. */
async function killAfter(
  { sandbox, witness }: Run,
  { index, phase, afterMs, target }: KillPlan,
  print: Print,
): Promise<void> {
  await Promise.all([pause(afterMs), witness.glance()]);
  print(`kill -9 of ${target}, ${afterMs} ms into the ${phase} of payment ${index}`);
  await sandbox.kill(target);
}

type Flows = Readonly<Record<typeof BANKS[number], PaymentFlow>>;

async function openAllFlows(sandbox: ProvedSystem, { polling, pushed }: ByTpp<Tpp>): Promise<ByTpp<Flows>> {
  return { polling: await openFlows(sandbox, polling), pushed: await openFlows(sandbox, pushed) };
}

async function openFlows(sandbox: ProvedSystem, tpp: Tpp): Promise<Flows> {
  const open = (bank: string): Promise<PaymentFlow> =>
    persistently(sandbox, () => openFlow(tpp, bank, emptyMessageLog()));
  const [BANKA, BANKB] = [await open("BANKA"), await open("BANKB")];
  return { BANKA, BANKB };
}

interface Gathered extends Evidence {
  readonly funnel: Awaited<ReturnType<typeof readStore>>["funnel"];
  readonly cases: readonly CaseSeen[];
  readonly events: readonly TppEvent[];
  readonly pushes: PushEvidence;
}

async function gather(
  { sandbox, tpps, witness, reader, receiver }: Run,
  facts: ByTpp<readonly ConsentFact[]>,
  print: Print,
): Promise<Gathered> {
  const banks = await settledBooks(sandbox);
  const flows = await openAllFlows(sandbox, tpps);
  const ending = endPushes(sandbox, Object.values(flows.pushed), receiver);
  const [polling, pushed] = [
    await readAllBooks(sandbox, flows.polling, facts.polling),
    await readAllBooks(sandbox, flows.pushed, facts.pushed),
  ];
  const consents = [...facts.polling, ...facts.pushed];
  const startedAt = Date.now();
  const cases = await readCases(sandbox.operations, casesOf({ consents, banks }));
  const [polled, pushes] = [await reader.end(), await ending];
  await witness.look();
  print(`${((Date.now() - startedAt) / 1000).toFixed(1)} s of case files and last events`);
  await sandbox.stop();
  const orders = Object.values(banks).flatMap(({ orders }) => orders);
  const subjects = orders.flatMap(({ DomesticPaymentId, ConsentId }) => [DomesticPaymentId, ConsentId]);
  const pushedAgain = await readRepeatedPushes(sandbox.dir);
  return {
    cases,
    events: [...polled, ...pushes.events],
    pushes,
    consents,
    banks,
    tpp: Object.fromEntries(BANKS.map((bank) => [bank, mergeBooks(polling[bank], pushed[bank])])),
    pushedAgain,
    ...await readStore(sandbox, subjects),
  };
}

type Books = Readonly<Record<typeof BANKS[number], TppBooks>>;

/** Reads a TPP's payments and consents at each bank. */
async function readAllBooks(
  sandbox: ProvedSystem,
  flows: Flows,
  consents: readonly ConsentFact[],
): Promise<Books> {
  const read = (bank: typeof BANKS[number]): Promise<TppBooks> => {
    const own = consents.filter((consent) => consent.bank === bank);
    const payments = own.flatMap(({ posts }) => posts.flatMap(({ paymentId }) => paymentId ?? []));
    const ids = { payments: [...new Set(payments)], consents: own.map(({ consentId }) => consentId) };
    return readTppBooks(sandbox, flows[bank], ids);
  };
  return { BANKA: await read("BANKA"), BANKB: await read("BANKB") };
}

function mergeBooks(one: TppBooks, other: TppBooks): TppBooks {
  return {
    payments: new Map([...one.payments, ...other.payments]),
    consents: new Map([...one.consents, ...other.consents]),
  };
}

/** The banks' ledgers when they no longer change, or after two minutes. */
async function settledBooks(sandbox: ProvedSystem): Promise<Readonly<Record<string, BankBooks>>> {
  for (const startedAt = Date.now();;) {
    const books: Record<string, BankBooks> = {};
    for (const bank of BANKS) books[bank] = await persistently(sandbox, () => readBankBooks(sandbox, bank));
    const statuses = Object.values(books).flatMap(({ orders }) => orders.map(({ Status }) => Status));
    const isSettled = statuses.every((status) =>
      status === "AcceptedCreditSettlementCompleted" || status === "Rejected"
    );
    if (isSettled || Date.now() - startedAt > SETTLE_WITHIN_MS) return books;
    await pause(2000);
  }
}

if (import.meta.main) {
  await runProgram(usage, async (args, print) => {
    const ended = Promise.withResolvers<never>();
    ended.promise.catch(() => {}); // it may come before the system has started
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      Deno.addSignalListener(signal, () => ended.reject(new Error(`${signal}: the proof has not ended`)));
    }
    const results = await prove(readProveOptions(args), print, undefined, ended.promise);
    return results.every(({ violations }) => violations.length === 0);
  });
}
