/** Whether the process may open as many files as its connections need. Without this check it would end at the limit. */

/** The database, the log, the runtime's own files, and connections that the program opens on its own account. */
const RESERVED = 100;

/**
 * Opens a file or folder that often for a moment, because Deno reads the limit (`/proc/self/limits`) only with all permissions.
 *
 * @param variable sets the number of connections
 * @param connections may be open at once, incoming and outgoing
 * @param path of a file or folder; without the right to open it, nothing is known
 * @returns what is wrong, for an operator
 */
export function openFilesFaults(variable: string, connections: number, path: string): string[] {
  const needed = connections + RESERVED;
  const opened: Deno.FsFile[] = [];
  try {
    while (opened.length < needed) opened.push(Deno.openSync(path));
    return [];
  } catch (error) {
    if (!isFileLimit(error)) return [];
    return [
      `${variable}: needs ${needed} more open files, and the limit leaves ${opened.length}; ` +
      `raise the limit (LimitNOFILE, ulimit -n) or set fewer connections`,
    ];
  } finally {
    for (const one of opened) one.close();
  }
}

function isFileLimit(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "EMFILE" || error.code === "ENFILE");
}
