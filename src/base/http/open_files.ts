/**
 * Checks at start that the process may open as many files as its connections need. Otherwise it would fail when it
 * reaches the limit.
 */
import { closeSync, openSync } from "node:fs";
import { hasCode } from "../kernel/error_code.ts";

/** Files that are opened after the start, beside connections: the database, the log, and outgoing connections. */
export const RESERVED_FILES = 100;

/**
 * Opens a file or folder that many times for a moment. Reading the limit from `/proc/self/limits` would need all
 * permissions.
 *
 * @param variable name of the configuration variable that sets the number of connections
 * @param connections open at once, incoming and outgoing
 * @param path of a file or folder. Without permission to open it, the check is skipped.
 * @returns faults for the operator
 */
export function openFilesFaults(variable: string, connections: number, path: string): string[] {
  const needed = connections + RESERVED_FILES;
  const opened: number[] = [];
  try {
    while (opened.length < needed) opened.push(openSync(path, "r"));
    return [];
  } catch (error) {
    if (!hasCode(error, "EMFILE", "ENFILE")) return [];
    return [
      `${variable}: needs ${needed} more open files, and the limit leaves ${opened.length}; ` +
      `raise the limit (LimitNOFILE, ulimit -n) or set fewer connections`,
    ];
  } finally {
    for (const one of opened) closeSync(one);
  }
}
