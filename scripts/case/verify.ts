/**
 * Verifies a bundle offline: `deno run --no-prompt --allow-read=FILE scripts/case/verify.ts FILE`. Needs no network, no
 * platform and no other file (`docs/contract/evidence.md`).
 */
import { verifyBundle } from "./verify_bundle.ts";
import { type DeletionFound, type Findings, newFindings } from "./verify_parts.ts";

/** A larger file is no bundle. */
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Verifies the bytes of a bundle and prints what it shows, or each thing that does not hold.
 *
 * @param anchor SHA-256 of the certificates in which chains may end, base64url, comma separated; undefined if the reader
 * compares the printed ones
 * @returns whether everything holds
 */
export async function verify(
  bytes: Uint8Array,
  anchor: string | undefined,
  print: (line: string) => void,
): Promise<boolean> {
  const findings = newFindings();
  let faults = bytes.length > MAX_BYTES ? 1 : 0;
  if (faults > 0) print("DOES NOT HOLD: the file is too large for a bundle");
  else {
    for await (const fault of verifyBundle(bytes, findings)) {
      print(`DOES NOT HOLD: ${fault}`);
      faults++;
    }
  }
  for (const [sha256, subject] of findings.anchors) {
    if (anchor === undefined || anchor.split(",").includes(sha256)) continue;
    print(`DOES NOT HOLD: a chain ends in ${subject}, SHA-256 ${sha256}, which --anchor does not name`);
    faults++;
  }
  if (faults === 0) { for (const line of summaryOf(findings, anchor)) print(line); }
  return faults === 0;
}

function summaryOf(findings: Findings, anchor: string | undefined): readonly string[] {
  const { bundle, statement, checkpoint, signatures, deleted, deletion } = findings;
  if (deletion !== undefined) return [...deletionLines(deletion), ...anchorLines(findings, anchor)];
  if (bundle === undefined || statement === undefined || checkpoint === undefined) return [];
  const inLog = bundle.entries.filter(({ index }) => index !== undefined).length;
  const older = bundle.entries.length - inLog;
  return [
    `HOLDS: consent ${statement.consent}, payment ${statement.payment}`,
    `signed by ${statement.iss} at ${timeOf(statement.iat)}; nothing was changed since`,
    `complete: ${statement.consent_entries} entries of the consent, ${statement.payment_entries} of the payment, in order`,
    `in the log: ${inLog} entries are in the ${checkpoint.size} leaves that were signed at ${
      timeOf(checkpoint.iat)
    }`,
    ...(older === 0 ? [] : [`not in the log: ${older} entries of an earlier version`]),
    `signatures that verify: ${signatures}`,
    ...(deleted === 0 ? [] : [`deleted since: ${deleted} pieces of evidence, whose digests stay`]),
    ...anchorLines(findings, anchor),
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

function anchorLines({ anchors }: Findings, anchor: string | undefined): readonly string[] {
  if (anchor !== undefined) return ["every certificate chain ends in one of --anchor"];
  return [
    "compare these certificates with those that you know, or give their SHA-256 with --anchor, comma separated:",
    ...[...anchors].map(([sha256, subject]) => `  ${subject}, SHA-256 ${sha256}`),
  ];
}

function timeOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

/** Reads the arguments: a file, and optionally `--anchor` and its value. Undefined if they are others. */
export function verifyArguments(
  args: readonly string[],
): { readonly file: string; readonly anchor?: string } | undefined {
  const [file, option, anchor, ...more] = args;
  if (file === undefined || file.startsWith("--") || more.length > 0) return undefined;
  if (option === undefined) return { file };
  return option === "--anchor" && anchor !== undefined ? { file, anchor } : undefined;
}

if (import.meta.main) {
  const encoder = new TextEncoder();
  const given = verifyArguments(Deno.args);
  if (given === undefined) {
    Deno.stderr.writeSync(encoder.encode("Usage: verify.ts FILE [--anchor <thumbprint>,…]\n"));
    Deno.exit(2);
  }
  const print = (line: string): void => void Deno.stdout.writeSync(encoder.encode(`${line}\n`));
  Deno.exit(await verify(await Deno.readFile(given.file), given.anchor, print) ? 0 : 1);
}
