/** The sources of the configuration, and the files that it names. */
import { fileFaults, type FileModes } from "./file_modes.ts";

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
