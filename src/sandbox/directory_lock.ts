/**
 * One sandbox per directory. The lock belongs to the open file, so the operating system releases it however
 * the process ends; a leftover lock file means nothing.
 */
import { CannotStart } from "./cannot_start.ts";

/** A held lock. */
export interface DirectoryLock {
  release(): void;
}

/**
 * Locks a directory for this process.
 * @throws {CannotStart} when another sandbox holds it.
 */
export async function lockDirectory(directory: string, lockFile: string): Promise<DirectoryLock> {
  const file = await Deno.open(lockFile, { create: true, write: true, mode: 0o600 });
  if (!await file.tryLock(true)) {
    file.close();
    throw new CannotStart(
      `A sandbox already runs on the directory ${directory}: stop it, or set SANDBOX_DIR to another directory.`,
    );
  }
  return { release: () => file.close() };
}
