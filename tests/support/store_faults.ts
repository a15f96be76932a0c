/** Faults of a database file, made by the operating system while the platform runs on it. */
import { DatabaseSync } from "node:sqlite";

/** A fault that lasts until it is mended. */
export interface Fault {
  mend(): Promise<void>;
}

/**
 * Starts a program so that a write beyond its limit of file sizes fails (EFBIG, "disk I/O error") instead of ending it.
 * Deno itself leaves the signal as it finds it.
 */
export function withoutSizeSignal(command: readonly string[]): string[] {
  return ["/bin/sh", "-c", `trap '' XFSZ; exec "$0" "$@"`, ...command];
}

/** From now on every write of the process to a file fails. Its pipes and sockets work as before. */
export async function failWrites(pid: number): Promise<Fault> {
  const limit = async (size: string): Promise<void> => {
    const args = ["--pid", String(pid), `--fsize=${size}:unlimited`];
    const { success, stderr } = await new Deno.Command("prlimit", { args }).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
  };
  await limit("1");
  return { mend: () => limit("unlimited") };
}

/** Whether this machine lets tests mount file systems; says loudly if not. */
export function canMount(): boolean {
  const { success } = new Deno.Command("unshare", { args: ["-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"] })
    .outputSync();
  const words = "SKIPPED, NOT TESTED: a full disk. Mounting a file system needs root and util-linux.\n";
  if (!success) Deno.stderr.writeSync(new TextEncoder().encode(words));
  return success;
}

/** Starts a program with a file system of 3 MB at `folder`, which this program and its children alone see. */
export function onSmallDisk(folder: string, command: readonly string[]): string[] {
  const script = `mount -t tmpfs -o size=3m,mode=700 tmpfs "$0" && exec "$@"`;
  return ["unshare", "-m", "/bin/sh", "-c", script, folder, ...command];
}

/** Fills the small disk of the process up. */
export async function fillDisk(pid: number, folder: string): Promise<Fault> {
  const inside = async (...args: readonly string[]): Promise<string> => {
    const entered = ["-t", String(pid), "-m", ...args];
    const { stderr } = await new Deno.Command("nsenter", { args: entered }).output();
    return new TextDecoder().decode(stderr);
  };
  const said = await inside("dd", "if=/dev/zero", `of=${folder}/fill`, "bs=4k");
  if (!said.includes("No space left")) throw new Error(said);
  return { mend: async () => void await inside("rm", `${folder}/fill`) };
}

const LOCK_MS = 10_000;

/** Takes the write lock of a database, as a shell or a migration does. */
export function lockDatabase(path: string): Fault {
  const database = new DatabaseSync(path, { timeout: LOCK_MS }); // the platform may be writing
  database.exec("BEGIN IMMEDIATE");
  return {
    mend(): Promise<void> {
      database.close();
      return Promise.resolve();
    },
  };
}
