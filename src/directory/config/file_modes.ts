/** Checks the file modes of a trust root's files: permissions beyond their owner are an error. */

import { isHandedOver } from "../../base/http/secret_files.ts";

/** POSIX modes; null if the system has none. */
export interface FileModes {
  readonly file: number | null;
  /** Mode of the folder that contains the file. */
  readonly folder: number | null;
}

const GROUP_OR_OTHERS = 0o077;
const WRITE = 0o022;

/**
 * Returns the errors in the modes of a file. Each begins with the variable that names it.
 *
 * @param kind `secret`: only the owner may read it; `trusted`: only the owner may change it
 */
export function fileFaults(
  variable: string,
  path: string,
  kind: "secret" | "trusted",
  modes: FileModes | undefined,
): string[] {
  if (modes === undefined) return [];
  if (isHandedOver(path)) return allows(modes.file, WRITE) ? [writable(variable, path)] : [];
  const faults: string[] = [];
  if (kind === "secret" && allows(modes.file, GROUP_OR_OTHERS)) {
    faults.push(`${variable}: group or others may open ${path}; chmod 600 ${path}`);
  }
  if (kind === "trusted" && allows(modes.file, WRITE)) {
    faults.push(writable(variable, path));
  }
  // A user who can write to the folder can replace the file.
  if (allows(modes.folder, WRITE)) {
    faults.push(`${variable}: group or others may write to the folder of ${path}; chmod 700 that folder`);
  }
  return faults;
}

function writable(variable: string, path: string): string {
  return `${variable}: group or others may write ${path}; chmod 644 ${path}`;
}

function allows(mode: number | null, bits: number): boolean {
  return mode !== null && (mode & bits) !== 0;
}
