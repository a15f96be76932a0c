/**
 * `deno task directory-keys`: creates, rotates and retires the keys that sign the directory's software statements, in
 * the file named by `DIRECTORY_SIGNING_KEYS`. Starts and signals no process, and prints no private value.
 */
import type { Token } from "../../../src/base/jose/own_key.ts";
import type { RsaJwk } from "../../../src/base/jose/key_ring.ts";
import { openStatementKeys, statementJwk } from "../../../src/directory/statements/statement_keys.ts";
import { keyBits, optionSeconds, required, splitCommand } from "../../command_line/option_values.ts";
import { type Options, optionsOf, runProgram } from "../../command_line/run.ts";
import { lockSecretFile, writeSecretFile } from "../../command_line/secret_file.ts";
import { namedKey, newStatementKey } from "./new_key.ts";

/** Dependencies of the command. */
export interface Tools {
  readonly print: (line: string) => void;
  /** Milliseconds. */
  readonly now: number;
  /** Where new keys are made and the file's keys are, if it is a token. */
  readonly token?: KeysInToken;
}

/** Keys that the file has without their private members. */
export interface KeysInToken {
  make(bits: number): Promise<Pick<RsaJwk, "kty" | "n" | "e">>;
  tokenOf(file: { readonly keys: readonly RsaJwk[] }): Token;
}

const USAGE = `deno task directory-keys <command> --file <signing-keys.json>

  make     Makes the file with one key. Never overwrites. [--bits 2048|3072|4096]
           [--from <key.pem>]: takes an existing RSA key (PKCS 8) instead of a new one.
  show     Lists the keys: which one signs, from when, and until when each is published.
  rotate   Adds the next key. It is published at once and signs after the lead; the key before it stays published
           for the time that its statements live. [--lead 24h] [--keep 366d] [--bits 2048|3072|4096]
  retire   Removes the keys whose time has passed; with --kid that key at once, because it is compromised.

The directory reads the file again on SIGHUP. Times are like 90s, 15m, 24h, 366d.`;

const OPTIONS = {
  make: ["bits", "from"],
  show: [],
  rotate: ["bits", "lead", "keep"],
  retire: ["kid"],
} as const;
type Verb = keyof typeof OPTIONS;
type Values = Options<string, never>;

/**
 * Runs one command line.
 *
 * @throws {Error} in one sentence if it did not do what it was asked
 */
export async function directoryKeys(args: readonly string[], tools: Tools): Promise<void> {
  const { verb, rest } = splitCommand(args, OPTIONS, USAGE);
  const values = optionsOf(rest, ["file", ...OPTIONS[verb]]);
  const file = required(values, "file");
  if (verb === "show") return list(await readKeys(file, tools), tools);
  using _lock = await lockSecretFile(file, verb === "make");
  const keys = await changeKeys(verb, file, values, tools);
  await writeKeys(file, keys, verb !== "make", tools);
  list(keys, tools);
  if (verb !== "make") tools.print("Send SIGHUP to every process of the directory.");
}

async function changeKeys(
  verb: Exclude<Verb, "show">,
  file: string,
  values: Values,
  tools: Tools,
): Promise<readonly RsaJwk[]> {
  if (verb === "make") return [await firstKey(values, tools)];
  const before = await readKeys(file, tools);
  const now = Math.floor(tools.now / 1000);
  if (verb === "rotate") return await rotateKeys(before, values, tools);
  const { kid } = values;
  const going = before.filter((key) => kid === undefined ? (key.exp ?? Infinity) <= now : key.kid === kid);
  if (going.length === 0) throw new Error(kid === undefined ? "No key's time has passed." : `No key ${kid}.`);
  return before.filter((key) => !going.includes(key));
}

async function rotateKeys(
  before: readonly RsaJwk[],
  values: Values,
  tools: Tools,
): Promise<readonly RsaJwk[]> {
  const now = Math.floor(tools.now / 1000);
  const waiting = before.find(({ nbf = 0 }) => nbf > now);
  if (waiting !== undefined) {
    throw new Error(`A next key waits already: ${waiting.kid}, from ${time(waiting.nbf ?? 0)}.`);
  }
  const nbf = now + optionSeconds(values, "lead", "24h");
  const exp = nbf + optionSeconds(values, "keep", "366d");
  const next = { ...await newKey(values, tools), nbf };
  return [...before.map((key) => key.exp === undefined ? { ...key, exp } : key), next];
}

async function firstKey(values: Values, tools: Tools): Promise<RsaJwk> {
  const { from } = values;
  if (from === undefined) return await newKey(values, tools);
  if (tools.token !== undefined) throw new Error("--from: a key of a token is made in it.");
  const pem = await Deno.readTextFile(from).catch(() => {
    throw new Error(`The file ${from} cannot be read.`);
  });
  return await statementJwk(pem).catch((error: Error) => {
    throw new Error(`The file ${from}: the ${error.message}.`);
  });
}

async function newKey(values: Values, { token }: Tools): Promise<RsaJwk> {
  const bits = keyBits(values["bits"]);
  return token === undefined ? await newStatementKey(bits) : await namedKey(await token.make(bits));
}

async function readKeys(file: string, tools: Tools): Promise<readonly RsaJwk[]> {
  const json = await Deno.readTextFile(file).catch(() => {
    throw new Error(`The file ${file} cannot be read.`);
  });
  await judge(file, json, tools);
  return (JSON.parse(json) as { readonly keys: readonly RsaJwk[] }).keys;
}

async function writeKeys(
  file: string,
  keys: readonly RsaJwk[],
  replace: boolean,
  tools: Tools,
): Promise<void> {
  const json = `${JSON.stringify({ keys }, undefined, 2)}\n`;
  await judge(file, json, tools);
  await writeSecretFile(file, json, { replace });
}

/** As the directory judges it. */
async function judge(file: string, json: string, tools: Tools): Promise<void> {
  const token = tools.token?.tokenOf(JSON.parse(json) as { readonly keys: readonly RsaJwk[] });
  await openStatementKeys(json, () => tools.now, token).catch((error: Error) => {
    throw new Error(`The file ${file} ${error.message}.`);
  });
}

function list(keys: readonly RsaJwk[], tools: Tools): void {
  const now = Math.floor(tools.now / 1000);
  const started = keys.filter(({ nbf = 0 }) => nbf <= now).map(({ nbf = 0 }) => nbf);
  for (const { kid, nbf = 0, exp } of keys) {
    const state = nbf > now ? `signs from ${time(nbf)}` : nbf === Math.max(...started) ? "signs" : "former";
    tools.print(`${kid}  ${state}${exp === undefined ? "" : `, published until ${time(exp)}`}`);
  }
}

function time(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString().replace(".000Z", "Z");
}

if (import.meta.main) {
  await runProgram(USAGE, (args, print) => directoryKeys(args, { print, now: Date.now() }));
}
