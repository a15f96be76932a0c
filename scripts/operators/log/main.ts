/** `deno task log`: the evidence log's newest checkpoint, and a witness of the log (docs/operations/disputes.md). */
import { decodeJwt, type JSONWebKeySet } from "jose";
import { z } from "zod";
import { asHash, type Hash } from "../../../src/base/merkle/tree.ts";
import { missingOptions, optionsOf, runProgram, unknownCommand, UsageError } from "../../command_line/run.ts";
import { type ApiTools, DEADLINE_MS, getOperation } from "../operations_api/client.ts";
import { operatorEnvironment } from "../operations_api/environment.ts";
import { type Checkpoint, openCheckpoint, readCheckpoint } from "./checkpoint.ts";
import { timestamp } from "./timestamp.ts";
import { compareCheckpoints } from "./witness.ts";

const USAGE = `deno task log checkpoint [--url URL]
deno task log witness --file FILE --issuer URL [--url URL]
  checkpoint: prints the newest checkpoint.
  witness: verifies the newest checkpoint with the keys at URL/jwks, proves that it contains the last one in FILE, and
  adds it to FILE. Exits with 1 if it contradicts what is in FILE, and with 3 if it declares a restore that the auditor
  has not acknowledged. Run it on a computer that the platform's operators cannot change.
deno task log acknowledge --file FILE --epoch ID
  acknowledge: notes in FILE that the auditor knows of the restore with this id.
deno task log timestamp --file FILE --authority URL --trusted FILE
  timestamp: has the last checkpoint in FILE timestamped (RFC 3161), and writes it and the verified timestamp to
  FILE.<leaves>-<id>.jws and FILE.<leaves>-<id>.tsr. A checkpoint is timestamped once.
  --authority: the URL of a time-stamping authority. --trusted: the certificates (PEM) by which it is known.
  --issuer: the platform's authorization URL. PLATFORM_OPS_TOKEN (an operator's token), PLATFORM_OPERATIONS_HOST and
  PLATFORM_OPERATIONS_PORT are read from the environment or .env.`;

const VERBS = ["checkpoint", "witness", "acknowledge", "timestamp"];

/** Exit status of a witness that sees a restore which its auditor has not acknowledged. */
export const RESTORED_STATUS = 3;
/** Begins a line of a witness's file that names an epoch. */
const ACKNOWLEDGED = "acknowledged ";

/** Dependencies of the command. */
export interface LogTools extends ApiTools {
  /** Returns the text of a file, or an empty text if it does not exist. */
  readonly readText: (path: string) => Promise<string>;
  readonly appendText: (path: string, text: string) => Promise<void>;
  readonly writeBytes: (path: string, bytes: Uint8Array) => Promise<void>;
  readonly print: (line: string) => void;
}

/** Runs one command line; false if the log contradicts a checkpoint, {@link RESTORED_STATUS} after a restore that is not acknowledged. @throws {UsageError} and errors in one sentence */
export async function logCommand(args: readonly string[], tools: LogTools): Promise<boolean | number> {
  const [verb, ...rest] = args;
  if (verb === "checkpoint") {
    tools.print(await newest(tools, optionsOf(rest, ["url"]).url));
    return true;
  }
  if (verb === "acknowledge") return await acknowledge(tools, rest);
  if (verb === "timestamp") return await timestampLast(tools, rest);
  if (verb === undefined) throw new UsageError(USAGE);
  if (verb !== "witness") throw unknownCommand(verb, VERBS);
  const { file, issuer, url } = optionsOf(rest, ["file", "issuer", "url"]);
  if (file === undefined || issuer === undefined) throw missingOptions("file", "issuer");
  return await witness(tools, file, issuer, url);
}

async function witness(
  tools: LogTools,
  file: string,
  issuer: string,
  url: string | undefined,
): Promise<boolean | number> {
  const keys = await fetchKeys(tools, issuer);
  const jwt = await newest(tools, url);
  const next = await openCheckpoint(jwt, keys);
  if (next.iss !== issuer) throw new Error(`the checkpoint is of ${next.iss}, not of ${issuer}`);
  const { checkpoints: kept, acknowledged } = await allSeen(tools, file);
  const prove = (from: number, to: number): Promise<readonly Hash[] | undefined> =>
    proofOf(tools, url, from, to);
  const { holds, words } = await compareCheckpoints(kept.map(seenBefore), next, prove);
  if (!holds) {
    tools.print(`CONTRADICTION: ${words}`);
    return false;
  }
  if (kept.at(-1) !== jwt) await tools.appendText(file, `${jwt}\n`);
  const epoch = next.restored?.epoch;
  if (epoch === undefined || acknowledged.includes(epoch)) {
    tools.print(`ok: ${words}`);
    return true;
  }
  tools.print(`RESTORED: ${words}`);
  tools.print(`epoch ${epoch}: compare it with your own records of the restore, then acknowledge it`);
  return RESTORED_STATUS;
}

/** Adds to the file that the auditor knows of a restore. @throws {Error} if no checkpoint in the file declares it */
async function acknowledge(tools: LogTools, args: readonly string[]): Promise<true> {
  const { file, epoch } = optionsOf(args, ["file", "epoch"]);
  if (file === undefined || epoch === undefined) throw missingOptions("file", "epoch");
  const { checkpoints, acknowledged } = await allSeen(tools, file);
  if (!checkpoints.some((jwt) => seenBefore(jwt).restored?.epoch === epoch)) {
    throw new Error(`no checkpoint in ${file} declares the epoch ${epoch}`);
  }
  if (!acknowledged.includes(epoch)) await tools.appendText(file, `${ACKNOWLEDGED}${epoch}\n`);
  tools.print(`ok: the restore ${epoch} is acknowledged`);
  return true;
}

async function timestampLast(tools: LogTools, args: readonly string[]): Promise<true> {
  const { file, authority: url, trusted } = optionsOf(args, ["file", "authority", "trusted"]);
  if (file === undefined || url === undefined || trusted === undefined) {
    throw missingOptions("file", "authority", "trusted");
  }
  const last = (await allSeen(tools, file)).checkpoints.at(-1);
  if (last === undefined) throw new Error(`${file} has no checkpoint; run the witness first`);
  const { size } = seenBefore(last);
  const data = new TextEncoder().encode(last);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
  const written = `${file}.${size}-${digest.slice(0, 8).toHex()}`; // after a restore, a log has a size again
  if (await tools.readText(`${written}.jws`) === last) {
    tools.print(`ok: ${size} leaves have their timestamp in ${written}.tsr`);
    return true;
  }
  const authority = { fetch: tools.fetch, url, trusted: await tools.readText(trusted), now: Date.now };
  const { response, time } = await timestamp(authority, data);
  await tools.writeBytes(`${written}.tsr`, response);
  await tools.writeBytes(`${written}.jws`, data); // last: it says that the timestamp is there
  tools.print(`ok: ${size} leaves existed at ${time.toISOString()}, says ${written}.tsr`);
  return true;
}

/** Returns the checkpoints in a witness's file, oldest first, and the epochs that the auditor has acknowledged. */
async function allSeen({ readText }: LogTools, file: string): Promise<{
  readonly checkpoints: readonly string[];
  readonly acknowledged: readonly string[];
}> {
  const lines = (await readText(file)).split("\n").filter((line) => line !== "");
  return {
    checkpoints: lines.filter((line) => !line.startsWith(ACKNOWLEDGED)),
    acknowledged: lines.flatMap((line) =>
      line.startsWith(ACKNOWLEDGED) ? line.slice(ACKNOWLEDGED.length) : []
    ),
  };
}

/** Its signature was verified when it was added. Its key may be retired since. */
function seenBefore(jwt: string): Checkpoint {
  const checkpoint = readCheckpoint(decodeJwt(jwt));
  if (checkpoint === undefined) throw new Error("a line of the file is no checkpoint");
  return checkpoint;
}

async function newest(tools: LogTools, url: string | undefined): Promise<string> {
  const { status, text } = await getOperation(tools, url, "/log/checkpoint");
  if (status === 404) throw new Error("the log has no checkpoint yet");
  return z.object({ Data: z.object({ Checkpoint: z.string() }) }).parse(JSON.parse(text)).Data.Checkpoint;
}

async function proofOf(
  tools: LogTools,
  url: string | undefined,
  from: number,
  to: number,
): Promise<readonly Hash[] | undefined> {
  const { status, text } = await getOperation(tools, url, `/log/consistency?from=${from}&to=${to}`);
  if (status === 404) return undefined;
  const { Data } = z.object({ Data: z.object({ Proof: z.array(z.string()) }) }).parse(JSON.parse(text));
  return Data.Proof.flatMap((hash) => asHash(hash) ?? []);
}

async function fetchKeys(
  { fetch, deadlineMs = DEADLINE_MS }: LogTools,
  issuer: string,
): Promise<JSONWebKeySet> {
  const signal = AbortSignal.timeout(deadlineMs);
  const response = await fetch(`${issuer}/jwks`, { signal }).catch((error: Error) => {
    throw new Error(`${issuer}/jwks does not answer: ${error.message}`);
  });
  if (!response.ok) throw new Error(`${issuer}/jwks answered ${response.status}`);
  return await response.json() as JSONWebKeySet;
}

if (import.meta.main) {
  await runProgram(USAGE, async (args, print) =>
    await logCommand(args, {
      environment: await operatorEnvironment(args),
      readText: (path) =>
        Deno.readTextFile(path).catch((error) => {
          if (error instanceof Deno.errors.NotFound) return "";
          throw error;
        }),
      appendText: (path, text) => Deno.writeTextFile(path, text, { append: true }),
      writeBytes: (path, bytes) => Deno.writeFile(path, bytes),
      fetch,
      print,
    }));
}
