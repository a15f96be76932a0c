/**
 * Loaded before the platform on Deno, Node or Bun, it counts the process's WebCrypto calls and the rows of its file, by
 * record with their bytes. After SIGUSR2 it appends the counts to a file of its folder, which `writes.ts` reads.
 */
import { appendFileSync, openSync } from "node:fs";
import process from "node:process";
import { StatementSync } from "node:sqlite";

const counts: Record<string, number> = {};

function count(name: string, by = 1): void {
  counts[name] = (counts[name] ?? 0) + by;
}

const KILOBYTE = 1000;

/** Counts a row. @param json its value, if it was written */
function countRow(name: string, record: string, key: number, json?: string): void {
  count(`rows: ${name}`);
  count(`kinds: ${record} ${name}`);
  if (json !== undefined) count(`kinds: ${record} kB`, (key + json.length) / KILOBYTE);
}

type Method = (this: unknown, ...given: readonly unknown[]) => unknown;

/** Calls `seen` before each call of a method of every object of a class. */
function watch(
  prototype: object,
  name: string,
  seen: (self: unknown, given: readonly unknown[]) => void,
): void {
  const original = Reflect.get(prototype, name) as Method;
  const watched: Method = function (...given) {
    seen(this, given);
    return Reflect.apply(original, this, given);
  };
  Reflect.set(prototype, name, watched);
}

/** Position of the argument that names the algorithm. */
const ALGORITHM = {
  digest: 0,
  encrypt: 0,
  decrypt: 0,
  sign: 0,
  verify: 0,
  importKey: 2,
  wrapKey: 3,
  unwrapKey: 3,
};

for (const [method, place] of Object.entries(ALGORITHM)) {
  watch(SubtleCrypto.prototype, method, (_, given) => {
    const algorithm = given[place];
    const name = typeof algorithm === "string" ? algorithm : String(Reflect.get(Object(algorithm), "name"));
    count(`calls: ${method} ${name}`);
  });
}

// A commit of Deno KV that fails its checks counts too. Those of a bench do not fail.
if ("Deno" in globalThis) {
  const textOf = (key: unknown): readonly [record: string, length: number] => {
    const parts = key as readonly string[];
    return [parts[0] ?? "", parts.join(" ").length];
  };
  watch(
    Deno.AtomicOperation.prototype,
    "set",
    (_, [key, value]) => countRow("written", ...textOf(key), JSON.stringify(value)),
  );
  watch(Deno.AtomicOperation.prototype, "delete", (_, [key]) => countRow("deleted", ...textOf(key)));
  watch(Deno.AtomicOperation.prototype, "commit", () => count("rows: transactions"));
}

watch(StatementSync.prototype, "all", (self, [key, value]) => {
  const sql = (self as StatementSync).sourceSQL;
  if (sql === "begin immediate") count("rows: transactions");
  if (!(key instanceof Uint8Array)) return;
  if (sql.startsWith("insert into hub_entry")) countRow("written", recordName(key), key.length, `${value}`);
  if (sql.startsWith("delete from hub_entry where key = ?")) countRow("deleted", recordName(key), key.length);
});

/** The name of the record that has an encoded key (`key_codec.ts`). */
function recordName(key: Uint8Array): string {
  return new TextDecoder().decode(key.subarray(0, key.indexOf(0)));
}

const file = openSync("bench-counts.jsonl", "a");
process.on("SIGUSR2", () => appendFileSync(file, `${JSON.stringify(counts)}\n`));
