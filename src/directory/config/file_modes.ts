/**
 * The sources of the configuration, and the files that it names: in those of a trust root, permissions beyond their owner
 * are an error.
 */
import { isHandedOver } from "../../base/http/secret_files.ts";

/** The sources of the configuration: variables, files and the time. */
export interface ConfigSource {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A file's text. */
  readonly readFile: (path: string) => Promise<string>;
  /** The modes of a file; undefined if it does not exist. */
  readonly modesOf: (path: string) => Promise<FileModes | undefined>;
  /** Milliseconds. */
  readonly now: number;
  /** Errors that the caller has already found, reported together with the others. */
  readonly elsewhere?: readonly string[];
}

/** A file's text, or "" and a fault if it cannot be read or if its modes are not safe. */
export async function readChecked(
  name: string,
  path: string,
  source: ConfigSource,
  faults: string[],
  kind: "secret" | "trusted",
): Promise<string> {
  try {
    faults.push(...fileFaults(name, path, kind, await source.modesOf(path)));
    return await source.readFile(path);
  } catch {
    faults.push(`${name}: the file ${path} cannot be read by this process`);
    return "";
  }
}

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
