/** The declarations of a package have every type in writing, and none of a library that the package lacks. */
import { assertEquals, assertRejects } from "@std/assert";
import { declarationsOf } from "../../../../scripts/upkeep/packages/client_package.ts";
import { openTemporaryFolder } from "testing/temporary_folder.ts";

async function declared(text: string): Promise<readonly string[]> {
  await using dir = await openTemporaryFolder();
  await Deno.writeTextFile(`${dir.path}/entry.ts`, text);
  await Deno.writeTextFile(`${dir.path}/other.ts`, "export type Other = string;\n");
  return [...(await declarationsOf(dir.path, ["entry.ts"], ["contained"], ["external"])).keys()];
}

Deno.test("a declaration is made of each file that the types of an entry reach", async () => {
  const written = 'import type { Other } from "./other.ts";\nexport const one = (): Other => "a";\n';
  assertEquals(await declared(written), ["entry.d.ts", "other.d.ts"]);
  assertEquals(await declared('export type { A } from "contained";\nexport type { B } from "external";\n'), [
    "entry.d.ts",
  ]);
});

Deno.test("a type that must be inferred, or of a library that the package lacks, stops the build", async () => {
  await assertRejects(() => declared("export const one = () => Math.random();\n"), Error, "entry.ts");
  await assertRejects(
    () => declared('export type { ZodType } from "zod";\n'),
    Error,
    "The types of entry.ts name zod",
  );
});
