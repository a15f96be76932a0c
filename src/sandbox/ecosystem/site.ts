/**
 * Reserves the directory and the ports of a sandbox and provides what all its parts share. Both are locked before any
 * file is changed, so that a failed start changes no data.
 */
import { z } from "zod";
import { type Addresses, addressesAt, freeLoopbackHosts, PLATFORM_PORTS } from "./addresses.ts";
import { CannotStart } from "./cannot_start.ts";
import { openSandboxClock, type SandboxClock } from "./clock.ts";
import {
  asJson,
  makePrivateFolder,
  readIfAny,
  removeIfAny,
  type SandboxFiles,
  sandboxFiles,
  writeSecret,
} from "./sandbox_files.ts";
import { type Made, openState } from "./sandbox_state.ts";

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
  running.defer(() => lock.close());
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

/** The log lines of all parts of the sandbox in one file, which keeps the terminal readable. */
interface LogFile {
  write(line: string): void;
  /** Logs an unexpected error of a part that has no log of its own. */
  failure(where: string, error: unknown): void;
  close(): void;
}

/** A larger log is truncated at the next start, bytes. */
const MAX_KEPT_BYTES = 10_000_000;

/** Opens the log for appending. Each line is written immediately, so that a crash does not lose the last one. */
async function openLogFile(path: string): Promise<LogFile> {
  const file = await Deno.open(path, { create: true, append: true, mode: 0o600 });
  if ((await file.stat()).size > MAX_KEPT_BYTES) await file.truncate();
  const encoder = new TextEncoder();
  let open = true;
  function write(line: string): void {
    if (!open) return;
    try {
      file.writeSync(encoder.encode(`${line}\n`));
    } catch {
      // a full disk must not fail requests
    }
  }
  return {
    write,
    failure(where, error): void {
      const what = error instanceof Error ? error.stack ?? error.message : String(error);
      write(JSON.stringify({ at: new Date().toISOString(), level: "error", event: `${where}.failed`, what }));
    },
    close(): void {
      open = false;
      file.close();
    },
  };
}

const RETRY_MS = 100;

/**
 * Locks a directory for this process, waiting up to `patienceMs` for a sandbox that is just stopping. The lock belongs to
 * the open file, so the operating system releases it when the process ends. A leftover lock file is harmless.
 * @throws {CannotStart} if another sandbox holds it
 */
async function lockDirectory(
  directory: string,
  lockFile: string,
  patienceMs: number,
): Promise<Pick<Deno.FsFile, "close">> {
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
  return file;
}

/** Secrets between the parts of one sandbox: created at the first start, readable only by their owner. */
export interface Secrets {
  /** Bearer token of the directory's administration API. */
  readonly directoryAdminToken: string;
  /** The secret with which the front door authenticates to the platform (Decision A8). */
  readonly proxySecret: string;
}

const secret = z.string().min(32);
const schema = z.object({ directoryAdminToken: secret, proxySecret: secret });

async function openSecrets(files: SandboxFiles): Promise<Secrets> {
  const kept = await readIfAny(files.secrets);
  if (kept !== undefined) return schema.parse(JSON.parse(kept));
  const secrets = { directoryAdminToken: newSecret(), proxySecret: newSecret() };
  await writeSecret(files.secrets, asJson(secrets));
  return secrets;
}

function newSecret(): string {
  return crypto.getRandomValues(new Uint8Array(32)).toBase64({ alphabet: "base64url", omitPadding: true });
}
