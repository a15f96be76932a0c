/**
 * The cost of evidence for a payment: the log, with and without it on one file of each engine, and sealing, at two
 * platforms of which one does not seal. Rounds with and without take turns, so that other work of the computer meets
 * both.
 */
import { openKeyRing } from "../../../src/base/jose/key_ring.ts";
import { openDatabase } from "../../../src/base/store/database_file.ts";
import type { Store } from "../../../src/base/store/store.ts";
import { commitIfUnchanged, type TransactDeps } from "../../../src/base/store/transaction.ts";
import { type AuditEntry, leafHash } from "../../../src/platform/evidence/entry.ts";
import { growLog, type GrowLogDeps } from "../../../src/platform/evidence/evidence_log/grow_log.ts";
import { openLogStore, stageLeaf } from "../../../src/platform/evidence/evidence_log/log_store.ts";
import { auditRecord } from "../../../src/platform/evidence/audit_trail.ts";
import { auditKey } from "../../../src/platform/config/store_keys.ts";
import { platformKeySet } from "../../testing/platform_keys.ts";
import { type CostsInTurn, costsInTurn, inTurnReport } from "./in_turn.ts";
import { cpuMilliseconds } from "./process.ts";
import { AT_ONCE, median, type RoundOptions } from "./rounds.ts";

/** The cost of the log of a payment. */
interface LogCosts {
  /** Of processor time, median of the rounds. */
  readonly milliseconds: number;
  /** Of keys and values that stay. */
  readonly bytes: number;
}

export interface EvidenceCosts {
  readonly log: { readonly kv: LogCosts; readonly sqlite: LogCosts };
  readonly sealing: CostsInTurn;
}

/** Entries of a payment on the platform's screen whose order is pushed. */
const ENTRIES = 12;
/** One in so many is of a request with a DPoP proof, and about 1.9 kB long. The others have 0.3 to 0.7 kB. */
const WITH_PROOF = 3;
const PROOF_CHARACTERS = 1250;
/** Of a payment: the other rows that its commits write. */
const ROWS = 4;

export async function evidenceCosts(
  options: RoundOptions,
  serve: Readonly<Record<string, string>>,
  say: (text: string) => void,
): Promise<EvidenceCosts> {
  const variants = [serve, { ...serve, PLATFORM_SEAL_DATA: "no" }] as const;
  const log = { kv: await logCosts("kv", options, say), sqlite: await logCosts("sqlite", options, say) };
  return { log, sealing: await costsInTurn(options, variants, say) };
}

export function evidenceReport({ log: { kv, sqlite }, sealing }: EvidenceCosts): string {
  const logged = `the log: ${kv.milliseconds.toFixed(2)} ms of processor time on a KV file and ${
    sqlite.milliseconds.toFixed(2)
  } on a SQLite file, and ${kv.bytes} bytes a payment of ${ENTRIES} entries`;
  return `${logged}\n${inTurnReport("sealing", sealing, 5)}`;
}

async function logCosts(
  ending: keyof EvidenceCosts["log"],
  { requests, rounds }: RoundOptions,
  say: (text: string) => void,
): Promise<LogCosts> {
  const folder = await Deno.makeTempDir();
  const issuer = "https://auth.example";
  const store = await openDatabase(`${folder}/log.${ending}`, { program: "platform", issuer });
  try {
    let now = Date.now();
    const { signer } = await openKeyRing(await platformKeySet());
    const origin = { issuer, cell: "home" };
    const deps = { store, clock: () => now, signer, origin, log: openLogStore(store) };
    const costs: number[] = [];
    for (let round = 0; round <= rounds; round++) {
      say(`log in a .${ending} file, round ${round} of ${rounds}`);
      const without = await cpuOf(() => writeEntries(deps, requests * ENTRIES, false));
      const staged = await cpuOf(() => writeEntries(deps, requests * ENTRIES, true));
      now += 1000;
      const placed = await cpuOf(() => placeAll(deps));
      if (round > 0) costs.push((staged + placed - without) / requests); // the first one compiles the code
    }
    const bytes = await bytesBelow(store, ["log_range", "log_tile", "log_head", "log_checkpoint"]);
    return { milliseconds: median(costs), bytes: Math.round(bytes / ((rounds + 1) * requests)) };
  } finally {
    await store.close();
    await Deno.remove(folder, { recursive: true });
  }
}

async function cpuOf(work: () => Promise<void>): Promise<number> {
  const before = await cpuMilliseconds(Deno.pid);
  await work();
  return await cpuMilliseconds(Deno.pid) - before;
}

/** Commits histories as the platform does, several at once, with their leaves or without. */
async function writeEntries(deps: TransactDeps, count: number, isLogged: boolean): Promise<void> {
  for (let made = 0; made < count; made += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, async (_, index) => {
      const [subject, entry] = [
        crypto.randomUUID(),
        entryAt(deps.clock(), (made + index) % WITH_PROOF === 0),
      ];
      await commitIfUnchanged(deps, (tx) => {
        for (let row = 0; row < ROWS; row++) {
          const key = ["bench", String(row), crypto.randomUUID()];
          tx.writes.push({ kind: "set", key, value: entry });
        }
        auditRecord.set(tx, auditKey(subject, entry.at, "one"), entry);
        if (isLogged) stageLeaf(tx, leafHash(subject, entry), entry.at);
      });
    }));
  }
}

function entryAt(at: number, hasProof: boolean): AuditEntry {
  const digest = "x".repeat(43);
  const entry: AuditEntry = {
    at,
    event: "payment.AcceptedSettlementInProcess",
    actor: "SC-6dede227-f4e5-4409-85dd-0fd2b1128b98",
    reason: "created",
    sequence: 1,
    interactionId: crypto.randomUUID(),
    salt: digest.slice(0, 22),
    items: [{ kind: "payment_request", sha256: digest, key: digest }],
  };
  return !hasProof ? entry : {
    ...entry,
    authentication: {
      clientId: "SC-6dede227-f4e5-4409-85dd-0fd2b1128b98",
      certificate: digest,
      method: "POST",
      target: "https://api.example/BANKA/domestic-payments/v1",
      token: digest,
      proof: "x".repeat(PROOF_CHARACTERS),
    },
  };
}

async function placeAll(deps: GrowLogDeps): Promise<void> {
  while ((await deps.log.waiting(1)).rows.length > 0) await growLog(deps);
}

async function bytesBelow(store: Store, prefixes: readonly string[]): Promise<number> {
  let bytes = 0;
  for (const prefix of prefixes) {
    let page = await store.list({ prefix: [prefix], limit: 500 });
    while (page.length > 0) {
      for (const { key, value } of page) bytes += key.join(" ").length + JSON.stringify(value).length;
      const after = page.at(-1)?.key ?? [];
      page = await store.list({ prefix: [prefix], after, limit: 500 });
    }
  }
  return bytes;
}
