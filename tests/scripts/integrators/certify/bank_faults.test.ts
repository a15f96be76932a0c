/** Every fault that is planted in a bank is found by its own case, and by no other. */
import { assert, assertEquals } from "@std/assert";
import { type CaseResult, runCases } from "../../../../scripts/integrators/certify/case.ts";
import { BANK_CASES } from "../../../../scripts/integrators/certify/bank/suite.ts";
import { faultyBank, type Lane, openTrial, type Trial, withBank } from "./bank_on_trial.ts";
import type { BankFault } from "./planted.ts";
import { isComplete, partOf } from "support/part_of.ts";
import { HANDOVER_FAULTS } from "./bank_handover_faults.ts";
import { ORDER_FAULTS } from "./bank_order_faults.ts";
import { VISIT_FAULTS } from "./bank_visit_faults.ts";

/** Faults that appear when the platform changes its keys. They run last and alone. */
const KEY_FAULTS: readonly BankFault[] = [
  {
    name: "reads the platform's keys once",
    found: "BANK-K01",
    changes: [[
      "jose.createRemoteJWKSet(new URL(`${platform.auth_url}/jwks`), { cooldownDuration: 0 })",
      "jose.createLocalJWKSet(await (await fetch(`${platform.auth_url}/jwks`)).json())",
    ]],
  },
  {
    name: "knows the first of the platform's keys only",
    found: "BANK-K02",
    changes: [[
      "jose.createRemoteJWKSet(new URL(`${platform.auth_url}/jwks`), { cooldownDuration: 0 })",
      `async ({ kid }: Json) => {
  const { keys } = await (await fetch(\`\${platform.auth_url}/jwks\`)).json();
  const first = keys.find(({ use }: Json) => use === "sig");
  if (first.kid !== kid) throw new Error("another key");
  return await jose.importJWK(first, "PS256");
}`,
    ]],
  },
];

/** All others. */
const BANK_FAULTS: readonly BankFault[] = [...VISIT_FAULTS, ...HANDOVER_FAULTS, ...ORDER_FAULTS];

/** Passes at a bank with any of the faults. */
const CONTROL = "BANK-J02";
const LANES = 3;

/** The ids of the cases that failed, with what they saw. */
async function findingsOf(trial: Trial, lane: Lane, fault: BankFault): Promise<readonly CaseResult[]> {
  const isKeyFault = KEY_FAULTS.includes(fault);
  const cases = BANK_CASES.filter(({ id }) =>
    isComplete ? isKeyFault || !id.startsWith("BANK-K") : id === fault.found || id === CONTROL
  );
  return await withBank(trial, lane, await faultyBank(fault), (bench) => runCases(cases, bench));
}

async function judged(
  t: Deno.TestContext,
  found: ReadonlyMap<BankFault, readonly CaseResult[]>,
): Promise<void> {
  for (const [fault, results] of found) {
    await t.step(`${fault.found} finds a bank that ${fault.name}`, () => {
      assert(results.some(({ id, passed }) => id === CONTROL && passed), JSON.stringify(results));
      const failed = results.filter(({ passed }) => !passed);
      assertEquals(failed.map(({ id }) => id), [fault.found], JSON.stringify(failed));
    });
  }
}

Deno.test("each of the faults planted in a bank is found by its own case [LNK2]", async (t) => {
  const faults = partOf(BANK_FAULTS, 2);
  assert(faults.length + KEY_FAULTS.length >= 20);
  await using trial = await openTrial(LANES);
  const found = new Map<BankFault, readonly CaseResult[]>();
  const waiting = [...faults];
  await Promise.all(trial.lanes.map(async (lane) => {
    for (let fault = waiting.shift(); fault !== undefined; fault = waiting.shift()) {
      found.set(fault, await findingsOf(trial, lane, fault));
    }
  }));
  for (const fault of KEY_FAULTS) { // they change the platform's keys
    found.set(fault, await findingsOf(trial, trial.lanes[0], fault));
  }
  assertEquals(found.size, faults.length + KEY_FAULTS.length);
  await judged(t, found);
});

Deno.test("a case that finds no planted fault is named with the reason", () => {
  const found = new Set([...BANK_FAULTS, ...KEY_FAULTS].map((fault) => fault.found));
  const others = BANK_CASES.map(({ id }) => id).filter((id) => !found.has(id));
  assertEquals(others, [
    "BANK-J01", // the platform rejects a wrong result itself, so that every journey fails
    "BANK-J02", // the control
    "BANK-J03", // like the first journey
    "BANK-J04", // like the first journey
    "BANK-J05", // its claims are wrong in many ways at once
    "BANK-W06", // fails if the bank shows a page, as with accounts that it cannot report
    "BANK-E01", // the faults of a bank that delivers results are in bank.test.ts
    "BANK-E02",
    "BANK-E03",
    "BANK-H01", // the control of the other handovers
    "BANK-H25", // a bank that takes it takes parallel ones too
    "BANK-O04", // a bank that executes it twice executes parallel or later copies twice, too
    "BANK-D01", // the faults of a bank that has disputes are in bank.test.ts
    "BANK-D02",
  ]);
});
