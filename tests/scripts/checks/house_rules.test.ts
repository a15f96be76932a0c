/** The house rules as programs: what `check_imports` and `check_house` see in planted files, and what they let be. */
import { assertEquals } from "@std/assert";
import { commonViolations, permissionViolations, sourceViolations } from "../../../scripts/checks/house.ts";
import { importViolations } from "../../../scripts/checks/imports.ts";
import { importsOf, listFiles, readSource, sourceFile } from "../../../scripts/checks/source_files.ts";

/** The lines of one planted file that break an import rule. */
function brokenImports(path: string, ...lines: readonly string[]): number[] {
  return importViolations([sourceFile(path, lines.join("\n"))])
    .map(({ where }) => Number(where.split(":")[1]));
}

function brokenWords(path: string, ...lines: readonly string[]): string[] {
  return commonViolations(sourceFile(path, lines.join("\n"))).map(({ where }) => where);
}

Deno.test("importsOf sees imports and re-exports of every form, and none in comments and strings", () => {
  const text = [
    'import "./a.ts";',
    'import type { B } from "./b.ts";',
    "import {",
    "  c,",
    "  type D,",
    '} from "./c.ts";',
    'import { type E, type F } from "./e.ts";',
    'export * from "./g.ts";',
    '// import "./no.ts";',
    '/* import "./no.ts"; */',
    "const text = `",
    'import "./no.ts";',
    "${await import('./h.ts')}`;",
    "const pattern = /[\"'`]/;",
    'const i = await import("./i.ts");',
    "const j = await import(text);",
  ].join("\n");
  const found = importsOf(sourceFile("src/x.ts", text));
  assertEquals(found.map(({ line, specifier, typeOnly }) => [line, specifier, typeOnly]), [
    [1, "./a.ts", false],
    [2, "./b.ts", true],
    [3, "./c.ts", false],
    [7, "./e.ts", true],
    [8, "./g.ts", false],
    [13, "./h.ts", false],
    [15, "./i.ts", false],
    [16, "", false],
  ]);
});

Deno.test("check_imports lets a part import itself, lower levels and its written exceptions", () => {
  assertEquals(
    brokenImports(
      "src/platform/payments/create_payment.ts",
      'import { a } from "./payment.ts";',
      'import { b } from "../../base/values/money.ts";',
      'import { c } from "../security/caller.ts";',
      'import { d } from "../consents/consent.ts";',
      'import { e } from "../../base/store/transaction.ts";',
      'import type { Store } from "../../base/store/store.ts";',
      'import type { Config } from "../config.ts";',
    ),
    [],
  );
});

Deno.test("check_imports rejects higher levels, unwritten exceptions and parts without a level", () => {
  assertEquals(brokenImports("src/platform/http/x.ts", 'import { a } from "../security/caller.ts";'), [1]);
  assertEquals(
    brokenImports("src/platform/consents/x.ts", "", 'import type { A } from "../payments/payment.ts";'),
    [
      2,
    ],
  );
  assertEquals(brokenImports("src/base/jose/x.ts", 'import { a } from "../store/transaction.ts";'), [1]);
  assertEquals(brokenImports("src/platform/consents/x.ts", 'import { a } from "../novelty/x.ts";'), [1]);
  assertEquals(brokenImports("src/base/kernel/x.ts", 'import { a } from "../../../tests/x.ts";'), [1]);
});

Deno.test("check_imports keeps database, configuration, jose, Hono and node behind their doors", () => {
  assertEquals(
    brokenImports(
      "src/platform/consents/create_consent.ts",
      'import { openDenoKv } from "../../base/store/deno_kv.ts";',
      'import { Store } from "../../base/store/store.ts";',
      'import { readConfig } from "../config.ts";',
      'import { compactVerify } from "jose";',
      'import type { Context } from "hono";',
      'import { z } from "@hono/zod-openapi";',
      'import https from "node:https";',
    ),
    [1, 2, 3, 4, 5, 6, 7],
  );
  assertEquals(brokenImports("src/platform/consents/routes.ts", 'import type { Context } from "hono";'), []);
  assertEquals(
    brokenImports("src/platform/consents/consent_schema.ts", 'import { z } from "@hono/zod-openapi";'),
    [],
  );
  assertEquals(
    brokenImports(
      "src/platform/consents/consent_schema.ts",
      'import { set } from "../../base/store/transaction.ts";',
    ),
    [1],
  );
  assertEquals(brokenImports("src/base/jose/x.ts", 'import { compactVerify } from "jose";'), []);
});

Deno.test("check_imports keeps the programs apart", () => {
  assertEquals(
    brokenImports(
      "src/sandbox/bank/x.ts",
      'import { a } from "../../client/profile.ts";',
      'import { b } from "../secrets.ts";',
      'import { c } from "jose";',
      'import { d } from "node:https";',
      'import { e } from "../../base/values/money.ts";',
      'import type { F } from "../../platform/profile.ts";',
    ),
    [5, 6],
  );
  assertEquals(brokenImports("src/platform/compose.ts", 'import { a } from "../sandbox/main.ts";'), [1]);
  assertEquals(brokenImports("src/platform/compose.ts", 'import { a } from "../directory/directory.ts";'), [
    1,
  ]);
  assertEquals(brokenImports("src/directory/x.ts", 'import { a } from "../base/jose/rsa_key.ts";'), []);
  assertEquals(brokenImports("src/directory/x.ts", 'import { a } from "../platform/security/caller.ts";'), [
    1,
  ]);
});

Deno.test("check_imports finds store calls outside the stores, barrels and circles", () => {
  assertEquals(brokenImports("src/platform/consents/x.ts", "await deps.store.get<Consent>(key);"), [1]);
  assertEquals(brokenImports("src/platform/consents/consent_store.ts", "await store.get<Consent>(key);"), []);
  assertEquals(brokenImports("src/base/kernel/mod.ts", "export const a = 1;"), [1]);
  assertEquals(brokenImports("src/base/kernel/all.ts", 'export { a } from "./clock.ts";'), [1]);
  const circle = importViolations([
    sourceFile("src/base/kernel/a.ts", 'import { b } from "./b.ts";'),
    sourceFile("src/base/kernel/b.ts", 'import { c } from "./c.ts";'),
    sourceFile("src/base/kernel/c.ts", 'import { a } from "./a.ts";'),
  ]);
  assertEquals(circle.map(({ where }) => where), ["src/base/kernel/c.ts:1"]);
});

Deno.test("check_house finds unfinished work, any, double casts, lone tests and console", () => {
  const mark = (word: string): string => `// ${word}`;
  assertEquals(
    brokenWords(
      "src/base/kernel/x.ts",
      mark("TO" + "DO later"),
      mark("FIX" + "ME"),
      'throw new Error("not ' + 'implemented");',
      "const a = b as any;",
      "const c: any = d;",
      "const e = f as unknown as string;",
      'Deno.test.only("x", f);',
      "console.log(a);",
      'const currency = "XXX"; // as any word here',
    ),
    [1, 2, 3, 4, 5, 6, 7, 8].map((line) => `src/base/kernel/x.ts:${line}`),
  );
});

Deno.test("check_house wants snake_case names and no drawers", () => {
  for (
    const path of [
      "src/base/kernel/moneyBag.ts",
      "src/base/Kernel/money.ts",
      "src/base/kernel/utils.ts",
      "src/common/x.ts",
    ]
  ) {
    assertEquals(brokenWords(path, ""), [`${path}:1`]);
  }
  assertEquals(brokenWords("tests/base/money.test.ts", ""), []);
});

Deno.test("check_house wants a header, short files and functions, and no Deno", () => {
  const broken = (...lines: readonly string[]): string[] =>
    sourceViolations(sourceFile("src/base/kernel/x.ts", lines.join("\n"))).map(({ where }) =>
      where.split(":")[1] ?? ""
    );
  assertEquals(broken("/** What it decides. */", "", "/** A. */", "export const a = 1;"), []);
  assertEquals(broken("const a = 1;"), ["1"]);
  assertEquals(broken("/** X. */", "export const a = 1;"), []);
  assertEquals(broken("/** X. */", "", "const home = Deno.cwd();", '// Deno KV is "Deno"'), ["3"]);
  const body = Array.from({ length: 40 }, () => "  a();");
  assertEquals(broken("/** X. */", "", "function b(): void {", ...body, "}"), ["3"]);
  assertEquals(broken("/** X. */", ...Array.from({ length: 300 }, () => "a();")), ["300"]);
});

Deno.test("check_house finds commands that give Deno every permission [F7]", () => {
  const everything = [
    "deno run -" + "A x.ts",
    "npx -y deno@2.9.6 test -q" + "A",
    "deno run --allow-" + "all x.ts",
  ];
  for (const command of everything) assertEquals(permissionViolations("run", command).length, 1, command);
  for (const command of ["deno task check | grep -A 2 x", "deno test --allow-read", "curl -A deno"]) {
    assertEquals(permissionViolations("run", command), [], command);
  }
});

Deno.test("src reads the time from the injected clock alone; KV's own expiry excepted [FAPI-G20]", () => {
  const reads = listFiles("src", [".ts", ".tsx"]).map(readSource)
    .filter(({ path }) => !path.startsWith("src/sandbox/") && !path.startsWith("src/client/"))
    .flatMap(({ path, bare }) =>
      [...bare.matchAll(/\bDate\.now\b|\bnew Date\(\)|\bperformance\b/g)].map(() => path)
    );
  assertEquals(reads, ["src/base/kernel/clock.ts", "src/base/kernel/clock.ts", "src/base/store/deno_kv.ts"]);
});
