/** The lint rules about files and expressions: the violations that they find in planted files, and what they accept. */
import { assertEquals } from "@std/assert";
import plugin from "../../../../scripts/upkeep/checks/lint_plugin.ts";
import { ROOT } from "../../../../scripts/upkeep/sources/source_files.ts";
import { brokenLines } from "./planted_file.ts";
import { openTemporaryFolder } from "testing/temporary_folder.ts";

const PATH = "src/base/kernel/x.ts";

Deno.test("house/no-unfinished-work, no-double-cast and no-lone-test find them in every program", () => {
  const lines = [
    "// TO" + "DO later",
    "// FIX" + "ME",
    '// "é" and ü\nthrow new Error("not ' + 'implemented");',
    "const e = f as unknown as string;",
    'Deno.test.only("x", f);',
    'Deno.test({ name: "x", only: true, fn });',
    'const currency = "XXX"; // as unknown as word, .only( here',
    "const o = { only: false }; const p = q as unknown;",
  ];
  for (const path of [PATH, "tests/base/x.test.ts", "scripts/x/main.ts", "examples/x.ts"]) {
    assertEquals(brokenLines("no-unfinished-work", path, ...lines), [1, 2, 4], path);
    assertEquals(brokenLines("no-double-cast", path, ...lines), [5], path);
    assertEquals(brokenLines("no-lone-test", path, ...lines), [6, 7], path);
  }
});

Deno.test("house/file-name wants snake_case and no vague names", () => {
  const vague = ["src/base/kernel/utils.ts", "src/common/x.ts"];
  for (const path of ["src/base/kernel/moneyBag.ts", "src/base/Kernel/money.ts", ...vague]) {
    assertEquals(brokenLines("file-name", path, "a();"), [1], path);
  }
  for (const path of ["tests/base/money.test.ts", "src/base/strict_money.d.ts"]) {
    assertEquals(brokenLines("file-name", path, "a();"), [], path);
  }
});

Deno.test("house/file-header wants a short comment at the top of each file of src", () => {
  const broken = (...lines: readonly string[]): number[] => brokenLines("file-header", PATH, ...lines);
  assertEquals(broken("/** Decides it. */", "", "/** A. */", "export const a = 1;"), []);
  assertEquals(broken("const a = 1;"), [1]);
  assertEquals(broken("/**", ...Array.from({ length: 6 }, () => " * More."), " */"), [1]);
  assertEquals(brokenLines("file-header", "tests/x.test.ts", "const a = 1;"), []);
});

Deno.test("house/file-length and function-length find what is too long", () => {
  const body = (lines: number): string[] => Array.from({ length: lines }, () => "  a();");
  assertEquals(brokenLines("function-length", PATH, "", "function b(): void {", ...body(38), "}"), []);
  assertEquals(brokenLines("function-length", PATH, "", "function b(): void {", ...body(39), "}"), [2]);
  assertEquals(brokenLines("function-length", PATH, "export async function b() {", ...body(39), "}"), [1]);
  for (const path of [PATH, "tests/x.test.ts", "scripts/x/main.ts"]) {
    assertEquals(brokenLines("file-length", path, ...body(400), ""), [], path);
    assertEquals(brokenLines("file-length", path, ...body(401)), [400], path);
  }
});

Deno.test("house/no-deno keeps the runtime out of src, but for the files that may use it", () => {
  const lines = ["const home = Deno.cwd();", '// Deno KV is "Deno"', "let info: Deno.FileInfo;"];
  assertEquals(brokenLines("no-deno", PATH, ...lines), [1, 3]);
  assertEquals(brokenLines("no-deno", "src/base/store/deno_kv.ts", ...lines), []);
  assertEquals(brokenLines("no-deno", "scripts/x/main.ts", ...lines), []);
});

Deno.test("house/no-clock lets src read the time from the injected clock alone; KV's own expiry excepted [FAPI-G20]", () => {
  const lines = [
    "const a = Date.now();",
    "const b = new Date();",
    "const c = performance.now();",
    "const d = new Date(clock()); // Date.now()",
    "const e = { clock: Date.now };",
  ];
  assertEquals(brokenLines("no-clock", PATH, ...lines), [1, 2, 3, 5]);
  assertEquals(brokenLines("no-clock", "src/platform/process/main.ts", ...lines), [1, 2, 3, 5]);
  assertEquals(brokenLines("no-clock", "src/base/kernel/clock.ts", ...lines), []);
  assertEquals(brokenLines("no-clock", "src/base/store/deno_kv.ts", ...lines), []);
});

Deno.test("deno lint applies the plugin, and rejects any, console and casts to it", async () => {
  await using folder = await openTemporaryFolder();
  const lines = [
    "const a: any = 1;",
    "console.log(a as any);",
    "export const b = Deno.cwd() as unknown as number;",
  ];
  await Deno.mkdir(`${folder.path}/src/base/kernel`, { recursive: true });
  await Deno.writeTextFile(`${folder.path}/src/base/kernel/x.ts`, lines.join("\n"));
  await Deno.copyFile(`${ROOT}deno.json`, `${folder.path}/deno.json`);
  for (const part of ["scripts/upkeep/checks", "scripts/upkeep/sources"]) {
    await Deno.mkdir(`${folder.path}/${part}`, { recursive: true });
    for (const { name } of Deno.readDirSync(`${ROOT}${part}`)) {
      await Deno.copyFile(`${ROOT}${part}/${name}`, `${folder.path}/${part}/${name}`);
    }
  }
  const lint = new Deno.Command(Deno.execPath(), { args: ["lint", "--json", "src"], cwd: folder.path });
  const { stdout, success } = await lint.output();
  const { diagnostics } = JSON.parse(new TextDecoder().decode(stdout)) as {
    diagnostics: { code: string; range: { start: { line: number } } }[];
  };
  assertEquals(success, false);
  assertEquals(diagnostics.map(({ code, range }) => `${range.start.line} ${code}`).sort(), [
    "1 house/file-header",
    "1 no-explicit-any",
    "2 no-console",
    "2 no-explicit-any",
    "3 house/no-deno",
    "3 house/no-double-cast",
  ]);
});

Deno.test("every rule of the plugin has a planted violation in these tests", async () => {
  const tests = await Promise.all(
    ["file_rules", "import_rules"].map((name) =>
      Deno.readTextFile(`${ROOT}tests/scripts/upkeep/checks/${name}.test.ts`)
    ),
  );
  const planted = Object.keys(plugin.rules).filter((rule) =>
    tests.join().includes(`brokenLines("${rule}"`) ||
    tests.join().includes(`"${rule}",\n`)
  );
  assertEquals(planted, Object.keys(plugin.rules));
});
