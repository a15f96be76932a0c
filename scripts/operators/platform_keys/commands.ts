/** The commands of `deno task platform-keys` on the platform's key file. They print no private value. */
import "reflect-metadata";
import { PemConverter, X509Certificate } from "@peculiar/x509";
import { type Command, KeysFailure, type KeyUse } from "./arguments.ts";
import {
  certificateMembers,
  type Judging,
  type KeyFile,
  modulusOf,
  readKeyFile,
  rejectExisting,
  type StoredKey,
  writeKeyFile,
} from "./file.ts";
import { type Custody, makeKey, signingRequest } from "./making.ts";

/** Dependencies of the commands. */
export interface Tools {
  readonly print: (line: string) => void;
  /** Milliseconds. */
  readonly now: number;
  /** Where the private keys are. */
  readonly custody: Custody;
}

type Of<Verb extends Command["verb"]> = Extract<Command, { readonly verb: Verb }>;

/** A certificate that ends sooner than this should be replaced now, ms. */
const ENDS_SOON_MS = 60 * 86_400_000;

/** A new file with one key for each use. */
export async function make({ file, making }: Of<"make">, tools: Tools): Promise<void> {
  await rejectExisting(file);
  const keys = await Promise.all((["sig", "enc"] as const).map((use) => makeKey(use, making, tools)));
  await writeKeyFile(file, { keys }, { replace: false, ...judging(tools) });
  tools.print(tools.custody.afterMake(file));
  list(keys, tools);
}

/** Adds the next keys and says until when the ones before them are published. */
export async function rotate(command: Of<"rotate">, tools: Tools): Promise<void> {
  const before = await readKeyFile(command.file, judging(tools));
  const now = seconds(tools);
  const nbf = now + command.leadSeconds;
  let keys = before.keys;
  for (const use of command.uses) {
    const waiting = keys.find((key) => key.use === use && (key.nbf ?? 0) > now);
    if (waiting !== undefined) {
      throw new KeysFailure(
        `A next ${use} key waits already: ${waiting.kid}, from ${time(waiting.nbf ?? 0)}. ` +
          `To replace it, take it out first: retire --kid ${waiting.kid}.`,
      );
    }
    const next = { ...await makeKey(use, command.making, tools), nbf };
    const exp = nbf + command.keepSeconds;
    keys = [...keys.map((key) => key.use === use && key.exp === undefined ? { ...key, exp } : key), next];
  }
  await writeKeyFile(command.file, { ...before, keys }, { replace: true, ...judging(tools) });
  tools.print("Send SIGHUP to every process of the platform before the next keys are used.");
  list(keys, tools);
}

/** Takes keys out: those whose time has passed, or one at once. */
export async function retire({ file, kid }: Of<"retire">, tools: Tools): Promise<void> {
  const before = await readKeyFile(file, judging(tools));
  const going = kid === undefined
    ? before.keys.filter((key) => (key.exp ?? Infinity) <= seconds(tools))
    : [find(before, kid)];
  const keys = before.keys.filter((key) => !going.includes(key));
  for (const use of ["sig", "enc"] as const) {
    if (inUse(keys, use, seconds(tools)) === undefined) {
      throw new KeysFailure(`No ${use} key would be in use; rotate --use ${use} --lead 0s makes one first.`);
    }
  }
  if (going.length > 0) {
    await writeKeyFile(file, { ...before, keys }, { replace: true, ...judging(tools) });
    tools.print(
      `Taken out: ${going.map(({ kid }) => kid).join(", ")}. Send SIGHUP to every process of the platform.`,
    );
  } else tools.print("No key's time has passed.");
  list(keys, tools);
}

/** Lists the keys. */
export async function show({ file }: Of<"show">, tools: Tools): Promise<void> {
  list((await readKeyFile(file, judging(tools))).keys, tools);
}

/** Prints a signing request. */
export async function request({ file, kid, name }: Of<"request">, tools: Tools): Promise<void> {
  const key = signingKey(await readKeyFile(file, judging(tools)), kid);
  tools.print((await signingRequest(key, name, tools.custody)).trimEnd());
}

/** Puts an authority's certificate in the place of the key's own. */
export async function certify(command: Of<"certify">, tools: Tools): Promise<void> {
  const before = await readKeyFile(command.file, judging(tools));
  const key = signingKey(before, command.kid);
  if ((key.nbf ?? 0) <= seconds(tools) && !command.beforeFirstStart) {
    throw new KeysFailure(
      "The key is in use, and its kid would change under the banks; certify the next key, or say --before-first-start.",
    );
  }
  const members = await certificateMembers(await readChain(command.certificate, key, tools));
  const keys = before.keys.map((other) => other === key ? { ...key, ...members } : other);
  await writeKeyFile(command.file, { ...before, keys }, { replace: true, ...judging(tools) });
  tools.print(`${command.kid} is now ${members.kid}.`);
  list(keys, tools);
}

async function readChain(path: string, key: StoredKey, tools: Tools): Promise<string[]> {
  const pem = await Deno.readTextFile(path).catch(() => {
    throw new KeysFailure(`The file ${path} cannot be read.`);
  });
  try {
    const chain = PemConverter.decode(pem).map((der) => new X509Certificate(der));
    const [own] = chain;
    const fits = own !== undefined && own.notBefore.getTime() <= tools.now &&
      own.notAfter.getTime() > tools.now;
    const x5c = chain.map(({ rawData }) => new Uint8Array(rawData).toBase64());
    if (fits && await modulusOf(x5c[0] ?? "") === key.n) return x5c;
  } catch {
    // said below, like everything else that does not fit
  }
  throw new KeysFailure(`The file ${path} does not begin with a certificate of this key that is valid now.`);
}

function find({ keys }: KeyFile, kid: string): StoredKey {
  const found = keys.find((key) => key.kid === kid);
  if (found === undefined) throw new KeysFailure(`There is no key ${kid}.`);
  return found;
}

function signingKey(file: KeyFile, kid: string): StoredKey {
  const key = find(file, kid);
  if (key.use !== "sig") throw new KeysFailure(`The key ${kid} is no signing key.`);
  return key;
}

/** As the platform chooses: the newest whose time has come. */
function inUse(keys: readonly StoredKey[], use: KeyUse, now: number): StoredKey | undefined {
  return keys.filter((key) => key.use === use && (key.nbf ?? 0) <= now)
    .sort((left, right) => (right.nbf ?? 0) - (left.nbf ?? 0))[0];
}

function list(keys: readonly StoredKey[], tools: Tools): void {
  for (const key of keys) {
    tools.print(`${key.use}  ${key.kid}  ${state(keys, key, seconds(tools))}${ends(key, tools)}`);
  }
}

function state(keys: readonly StoredKey[], key: StoredKey, now: number): string {
  if (key === inUse(keys, key.use, now)) {
    const next = keys.find((other) => other.use === key.use && (other.nbf ?? 0) > now);
    return next === undefined ? "in use" : `in use until ${time(next.nbf ?? 0)}`;
  }
  if ((key.nbf ?? 0) > now) return `published, in use from ${time(key.nbf ?? 0)}`;
  if (key.exp === undefined) return "published, not used";
  return key.exp > now ? `published until ${time(key.exp)}` : "its time has passed: retire takes it out";
}

function ends({ x5c }: StoredKey, { now }: Tools): string {
  if (x5c?.[0] === undefined) return "";
  const end = new X509Certificate(x5c[0]).notAfter.getTime();
  const warning = end - now < ENDS_SOON_MS ? " SOON: rotate" : "";
  return `, certificate ends ${time(end / 1000)}${warning}`;
}

function time(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString().replace(/\.\d{3}Z$/, "Z");
}

function judging({ now, custody: { tokenOf } }: Tools): Judging {
  return { now, tokenOf };
}

function seconds({ now }: Tools): number {
  return Math.floor(now / 1000);
}
