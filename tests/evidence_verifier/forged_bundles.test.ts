/** Forged bundles of the holder of the platform's key, before two verifiers that share no code. */
import { assert, assertEquals } from "@std/assert";
import { openBookEnvironment } from "support/bank_books.ts";
import { accepts, openPushEnvironment } from "support/orders.ts";
import { isComplete } from "support/part_of.ts";
import { printLine } from "../../scripts/command_line/print.ts";
import { openJudge, printedThumbprints, toolsFor } from "../scripts/operators/case/bundles.ts";
import { decodeJwt } from "jose";
import { answerOnce } from "./answered_once.ts";
import { listOf, membersOf, sha256Text } from "./encoding.ts";
import { openRetaining } from "support/retention.ts";
import { genuineBundles, recoveredBundles, retiredBundles } from "./genuine_cases.ts";
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

async function tryAll(
  tried: Tried,
  [text, second]: readonly [string, string],
  trust: Trust,
  life: string,
): Promise<void> {
  for await (const forgery of forgeriesOf(text, second, (name) => isWanted(tried, name), life)) {
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

interface Genuine {
  /** By kind, two of each. */
  readonly bundles: Readonly<Record<string, readonly [string, string]>>;
  /** Whose signatures each kind has. */
  readonly trust: ReadonlyMap<string, Trust>;
}

let genuine: Promise<Genuine> | undefined;

/** Made once for all tests of this file. */
async function makeGenuine(): Promise<Genuine> {
  await using env = await openPushEnvironment(accepts, BANK_B);
  await using restored = await openBookEnvironment();
  await using retiring = await openRetaining();
  const bundles = {
    ...await genuineBundles(env),
    ...await recoveredBundles(restored),
    ...await retiredBundles(retiring),
  };
  const judged = openJudge(toolsFor(env.platform));
  const trust = new Map<string, Trust>();
  for (const [kind, [text]] of Object.entries(bundles)) {
    const { platform, TPP, bank } = printedThumbprints((await judged(text))[1]);
    trust.set(kind, { platform: [platform], ...TPP && { tpp: [TPP] }, ...bank && { bank: [bank] } });
  }
  return { bundles, trust };
}

Deno.test("1,000 forged bundles of the holder of the platform's key are refused by two verifiers [EV11, EV12]", async (t) => {
  using _ = answerOnce();
  const { bundles, trust } = await (genuine ??= makeGenuine());
  const tried: Tried = { counts: new Map(), seen: new Set(), rows: new Map(), faults: [] };
  for (const [kind, pair] of Object.entries(bundles)) {
    await t.step(kind, async () => {
      const signers = trust.get(kind) ?? {};
      for (const text of pair) {
        assertEquals(await judge(text, signers), { product: undefined, second: undefined });
      }
      await tryAll(tried, pair, signers, kind === "erased" ? "erased " : "");
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

/** The SHA-256 of every certificate of a bundle, with the latest time at which its key must have been good. */
function certificatesIn(text: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  const note = (key: unknown, at: number): void => {
    for (const certificate of listOf(membersOf(key)["x5c"])) {
      const sha256 = sha256Text(Uint8Array.fromBase64(String(certificate)));
      found.set(sha256, Math.max(found.get(sha256) ?? 0, at));
    }
  };
  const { entries, documents, keys, statement } = membersOf(JSON.parse(text));
  for (const key of listOf(keys)) note(key, Number(decodeJwt(String(statement)).iat) * 1000);
  for (const entry of listOf(entries)) {
    const { items, at } = membersOf(membersOf(entry)["record"]);
    for (const item of listOf(items)) {
      const document = listOf(documents).find((one) => sha256Text(String(one)) === membersOf(item)["key"]);
      if (document !== undefined) note(JSON.parse(String(document)), Number(at));
    }
  }
  return found;
}

Deno.test("two verifiers know the same revoked keys, up to the moment of the last signature [EV11, EV13]", async () => {
  using _ = answerOnce();
  const { bundles } = await (genuine ??= makeGenuine());
  const kinds = { paid: "settled, chosen at the platform", erased: "erased", deleted: "deleted" };
  for (const [kind, name] of Object.entries(kinds)) {
    const [text = ""] = bundles[name] ?? [];
    const certificates = certificatesIn(text);
    assert(certificates.size >= (kind === "deleted" ? 1 : 3), kind);
    for (const [sha256, at] of certificates) {
      const judged = async (revokedAt: number): Promise<boolean> => {
        const key = { kty: "RSA", "x5t#S256": sha256, revoked_at: new Date(revokedAt).toISOString() };
        const { product, second } = await judge(text, {}, JSON.stringify({ keys: [key] }));
        assertEquals(product === undefined, second === undefined, `${kind}: ${product} and ${second}`);
        return product === undefined;
      };
      assertEquals(
        await Promise.all([judged(0), judged(at), judged(at + 1)]),
        [false, false, true],
        `${kind} ${sha256}`,
      );
    }
  }
});
