/** Writes `docs/storage.md`. `deno task storage` formats it afterwards. */
import { storageDocument } from "./storage_document.ts";

if (import.meta.main) {
  await Deno.writeTextFile(new URL("../../../docs/storage.md", import.meta.url), storageDocument());
}
