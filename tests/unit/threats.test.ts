/** THREATS.md names files and tests that are there. */
import { assert, assertEquals } from "@std/assert";

const root = new URL("../../", import.meta.url);
const text = (await Deno.readTextFile(new URL("THREATS.md", root))).replaceAll(/\s+/g, " ");

Deno.test("THREATS.md names files that exist", async () => {
  const paths = new Set([...text.matchAll(/`((?:src|scripts|tests)\/[^`]+)`/g)].map(([, path = ""]) => path));
  assert(paths.size > 40, `${paths.size} paths`);
  const missing = [];
  for (const path of paths) {
    if (!await Deno.stat(new URL(path, root)).then(({ isFile }) => isFile, () => false)) missing.push(path);
  }
  assertEquals(missing, []);
});

Deno.test("THREATS.md names tests that exist, by words of their names", async () => {
  const named = [...text.matchAll(/`(tests\/[^`]+)` “([^”]+)”/g)];
  assert(named.length > 50, `${named.length} tests`);
  const missing = [];
  for (const [, path = "", name = ""] of named) {
    const source = await Deno.readTextFile(new URL(path, root)).catch(() => "");
    const names = [...source.matchAll(/["`]((?:[^"`\\\n]|\\.)*)["`]/g)].map(([, found = ""]) => found);
    if (!names.some((found) => found.includes(name))) missing.push(`${path}: ${name}`);
  }
  assertEquals(missing, []);
});
