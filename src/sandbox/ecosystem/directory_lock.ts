/**
 * Allows one sandbox per directory. The lock belongs to the open file, so the operating system releases it when the
 * process ends. A leftover lock file is harmless.
 */
import { CannotStart } from "./cannot_start.ts";

/** A held lock. */
export interface DirectoryLock {
  release(): void;
}

const RETRY_MS = 100;

/**
 * Locks a directory for this process, waiting up to `patienceMs` for a sandbox that is just stopping.
 * @throws {CannotStart} if another sandbox holds it
 */
export async function lockDirectory(
  directory: string,
  lockFile: string,
  patienceMs: number,
): Promise<DirectoryLock> {
  const file = await Deno.open(lockFile, { create: true, write: true, mode: 0o600 });
  for (let waited = 0; !await file.tryLock(true); waited += RETRY_MS) {
    if (waited >= patienceMs) {
      file.close();
      throw new CannotStart(
        `A sandbox already runs on the directory ${directory}: stop it, or set SANDBOX_DIR to another directory.`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  return { release: () => file.close() };
}
