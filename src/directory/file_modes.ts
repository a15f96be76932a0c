/** Who may open the files of a trust root: what their modes allow beyond their owner is a fault. */

/** POSIX modes; null if the system has none. */
export interface FileModes {
  readonly file: number | null;
  /** The folder that the file is in. */
  readonly folder: number | null;
}

const GROUP_OR_OTHERS = 0o077;
const WRITE = 0o022;

/**
 * What is wrong with the modes of a file, in words that begin with the variable that names it.
 *
 * @param kind `secret`: only the owner may open it; `trusted`: only the owner may change it
 */
export function fileFaults(
  variable: string,
  path: string,
  kind: "secret" | "trusted",
  modes: FileModes | undefined,
): string[] {
  if (modes === undefined) return [];
  const faults: string[] = [];
  if (kind === "secret" && allows(modes.file, GROUP_OR_OTHERS)) {
    faults.push(`${variable}: group or others may open ${path}; chmod 600 ${path}`);
  }
  if (kind === "trusted" && allows(modes.file, WRITE)) {
    faults.push(`${variable}: group or others may write ${path}; chmod 644 ${path}`);
  }
  // Who may write to the folder can put another file in its place.
  if (allows(modes.folder, WRITE)) {
    faults.push(`${variable}: group or others may write to the folder of ${path}; chmod 700 that folder`);
  }
  return faults;
}

function allows(mode: number | null, bits: number): boolean {
  return mode !== null && (mode & bits) !== 0;
}
