/** The platform's entry in a runtime without SQLite and without files, as edge runtimes are. */
import { assertEquals } from "@std/assert";
import { openTemporaryFolder } from "testing/temporary_folder.ts";

const ROOT = new URL("../../../../", import.meta.url);

Deno.test("src/platform/process/main.ts can be imported if the runtime has no node:sqlite", async () => {
  await using folder = await openTemporaryFolder();
  const config = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT))) as {
    readonly imports: object;
  };
  await Deno.writeTextFile(`${folder.path}/no_sqlite.ts`, 'throw new Error("this runtime has no SQLite");');
  const map = { imports: { ...config.imports, "node:sqlite": "./no_sqlite.ts" } };
  await Deno.writeTextFile(`${folder.path}/imports.json`, JSON.stringify(map));
  const entry = JSON.stringify(new URL("src/platform/process/main.ts", ROOT));
  await Deno.writeTextFile(
    `${folder.path}/start.ts`,
    `const entry = await import(${entry});
    const sqlite = await import("node:sqlite").catch(({ message }) => message);
    Deno.stdout.writeSync(new TextEncoder().encode([typeof entry.default.fetch, sqlite].join()));`,
  );
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--no-check", "--no-prompt", "--unstable-raw-imports"],
      ...[`--import-map=${folder.path}/imports.json`, `${folder.path}/start.ts`],
    ],
    cwd: ROOT,
  }).output();
  const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
  assertEquals(text(stdout), "function,this runtime has no SQLite", text(stderr));
});
