/** The file beside a database that names the database that was last in use here, and its newest commit. */
import { writeSync } from "node:fs";
import { type FileHandle, open, readFile, rename } from "node:fs/promises";
import { setTimeout } from "node:timers";
import type { LastSeen } from "./store_identity.ts";
import { isMissing } from "./own_file.ts";

export interface LastSeenFile {
  /** Records that the database has this commit. The file is written within a second. */
  note(version: number): void;
  /** Writes the newest commit and closes the file. */
  close(): Promise<void>;
}

const EVERY_MS = 1000;
const FORM = /^\{"id":"([0-9a-f-]{36})","version":"([0-9a-f]{16})"\}\n$/;

/**
 * Reads the file. Returns undefined if it does not exist.
 *
 * @throws {Error} in one sentence
 */
export async function readLastSeen(path: string): Promise<LastSeen | undefined> {
  let text: string;
  try {
    text = await readFile(`${path}.id`, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw new Error(`The file ${path}.id cannot be read: ${error instanceof Error ? error.message : error}`);
  }
  const [, id, version] = FORM.exec(text) ?? [];
  if (id === undefined || version === undefined) {
    throw new Error(
      `The file ${path}.id is damaged. Make sure that ${path} is the right database, then delete ${path}.id.`,
    );
  }
  return { id, version: parseInt(version, 16) };
}

/**
 * Writes the file and leaves it open, because a program drops its permission to open files after its start. The text
 * always has the same length and overwrites the former one, so a full disk does not matter.
 */
export async function openLastSeen(path: string, first: LastSeen): Promise<LastSeenFile> {
  const file = await writeFirst(path, first).catch((error: Error) => {
    throw new Error(`The file ${path}.id cannot be written: ${error.message}`);
  });
  let latest = first.version;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isWriting = false;
  let isClosed = false;
  // One write at a time: the text of a second one could end up behind that of the first.
  const schedule = (): void => {
    if (isWriting || isClosed) return;
    timer ??= setTimeout(() => void renew(), EVERY_MS).unref();
  };
  // If the write fails, the file names an older commit. That check is weaker but not wrong.
  const renew = async (): Promise<void> => {
    timer = undefined;
    isWriting = true;
    const version = latest;
    await write(file, { ...first, version }).catch(() => {});
    isWriting = false;
    if (latest > version) schedule();
  };
  return {
    note(version) {
      latest = Math.max(latest, version);
      schedule();
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      if (!isWriting) writeAtOnce(file, { ...first, version: latest });
      await file.close();
    },
  };
}

/** An interrupted start or a full disk must not leave an empty file, because the next start would reject it. */
async function writeFirst(path: string, first: LastSeen): Promise<FileHandle> {
  const known = await open(`${path}.id`, "r+").catch(nullIfMissing);
  const partial = `${path}.id.partial`;
  const file = known ?? await open(partial, "w", 0o600);
  try {
    await write(file, first);
    await file.sync();
    if (known === null) await rename(partial, `${path}.id`);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

function nullIfMissing(error: unknown): null {
  if (isMissing(error)) return null;
  throw error;
}

function writeAtOnce(file: FileHandle, seen: LastSeen): void {
  try {
    writeSync(file.fd, encodeLastSeen(seen), 0, undefined, 0);
  } catch {
    // see `renew`
  }
}

async function write(file: FileHandle, seen: LastSeen): Promise<void> {
  await file.write(encodeLastSeen(seen), 0, undefined, 0);
}

function encodeLastSeen({ id, version }: LastSeen): Uint8Array {
  const hex = version.toString(16).padStart(16, "0");
  return new TextEncoder().encode(`{"id":"${id}","version":"${hex}"}\n`);
}
