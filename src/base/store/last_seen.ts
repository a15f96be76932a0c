/** The file beside a database that names the database that was last in use here, and its newest commit. */
import type { LastSeen } from "./store_identity.ts";

export interface LastSeenFile {
  /** Records that the database has this commit. The file is written within a second. */
  note(version: number): void;
  /** Writes the newest commit and closes the file. */
  close(): void;
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
    text = await Deno.readTextFile(`${path}.id`);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
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
    timer ??= setTimeout(() => void renew(), EVERY_MS);
    Deno.unrefTimer(timer);
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
    close() {
      isClosed = true;
      clearTimeout(timer);
      if (!isWriting) writeAtOnce(file, { ...first, version: latest });
      file.close();
    },
  };
}

/** An interrupted start or a full disk must not leave an empty file, because the next start would reject it. */
async function writeFirst(path: string, first: LastSeen): Promise<Deno.FsFile> {
  const known = await Deno.open(`${path}.id`, { write: true }).catch(nullIfMissing);
  const partial = `${path}.id.partial`;
  const file = known ?? await Deno.open(partial, { create: true, truncate: true, write: true, mode: 0o600 });
  try {
    await write(file, first);
    await file.sync();
    if (known === null) await Deno.rename(partial, `${path}.id`);
    return file;
  } catch (error) {
    file.close();
    throw error;
  }
}

function nullIfMissing(error: unknown): null {
  if (error instanceof Deno.errors.NotFound) return null;
  throw error;
}

function writeAtOnce(file: Deno.FsFile, seen: LastSeen): void {
  try {
    file.seekSync(0, Deno.SeekMode.Start);
    file.writeSync(encoded(seen));
  } catch {
    // see `renew`
  }
}

async function write(file: Deno.FsFile, seen: LastSeen): Promise<void> {
  await file.seek(0, Deno.SeekMode.Start);
  await file.write(encoded(seen));
}

function encoded({ id, version }: LastSeen): Uint8Array {
  const hex = version.toString(16).padStart(16, "0");
  return new TextEncoder().encode(`{"id":"${id}","version":"${hex}"}\n`);
}
