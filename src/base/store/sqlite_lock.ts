/** The lock of a `node:sqlite` file: one process owns it. */
import type { DatabaseSync } from "node:sqlite";
import { makeOwnFile } from "./own_file.ts";
import { LOCKED } from "./sqlite_failure.ts";

export interface OwnerLock {
  release(): void;
}

type Open = (path: string) => DatabaseSync;

/**
 * Locks the file for one process: two would each miss the other's figures, limits and background work. `node:` has no
 * lock of files, so a transaction that never ends locks an empty database beside it. The file itself stays readable to
 * a backup. The operating system releases the lock however the process ends, and started programs do not inherit it.
 *
 * @throws {Error} in one sentence
 */
export async function lockFile(path: string, open: Open): Promise<OwnerLock> {
  await makeOwnFile(path, `${path}.lock`);
  const database = open(`${path}.lock`);
  try {
    database.exec("begin exclusive");
  } catch (error) {
    database.close();
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(
      why === LOCKED
        ? `The database ${path} is in use by another process; stop that one first.`
        : `The database ${path} cannot be opened: ${why}`,
    );
  }
  return { release: () => database.close() };
}
