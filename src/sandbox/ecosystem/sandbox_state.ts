/**
 * What a directory already holds, and for which port. Addresses are part of everything the directory service and
 * the platform store, so each port has data of its own: data of another port is set aside under `port-<n>/` and
 * brought back when that port is used again. Data of a first start that never ended is made anew.
 */
import { z } from "zod";
import { CannotStart } from "./cannot_start.ts";
import {
  asJson,
  BANK_CODES,
  makePrivateFolder,
  readIfAny,
  removeIfAny,
  type SandboxFiles,
  writePublic,
} from "./sandbox_files.ts";

const stateSchema = z.object({ port: z.int(), complete: z.boolean() });
type State = z.infer<typeof stateSchema>;

/** Whether participants are still to be onboarded and registered. */
export type Made = "complete" | "incomplete";

/**
 * Brings the directory into the state of a port. Every step can be repeated after an interruption: the state
 * file leaves last and arrives first.
 * @throws {CannotStart} when the directory holds files that are not a sandbox's.
 */
export async function openState(files: SandboxFiles, port: number): Promise<Made> {
  let state = await readState(files);
  if (state === undefined && await exists(files.participants)) {
    throw new CannotStart(
      `The directory ${files.directory} holds files that are not a sandbox's: set SANDBOX_DIR to another directory.`,
    );
  }
  if (state !== undefined && state.port !== port) {
    await setAside(files, state.port);
    state = undefined;
  }
  if (state === undefined || await exists(asideFolder(files, port))) {
    await bringBack(files, port);
    state = await readState(files);
  }
  if (state?.complete) return "complete";
  await Promise.all(portBound(files).map(removeIfAny));
  await writeState(files, { port, complete: false });
  return "incomplete";
}

/** From now on this data is kept. */
export function markComplete(files: SandboxFiles, port: number): Promise<void> {
  return writeState(files, { port, complete: true });
}

/** Everything that is about addresses, without the state file. */
function portBound(files: SandboxFiles): readonly string[] {
  const databases = [files.platformStore, files.directoryStore, ...BANK_CODES.map(files.bankBook)];
  const stores = databases.flatMap((path) => [path, `${path}-wal`, `${path}-shm`, `${path}.id`]);
  return [...stores, files.participants, files.clock];
}

async function setAside(files: SandboxFiles, port: number): Promise<void> {
  const aside = asideFolder(files, port);
  await makePrivateFolder(aside);
  for (const path of [...portBound(files), files.state]) await moveIfAny(path, within(aside, path));
}

async function bringBack(files: SandboxFiles, port: number): Promise<void> {
  const aside = asideFolder(files, port);
  for (const path of [files.state, ...portBound(files)]) await moveIfAny(within(aside, path), path);
  await removeIfAny(aside);
}

function asideFolder(files: SandboxFiles, port: number): string {
  return `${files.directory}/port-${port}`;
}

function within(folder: string, path: string): string {
  return `${folder}/${path.slice(path.lastIndexOf("/") + 1)}`;
}

async function readState(files: SandboxFiles): Promise<State | undefined> {
  const text = await readIfAny(files.state);
  if (text === undefined) return undefined;
  try {
    return stateSchema.parse(JSON.parse(text));
  } catch {
    throw new CannotStart(`The file ${files.state} cannot be read: set SANDBOX_DIR to another directory.`);
  }
}

function writeState(files: SandboxFiles, state: State): Promise<void> {
  return writePublic(files.state, asJson(state));
}

async function moveIfAny(from: string, to: string): Promise<void> {
  try {
    await Deno.rename(from, to);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
