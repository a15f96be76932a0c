/** `deno task certify bank`: the example of a bank and the sandbox's banks pass every case [SB10]. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { type BankBench, openBankBench } from "../../../../scripts/integrators/certify/bank/bench.ts";
import { DISPUTE_CASES } from "../../../../scripts/integrators/certify/bank/dispute_cases.ts";
import { ELSEWHERE_CASES } from "../../../../scripts/integrators/certify/bank/elsewhere_cases.ts";
import { startBank } from "../../../../scripts/integrators/certify/bank/own_bank.ts";
import type { HookAccount } from "../../../../scripts/integrators/certify/bank/hook.ts";
import { accountOfAnother } from "../../../../scripts/integrators/certify/bank/journey_cases.ts";
import { BANK_CASES, bankSuite } from "../../../../scripts/integrators/certify/bank/suite.ts";
import { certify } from "../../../../scripts/integrators/certify/main.ts";
import type { Report } from "../../../../scripts/integrators/certify/report.ts";
import { type CaseResult, runCases } from "../../../../scripts/integrators/certify/case.ts";
import { partOf } from "support/part_of.ts";
import { faultyBank, openTrial, outsideBanks, type Trial, withBank, withCommand } from "./bank_on_trial.ts";
import { openTemporaryFolder } from "testing/temporary_folder.ts";

const KEY_CASES = BANK_CASES.filter(({ id }) => id.startsWith("BANK-K"));
const OTHER_CASES = BANK_CASES.filter((each) => !KEY_CASES.includes(each));

function assertPassed(results: readonly CaseResult[], cases = BANK_CASES): void {
  assertEquals(results.filter(({ passed }) => !passed), []);
  assertEquals(results.map(({ id }) => id), cases.map(({ id }) => id));
}

async function sandboxBank({ platform }: Trial, name: string, code: string): Promise<readonly CaseResult[]> {
  const hookUrl = `${platform.endpoints.banks_url}/${code}/certification`;
  const folder = `${platform.dir}/participants/${name}`;
  return await runCases(OTHER_CASES, await openBankBench(platform, { folder, hookUrl, keyLeadSeconds: 1 }));
}

Deno.test("examples/first_bank.ts and the sandbox's banks pass their certification [SB10]", async (t) => {
  await using trial = await openTrial(1);
  const example = await faultyBank({ name: "no fault", changes: [] });
  const [ownBank, bankA, bankB] = await Promise.all([
    withBank(trial, trial.lanes[0], example, (bench) => runCases(OTHER_CASES, bench)),
    sandboxBank(trial, "bank-a", "BANKA"),
    sandboxBank(trial, "bank-b", "BANKB"),
  ]);
  // They change the keys of the platform, so they run when the other banks are done.
  const keys = await withBank(trial, trial.lanes[0], example, (bench) => runCases(KEY_CASES, bench));
  await t.step("first_bank.ts", () => assertPassed([...ownBank, ...keys]));
  await t.step(
    "the sandbox's bank A, with the platform's consent screen",
    () => assertPassed(bankA, OTHER_CASES),
  );
  await t.step("the sandbox's bank B, with its own consent screen", () => assertPassed(bankB, OTHER_CASES));
});

Deno.test("a bank with an account in another currency, and one that reports at once, pass [SB10, BF9, PO2]", async () => {
  await using trial = await openTrial(1);
  const { platform, platform: { endpoints } } = trial;
  const hookUrl = `${endpoints.banks_url}/BANKA/certification`;
  const bench = await openBankBench(platform, {
    folder: `${platform.dir}/participants/bank-a`,
    hookUrl,
    keyLeadSeconds: 1,
  });
  const other = {
    SchemeName: "UK.OBIE.IBAN",
    Identification: "GB94BARC10201530093459",
    Currency: "GBP",
    Balance: "9",
  };
  const { accounts } = bench.hook;
  const hook = { ...bench.hook, accounts: async () => [other, ...await accounts()] };
  const cases = (...ids: string[]) => BANK_CASES.filter(({ id }) => ids.includes(id));
  const payer = cases("BANK-J01", "BANK-A03", "BANK-O01");
  assertPassed(await runCases(payer, { ...bench, hook }), payer);
  const program = await faultyBank({ name: "reports at once", changes: [["waitMs = 1000", "waitMs = 0"]] });
  const late = cases("BANK-O05");
  assertPassed(await withBank(trial, trial.lanes[0], program, (atOnce) => runCases(late, atOnce)), late);
});

Deno.test("a bank that misleads a customer who confirms on another device is noticed [SB10] [ARS1]", async (t) => {
  await using trial = await openTrial(1);
  const { platform, platform: { endpoints, between } } = trial;
  const bench = await openBankBench(platform, {
    folder: `${platform.dir}/participants/bank-a`,
    hookUrl: `${endpoints.banks_url}/BANKA/certification`,
    keyLeadSeconds: 1,
  });
  const { decide } = bench.hook;
  const told = (answer: typeof decide): BankBench => ({ ...bench, hook: { ...bench.hook, decide: answer } });
  const cases: readonly (readonly [string, BankBench, readonly string[]])[] = [
    ["delivers nothing", told((consentId) => decide(consentId, "approve")), ["BANK-E01", "BANK-E03"]],
    [
      "lets any browser go on",
      told(async (...args) => await decide(...args) && new URL(endpoints.auth_url)),
      ["BANK-E01", "BANK-E02", "BANK-E03"],
    ],
    [
      "signs another result when an answer is lost",
      {
        ...bench,
        platform: {
          ...platform,
          between: {
            ...between,
            calls: (id) => between.calls(id).map((call, at) => ({ ...call, body: `${call.body}${at}` })),
          },
        },
      },
      ["BANK-E03"],
    ],
  ];
  for (const [what, faulty, expected] of cases) {
    await t.step(what, async () => {
      const results = await runCases(ELSEWHERE_CASES, faulty);
      assertEquals(results.filter(({ passed }) => !passed).map(({ id }) => id), expected);
    });
  }
});

Deno.test("banks written from docs/bank.md alone, in Node and in Python, pass their certification [SB10]", async (t) => {
  await using trial = await openTrial(1);
  for (const [place, [language, command]] of [...await outsideBanks(trial.platform.dir)].entries()) {
    await t.step(`a bank in ${language}`, async () => {
      const cases = partOf(BANK_CASES, 6, place * 3);
      const run = withCommand(trial, trial.lanes[0], command, (bench) => runCases(cases, bench));
      assertPassed(await run, cases);
    });
  }
});

Deno.test("a case that fails because the platform rejects the bank's return says what the platform expected [SB10]", async () => {
  await using trial = await openTrial(1);
  const wrong = 'debtor_account_present: "yes"';
  const changes = [["...outcome }", `...outcome, ${wrong} }`]] as const;
  const program = await faultyBank({ name: wrong, changes });
  const journeys = BANK_CASES.filter(({ id }) => id === "BANK-J02" || id === "BANK-J03");
  const results = await withBank(trial, trial.lanes[0], program, (bench) => runCases(journeys, bench));
  assertEquals(results.map(({ passed, seen }) => [passed, seen]), [
    [
      false,
      "the customer approved, and the TPP got server_error (debtor_account_present must be false; got 'yes'.)",
    ],
    [false, 'debtor_account_present: Invalid option: expected one of "true"|"false"'],
  ]);
});

Deno.test("the hook's example in docs/bank.md can pass BANK-A04: the account of another customer is not in it", async () => {
  const page = await Deno.readTextFile(new URL("../../../../docs/bank.md", import.meta.url));
  const [, json = ""] = /```json[^\n]*\n(\{\n *"accounts".*?)```/s.exec(page) ?? [];
  const { accounts } = JSON.parse(json) as { readonly accounts: readonly HookAccount[] };
  const other = accountOfAnother(accounts);
  assert(accounts.length === 2 && !accounts.some(({ Identification }) => Identification === other), other);
  const spaced = [{ Identification: other.toLowerCase().replace(/(.{4})/g, "$1 ") }];
  assert(accountOfAnother(spaced) !== other);
});

Deno.test("the cases of banks have ids of their own, a title and a requirement, and are at least 24 [SB10]", () => {
  assert(BANK_CASES.length >= 24);
  assertEquals(new Set(BANK_CASES.map(({ id }) => id)).size, BANK_CASES.length);
  for (const { id, title, requirement } of BANK_CASES) {
    assertMatch(id, /^BANK-[A-Z]\d{2}$/);
    assert(title.length > 10 && requirement.length > 2, id);
  }
});

Deno.test("certify bank runs the named cases at a bank of a sandbox of its own, and reports them [SB10]", async () => {
  await using dir = await openTemporaryFolder();
  const args = ["--sandbox", "BANKB", "--case", "BANK-J01,BANK-H10", "--out", `${dir.path}/out`];
  const lines: string[] = [];
  const passed = await certify(
    bankSuite,
    [...args, "--keys", `${dir.path}/keys.json`],
    (line) => void lines.push(line),
  );
  assertEquals([passed, lines.at(-1)], [true, `2 of 2 cases passed. The report is in ${dir.path}/out.`]);
  const { subject, cases } = JSON.parse(await Deno.readTextFile(`${dir.path}/out/report.json`)) as Report;
  assertEquals([subject.role, subject.org_id], ["ASPSP", "BANKB"]);
  assertEquals(cases.map(({ seen }) => seen), [
    "the TPP got a code, and the consent is Authorized",
    "answered 400, and opened no visit",
  ]);
  const wrong = (...words: string[]): Promise<boolean> => certify(bankSuite, words, () => {});
  const keys = ["--keys", `${dir.path}/keys.json`];
  await assertRejects(() => wrong(...keys), Error, "--details or --sandbox is missing");
  await assertRejects(() => wrong(...keys, "--sandbox", "BANKC"), Error, "must be BANKA or BANKB");
  await assertRejects(
    () => wrong(...keys, "--sandbox", "BANKA", "--key-lead", "9999"),
    Error,
    "--key-lead",
  );
});

Deno.test("a bank that does not start, or whose hook another program serves, is not certified [SB10]", async () => {
  const start = (hookUrl: string, command = "false") =>
    startBank({ dir: ".", folder: ".", hookUrl, command, print: () => {} });
  const ended = "The bank ended with status 1 before its hook answered.";
  await assertRejects(() => start("http://localhost:1/certification"), Error, ended);
  const withVariable = "STATUS=7 sh -c 'exit $STATUS'";
  await assertRejects(() => start("http://localhost:1/certification", withVariable), Error, "status 7");
  const accounts = [{ SchemeName: "IBAN", Identification: "1", Currency: "EUR", Balance: "1" }];
  const serve = { port: 0, hostname: "127.0.0.1", onListen: () => {} };
  await using other = Deno.serve(serve, () => Response.json({ accounts }));
  const taken = `http://127.0.0.1:${other.addr.port}/certification`;
  await assertRejects(() => start(taken), Error, "stop the program that serves it");
});

Deno.test("a bank that does not answer a dispute, or shows another case, is noticed; one whose people do it is not asked [SB10] [DSP2] [EV17]", async (t) => {
  await using trial = await openTrial(1);
  const { platform, platform: { endpoints } } = trial;
  const bench = await openBankBench(platform, {
    folder: `${platform.dir}/participants/bank-a`,
    hookUrl: `${endpoints.banks_url}/BANKA/certification`,
    keyLeadSeconds: 1,
  });
  const { answerDispute } = bench.hook;
  const told = (answer: typeof answerDispute): BankBench => ({
    ...bench,
    hook: { ...bench.hook, answerDispute: answer },
  });
  let first: unknown;
  const cases: readonly (readonly [string, BankBench, readonly string[]])[] = [
    ["answers", told(async (id) => first = await answerDispute(id)), []],
    ["shows another case", told(async (id) => (await answerDispute(id), first)), ["BANK-D02"]],
    [
      "shows a changed bundle",
      told(async (id) => ({ ...await answerDispute(id) as object, documents: [] })),
      [
        "BANK-D02",
      ],
    ],
    ["does not answer", told(() => Promise.resolve({})), ["BANK-D01", "BANK-D02"]],
    ["has people for it", told(() => Promise.resolve(undefined)), []],
  ];
  for (const [what, faulty, expected] of cases) {
    await t.step(what, async () => {
      const results = await runCases(DISPUTE_CASES, faulty);
      assertEquals(
        results.filter(({ passed }) => !passed).map(({ id }) => id),
        expected,
        JSON.stringify(results),
      );
    });
  }
});
