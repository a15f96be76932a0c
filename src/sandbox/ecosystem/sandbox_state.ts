/**
 * Checks which data a directory holds and for which port. The stored data of the directory service and the platform
 * contains addresses, so each port has its own data: data of another port is moved to `port-<n>/` and restored when
 * that port is used again. Data of an incomplete first start is recreated.
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

/** Whether the participants have been onboarded and registered. */
export type Made = "complete" | "incomplete";

/**
 * Prepares the directory for a port. Every step can be repeated after an interruption: the state file is moved out last
 * and moved in first.
 * @throws {CannotStart} if the directory contains files of something else than a sandbox.
 */
export async function openState(files: SandboxFiles, port: number): Promise<Made> {
  let state = await readState(files);
  if (state === undefined && await exists(files.participants)) {
    throw new CannotStart(
      `The directory ${files.directory} holds files that are not a sandbox's: set SANDBOX_DIR to another directory.`,
    );
  }
  if (state !== undefined && state.port !== port) {
    await parkFiles(files, state.port);
    state = undefined;
  }
  if (state === undefined || await exists(parkedFolder(files, port))) {
    await unparkFiles(files, port);
    state = await readState(files);
  }
  if (state?.complete) return "complete";
  await Promise.all(portBound(files).map(removeIfAny));
  await writeState(files, { port, complete: false });
  return "incomplete";
}

/** Records that the first start is complete, so that the data is kept. */
export function markComplete(files: SandboxFiles, port: number): Promise<void> {
  return writeState(files, { port, complete: true });
}

/** All files that depend on addresses, without the state file. */
function portBound(files: SandboxFiles): readonly string[] {
  const databases = [
    files.platformStore,
    files.dataKeysStore,
    files.directoryStore,
    ...BANK_CODES.map(files.bankBook),
  ];
  const stores = databases.flatMap((path) => [path, `${path}-wal`, `${path}-shm`, `${path}.id`]);
  return [...stores, files.participants, files.clock];
}

async function parkFiles(files: SandboxFiles, port: number): Promise<void> {
  const parked = parkedFolder(files, port);
  await makePrivateFolder(parked);
  for (const path of [...portBound(files), files.state]) await moveIfAny(path, within(parked, path));
}

async function unparkFiles(files: SandboxFiles, port: number): Promise<void> {
  const parked = parkedFolder(files, port);
  for (const path of [files.state, ...portBound(files)]) await moveIfAny(within(parked, path), path);
  await removeIfAny(parked);
}

function parkedFolder(files: SandboxFiles, port: number): string {
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
