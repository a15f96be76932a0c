/**
 * Loaded before the platform (`deno run --preload`), it counts the process's WebCrypto calls and the rows of its file.
 * After SIGUSR2 it appends the counts to a file of its folder, which `writes.ts` reads.
 */
import { StatementSync } from "node:sqlite";
import process from "node:process";

const counts: Record<string, number> = {};

function count(name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
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
watch(Deno.AtomicOperation.prototype, "set", (_, [key]) => {
  count("rows: written");
  count(`kinds: ${(key as readonly string[])[0]} written`);
});
watch(Deno.AtomicOperation.prototype, "delete", (_, [key]) => {
  count("rows: deleted");
  count(`kinds: ${(key as readonly string[])[0]} deleted`);
});
watch(Deno.AtomicOperation.prototype, "commit", () => count("rows: transactions"));

const STATEMENTS: Readonly<Record<string, string>> = {
  "insert into hub_entry": "rows: written",
  "delete from hub_entry where key = ?": "rows: deleted",
  "begin immediate": "rows: transactions",
};
watch(StatementSync.prototype, "all", (self, [key]) => {
  const sql = (self as StatementSync).sourceSQL;
  for (const [start, name] of Object.entries(STATEMENTS)) {
    if (!sql.startsWith(start)) continue;
    count(name);
    if (key instanceof Uint8Array) count(`kinds: ${recordName(key)} ${name.slice("rows: ".length)}`);
  }
});

/** The name of the record that has an encoded key (`key_codec.ts`). */
function recordName(key: Uint8Array): string {
  return new TextDecoder().decode(key.subarray(0, key.indexOf(0)));
}

const file = Deno.openSync("bench-counts.jsonl", { create: true, append: true });
process.on("SIGUSR2", () => {
  file.writeSync(new TextEncoder().encode(`${JSON.stringify(counts)}\n`));
});
