/** Each generated page says what the declarations say. */
import { assertEquals } from "@std/assert";
import { steps } from "support/steps.ts";
import { DOCUMENTS } from "../../scripts/upkeep/documents/main.ts";
import { directoryRecords } from "../../src/directory/process/records.ts";
import { platformRecords } from "../../src/platform/process/records.ts";

/** The words of a document, whatever the widths of its tables and lines. */
function splitWords(text: string): readonly string[] {
  return text.replaceAll(/-{3,}/g, "---").trim().split(/\s+/);
}

Deno.test("generated pages are current: if one is not, run the task of its name [RSN1]", async (t) => {
  await steps(t, DOCUMENTS, async ({ page, text }) => {
    const document = await Deno.readTextFile(new URL(`../../${page}`, import.meta.url));
    assertEquals(splitWords(document), splitWords(await text()));
  });
});

Deno.test("each record is declared once", () => {
  const names = [...platformRecords, ...directoryRecords].map(({ name }) => name);
  assertEquals(names.length, new Set(names).size);
});
