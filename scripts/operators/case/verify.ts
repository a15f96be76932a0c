/**
 * Verifies a bundle offline: `deno run --no-prompt --allow-read=FILE scripts/operators/case/verify.ts FILE`. Needs no network, no
 * platform and no other file (`docs/contract/evidence.md`).
 */
import { z } from "zod";
import { boundedText } from "../../../src/base/kernel/foreign_text.ts";
import { printLine } from "../../command_line/print.ts";
import type { Revocations } from "./certificates.ts";
import { jsonIn } from "./signatures.ts";
import { type Party, signedKind, signerLines, strangersIn, type Trusted } from "./signers.ts";
import { verifyBundle } from "./verify_bundle.ts";
import { type DeletionFound, type Findings, newFindings } from "./verify_parts.ts";

/** Knowledge of the reader of a bundle from elsewhere. */
export interface Trust {
  /** Whose certificates the reader knows. */
  readonly trusted?: Trusted;
  readonly revoked?: Revocations | undefined;
}

/** A larger file is no bundle. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Longer lines are cut: names in a bundle have no bound of their own. */
const MAX_LINE_CHARACTERS = 4000;

/** Returns a print for texts of a bundle. They are other parties': they must not move the cursor of a terminal. */
export function safely(print: (line: string) => void): (line: string) => void {
  return (line) => print(boundedText(line, MAX_LINE_CHARACTERS));
}

/**
 * Verifies the bytes of a bundle and prints what it shows, or each thing that does not hold.
 *
 * @param trust what the reader knows from elsewhere
 * @returns whether everything holds
 */
export async function verify(
  bytes: Uint8Array,
  { trusted = {}, revoked }: Trust,
  show: (line: string) => void,
): Promise<boolean> {
  const print = safely(show);
  const findings = newFindings(revoked);
  let faults = bytes.length > MAX_BYTES ? 1 : 0;
  if (faults > 0) print("DOES NOT HOLD: the file is too large for a bundle");
  else {
    for await (const fault of verifyBundle(bytes, findings)) {
      print(`DOES NOT HOLD: ${fault}`);
      faults++;
    }
  }
  const strangers = [...strangersIn(findings.signers, trusted), ...silentParties(findings, trusted)];
  for (const stranger of strangers) {
    print(`DOES NOT HOLD: ${stranger}`);
    faults++;
  }
  if (faults === 0) { for (const line of summaryOf(findings, trusted)) print(line); }
  return faults === 0;
}

/** Yields each party that the reader asks about and that took a step, and whose signature is nowhere. */
function* silentParties({ bundle, signers }: Findings, trusted: Trusted): Generator<string> {
  for (const party of ["tpp", "bank"] as const) {
    if (trusted[party] === undefined || bundle === undefined) continue;
    const signed = [...signers.values()].some((signer) => signer.party === party);
    const steps = bundle.entries.flatMap(({ record }) => (record.items ?? []).map(({ kind }) => kind));
    if (!signed && steps.some((kind) => signedKind(kind)?.by === party)) {
      yield `no signature of --${party} is left, so nothing but the platform's word says what this party did`;
    }
  }
}

function summaryOf(findings: Findings, trusted: Trusted): readonly string[] {
  const { bundle, statement, checkpoint, signatures, signers, unsigned, deleted, deletion, withheld } =
    findings;
  if (deletion !== undefined) {
    return [...deletionLines(deletion), ...signerLines(signers, trusted, ["platform"])];
  }
  if (bundle === undefined || statement === undefined || checkpoint === undefined) return [];
  return [
    `HOLDS: consent ${statement.consent}, payment ${statement.payment}`,
    `signed by ${statement.iss} at ${timeOf(statement.iat)}; nothing was changed since`,
    `complete: ${statement.consent_entries} entries of the consent, ${statement.payment_entries} of the payment, in order`,
    ...(statement.consent_entries > 0 ? [] : ["the consent was lost with a restore of the database"]),
    `in the log: ${bundle.entries.length} entries are in the ${checkpoint.size} leaves that were signed at ${
      timeOf(checkpoint.iat)
    }`,
    `linked: ${statement.linked}${
      statement.linked === "proven"
        ? ": the bank has signed a digest of amount, currency, payee and account as the TPP requested them"
        : ""
    }`,
    `signatures that verify: ${signatures}`,
    ...(statement.reader === undefined ? [] : [
      `made for the ${statement.reader.toUpperCase()}: ${withheld} pieces of evidence and ${
        bundle.withheld?.length ?? 0
      } entries of operators are withheld, whose digests are here`,
    ]),
    ...(deleted === 0 ? [] : [`evidence deleted since, whose digests stay: ${deleted}`]),
    ...(unsigned.size === 0 ? [] : [`not signed: ${[...unsigned].toSorted().join(", ")}`]),
    ...signerLines(signers, trusted),
  ];
}

/** Returns what a proof shows, for readers. The caller has verified it, or the platform has just sent it. */
export function deletionLines({ statement, bundle, applied }: DeletionFound): readonly string[] {
  const { at } = bundle.entry.record;
  return [
    `DELETED: case ${statement.case}, by retention, at ${new Date(at).toISOString()}`,
    `class ${applied?.class}, rule ${applied?.rule}: ${applied?.count} cases whose newest entries are of ${
      new Date(applied?.until ?? 0).toISOString()
    } or before`,
    `signed by ${statement.iss} at ${timeOf(statement.iat)}; the entry that names the case is in its log`,
  ];
}

function timeOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

const revokedSchema = z.looseObject({
  keys: z.array(z.looseObject({ "x5t#S256": z.string(), revoked_at: z.iso.datetime({ offset: true }) })),
});

/** Reads a key set of revoked keys, as the directory publishes it. @throws {Error} in one sentence */
export function readRevocations(text: string): Revocations {
  const parsed = revokedSchema.safeParse(jsonIn(new TextEncoder().encode(text)));
  if (!parsed.success) throw new Error("--revoked must be a key set of the directory's …/jwks/revoked");
  return new Map(parsed.data.keys.map((key) => [key["x5t#S256"], Date.parse(key.revoked_at)]));
}

export interface VerifyArguments {
  readonly file: string;
  readonly trusted: Trusted;
  /** Path of a key set of revoked keys. */
  readonly revoked?: string;
}

/** The options of a verification, for a usage text. */
export const VERIFY_OPTIONS =
  "[--platform <thumbprint>,…] [--tpp <thumbprint>,…] [--bank <thumbprint>,…] [--revoked <FILE>]";

/** Reads the arguments: a file and options. Undefined if they are others. */
export function verifyArguments(args: readonly string[]): VerifyArguments | undefined {
  const [file, ...rest] = args;
  if (file === undefined || file.startsWith("--") || rest.length % 2 > 0) return undefined;
  const trusted: Partial<Record<Party, readonly string[]>> = {};
  let revoked: string | undefined;
  for (let at = 0; at < rest.length; at += 2) {
    const [name, value = ""] = rest.slice(at);
    if (value === "") return undefined;
    if (name === "--platform" || name === "--tpp" || name === "--bank") {
      trusted[name.slice(2) as Party] = value.split(",");
    } else if (name === "--revoked") revoked = value;
    else return undefined;
  }
  return { file, trusted, ...(revoked === undefined ? {} : { revoked }) };
}

/** Reads the files and verifies. */
export async function verifyFiles(
  { file, trusted, revoked }: VerifyArguments,
  read: (path: string) => Promise<Uint8Array>,
  print: (line: string) => void,
): Promise<boolean> {
  const bytes = await read(file);
  const known = revoked === undefined
    ? undefined
    : readRevocations(new TextDecoder().decode(await read(revoked)));
  return await verify(bytes, { trusted, revoked: known }, print);
}

if (import.meta.main) {
  const encoder = new TextEncoder();
  const given = verifyArguments(Deno.args);
  if (given === undefined) {
    Deno.stderr.writeSync(encoder.encode(`Usage: verify.ts <FILE> ${VERIFY_OPTIONS}\n`));
    Deno.exit(2);
  }
  Deno.exit(await verifyFiles(given, (path) => Deno.readFile(path), printLine) ? 0 : 1);
}
