/** Forged bundles of the holder of the platform's key, before two verifiers that share no code. */
import { assert, assertEquals } from "@std/assert";
import { openBookEnvironment } from "support/bank_books.ts";
import { accepts, openPushEnvironment } from "support/orders.ts";
import { isComplete } from "support/part_of.ts";
import { printLine } from "../../scripts/command_line/print.ts";
import { openJudge, printedThumbprints, toolsFor } from "../scripts/operators/case/bundles.ts";
import { genuineBundles, recoveredBundles } from "./genuine_cases.ts";
import type { Trust } from "./parties.ts";
import { forgeriesOf, judge } from "./trial.ts";
import { UNPROVABLE } from "./unprovable.ts";

const BANK_B = { paymentOrdersUri: { bankB: "https://bank-b.example/payment-orders" } };

interface Tried {
  readonly counts: Map<string, { made: number; refused: number }>;
  /** Names of forgeries, so that the gate tries each place once. */
  readonly seen: Set<string>;
  /** Rows of the table of what cannot be proved, and whether a bundle held. */
  readonly rows: Map<RegExp, boolean>;
  readonly faults: string[];
}

const rowOf = (name: string): RegExp | undefined => UNPROVABLE.find(([pattern]) => pattern.test(name))?.[0];

/**
 * The gate tries six of ten places, each in one case, of what cannot be proved as much as shows it, and each entry of another case. `TEST_ALL=1` tries
 * every place of every case.
 */
function isWanted({ seen, rows }: Tried, name: string): boolean {
  if (isComplete || name.startsWith("transplanted: ")) return true;
  const row = rowOf(name);
  if (seen.has(name) || row && rows.get(row)) return false;
  seen.add(name);
  return row !== undefined || seen.size % 10 < 6;
}

async function tryAll(tried: Tried, [text, second]: readonly [string, string], trust: Trust): Promise<void> {
  for await (const forgery of forgeriesOf(text, second, (name) => isWanted(tried, name))) {
    const { product, second } = await judge(forgery.text, trust);
    const count = tried.counts.get(forgery.kind) ?? { made: 0, refused: 0 };
    tried.counts.set(forgery.kind, count);
    count.made++;
    if (product !== undefined) count.refused++;
    const row = rowOf(forgery.name);
    if ((product === undefined) !== (second === undefined)) {
      tried.faults.push(`${forgery.name}: the product says ${product}, the second verifier ${second}`);
    } else if (product === undefined && row) tried.rows.set(row, true);
    else if (product === undefined) tried.faults.push(`${forgery.name} holds`);
  }
}

Deno.test("1,000 forged bundles of the holder of the platform's key are refused by two verifiers [EV11, EV12]", async (t) => {
  await using env = await openPushEnvironment(accepts, BANK_B);
  await using restored = await openBookEnvironment();
  const bundles = { ...await genuineBundles(env), ...await recoveredBundles(restored) };
  const judged = openJudge(toolsFor(env.platform));
  const tried: Tried = { counts: new Map(), seen: new Set(), rows: new Map(), faults: [] };
  for (const [kind, pair] of Object.entries(bundles)) {
    await t.step(kind, async () => {
      const { platform, TPP, bank } = printedThumbprints((await judged(pair[0]))[1]);
      const trust: Trust = { platform: [platform], ...TPP && { tpp: [TPP] }, ...bank && { bank: [bank] } };
      for (const genuine of pair) {
        assertEquals(await judge(genuine, trust), { product: undefined, second: undefined });
      }
      await tryAll(tried, pair, trust);
    });
  }
  printLine("kind of forgery       made  refused");
  for (const [kind, { made, refused }] of tried.counts) {
    printLine(`${kind.padEnd(20)}${String(made).padStart(6)}${String(refused).padStart(9)}`);
  }
  assertEquals(tried.faults, []);
  const unused = UNPROVABLE.filter(([pattern]) => !tried.rows.has(pattern)).map(([, reason]) => reason);
  assertEquals(unused, [], "every row of the table is needed");
  const refused = [...tried.counts.values()].reduce((sum, count) => sum + count.refused, 0);
  assert(refused >= 1000, `${refused} forgeries were refused`);
});
