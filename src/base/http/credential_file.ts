/** The file of a list of credentials, on disk. Only its owner may open it. */
import { stat } from "node:fs/promises";
import type { WatchedFile } from "./credentials.ts";

/** @param read reads the text; it throws if other users may open the file */
export function credentialFile(path: string, read: (path: string) => Promise<string>): WatchedFile {
  return {
    async version(): Promise<string> {
      const { mtimeMs, ino, size } = await stat(path);
      return [mtimeMs, ino, size].join(" ");
    },
    text: () => read(path),
  };
}
