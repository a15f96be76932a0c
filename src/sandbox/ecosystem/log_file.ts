/** Where the lines of everybody in the sandbox go: one file, so that the terminal stays readable. */

/** An open log. */
export interface LogFile {
  write(line: string): void;
  /** An unexpected error of a part that has no log of its own. */
  failure(where: string, error: unknown): void;
  close(): void;
}

/** A log larger than this at a start begins anew, bytes. */
const MAX_KEPT_BYTES = 10_000_000;

/** Opens the log at its end. Each line is written at once, so that the last one before a crash is there. */
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
      // a full disk loses lines, not requests
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
