/** `docs/storage.md` says what the declarations of the records say. */
import { assertEquals } from "@std/assert";
import { storageDocument } from "../../scripts/upkeep/storage/storage_document.ts";
import { directoryRecords } from "../../src/directory/process/records.ts";
import { platformRecords } from "../../src/platform/process/records.ts";

/** The words of a document, whatever the widths of its tables and lines. */
function wordsOf(text: string): readonly string[] {
  return text.replaceAll(/-{3,}/g, "---").split(/\s+/);
}

Deno.test("docs/storage.md is current: if this fails, run `deno task storage`", async () => {
  const document = await Deno.readTextFile(new URL("../../docs/storage.md", import.meta.url));
  assertEquals(wordsOf(document), wordsOf(storageDocument()));
});

Deno.test("each record is declared once", () => {
  const names = [...platformRecords, ...directoryRecords].map(({ name }) => name);
  assertEquals(names.length, new Set(names).size);
});
