/** Makes files that the user of the process alone may open. */
import { open } from "node:fs/promises";
import { hasCode } from "../kernel/error_code.ts";

/**
 * Makes an empty file unless it exists. An existing one is not opened: to close it would release the process's locks
 * on it (POSIX, `fcntl`).
 *
 * @param path of the database, for the message
 * @throws {Error} in one sentence
 */
export async function makeOwnFile(path: string, file: string): Promise<void> {
  try {
    await (await open(file, "wx", 0o600)).close();
  } catch (error) {
    if (hasCode(error, "EEXIST")) return;
    throw new Error(
      `The database ${path} cannot be opened: ${error instanceof Error ? error.message : error}`,
    );
  }
}

/** Whether a call of `node:fs` failed because the file does not exist. */
export function isMissing(error: unknown): boolean {
  return hasCode(error, "ENOENT");
}
