/**
 * Reserves the directory and the ports of a sandbox and provides what all its parts share. Both are locked before any
 * file is changed, so that a failed start changes no data.
 */
import { type Addresses, addressesAt, freeLoopbackHosts, PLATFORM_PORTS } from "./addresses.ts";
import { CannotStart } from "./cannot_start.ts";
import { openSandboxClock, type SandboxClock } from "./clock.ts";
import { lockDirectory } from "./directory_lock.ts";
import { type LogFile, openLogFile } from "./log_file.ts";
import { makePrivateFolder, removeIfAny, type SandboxFiles, sandboxFiles } from "./sandbox_files.ts";
import { type Made, openState } from "./sandbox_state.ts";
import { openSecrets, type Secrets } from "./secrets.ts";

/** A directory and ports that only this process uses. */
export interface Site {
  readonly files: SandboxFiles;
  readonly firstPort: number;
  readonly addresses: Addresses;
  /** Loopback addresses to listen on. */
  readonly hosts: readonly string[];
  readonly secrets: Secrets;
  /** Whether participants are still to be admitted. */
  readonly made: Made;
  readonly log: LogFile;
  readonly clock: SandboxClock;
}

/**
 * Reserves a site. Cleanup is deferred to `running`.
 * @throws {CannotStart} if a port or the directory is in use, or the directory is not usable
 */
export async function takeSite(
  { port, dir, patienceMs = 0, isPlatformElsewhere = false }: {
    readonly port: number;
    readonly dir: string;
    readonly patienceMs?: number | undefined;
    readonly isPlatformElsewhere?: boolean;
  },
  running: AsyncDisposableStack,
): Promise<Site> {
  const files = sandboxFiles(dir);
  const lock = await requireUsable(dir, async () => {
    await makePrivateFolder(dir);
    return await lockDirectory(dir, files.lock, patienceMs);
  });
  running.defer(() => lock.release());
  const hosts = freeLoopbackHosts(port, isPlatformElsewhere ? PLATFORM_PORTS : 0);
  return await requireUsable(dir, async () => {
    await removeIfAny(files.endpoints); // left by a sandbox that was killed
    const made = await openState(files, port);
    const secrets = await openSecrets(files);
    const clock = await openSandboxClock(files.clock);
    const log = await openLogFile(files.log);
    running.defer(() => log.close());
    return { files, firstPort: port, addresses: addressesAt(port), hosts, secrets, made, log, clock };
  });
}

/** Turns a file system error into one sentence. */
async function requireUsable<T>(dir: string, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    if (!isFileRejection(error)) throw error;
    throw new CannotStart(
      `The directory ${dir} cannot be used (${error.message}): set SANDBOX_DIR to another directory.`,
    );
  }
}

function isFileRejection(error: unknown): error is Error {
  return error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.NotADirectory ||
    error instanceof Deno.errors.AlreadyExists || error instanceof Deno.errors.NotFound ||
    error instanceof Deno.errors.NotCapable ||
    // Deno has no error class for a read-only or full file system.
    (error instanceof Error && /\(os error \d+\)/.test(error.message));
}
