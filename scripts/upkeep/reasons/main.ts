/** Writes `docs/reasons.md`. `deno task reasons` formats it afterwards. */
import { reasonsDocument } from "./reasons_document.ts";

if (import.meta.main) {
  await Deno.writeTextFile(new URL("../../../docs/reasons.md", import.meta.url), reasonsDocument());
}
