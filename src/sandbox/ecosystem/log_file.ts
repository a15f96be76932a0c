/** Writes the log lines of all parts of the sandbox to one file, which keeps the terminal readable. */

/** An open log. */
export interface LogFile {
  write(line: string): void;
  /** Logs an unexpected error of a part that has no log of its own. */
  failure(where: string, error: unknown): void;
  close(): void;
}

/** A larger log is truncated at the next start, bytes. */
const MAX_KEPT_BYTES = 10_000_000;

/** Opens the log for appending. Each line is written immediately, so that a crash does not lose the last one. */
export async function openLogFile(path: string): Promise<LogFile> {
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
