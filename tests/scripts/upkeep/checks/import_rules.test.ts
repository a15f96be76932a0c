/** The lint rules about imports: the violations that they find in planted files, and what they accept. */
import { assertEquals } from "@std/assert";
import { folderGraph, importCircles, importGraph } from "../../../../scripts/upkeep/checks/import_circles.ts";
import { listFiles } from "../../../../scripts/upkeep/sources/source_files.ts";
import { brokenLines } from "./planted_file.ts";

function brokenImports(path: string, ...lines: readonly string[]): number[] {
  return brokenLines("imports", path, ...lines);
}

Deno.test("house/imports sees imports and re-exports of every form, and none in comments and strings", () => {
  const broken = brokenImports(
    "src/base/kernel/x.ts",
    'import "../http/a.ts";',
    'import type { B } from "../http/b.ts";',
    "import {",
    "  c,",
    "  type D,",
    '} from "../http/c.ts";',
    'import { type E, type F } from "../http/e.ts";',
    'export * from "../http/g.ts";',
    '// import "../http/no.ts";',
    '/* import "../http/no.ts"; */',
    "const text = `",
    'import "../http/no.ts";',
    "${await import('../http/h.ts')}`;",
    "const pattern = /[\"'`]/;",
    'const i = await import("../http/i.ts");',
    "const j = await import(text);",
    'type K = import("../http/k.ts").K;',
    'export { l } from "../http/l.ts";',
    'export type { M } from "../http/m.ts";',
    'const n: typeof import("../http/n.ts") = i;',
  );
  assertEquals(broken, [1, 2, 3, 7, 8, 13, 15, 16, 17, 18, 19, 20]);
});

Deno.test("house/imports lets a file import its own folder, lower levels, and files beside the folders", () => {
  const lines = [
    'import { a } from "./payment.ts";',
    'import { b } from "../../../base/values/money.ts";',
    'import { c } from "../../guards/security/caller.ts";',
    'import { d } from "../consents/consent.ts";',
    'import { e } from "../../../base/store/transaction.ts";',
    'import type { Store } from "../../../base/store/store.ts";',
    'import { type Entry, type Key } from "../../../base/store/store.ts";',
    'import type { Config } from "../../config/config.ts";',
    'import { CODE_SECONDS } from "../../../base/profile.ts";',
  ];
  assertEquals(brokenImports("src/platform/core/payments/create_payment.ts", ...lines), []);
});

Deno.test("house/imports rejects higher levels and folders without a level, in src and in scripts", () => {
  const rejected: readonly (readonly [string, string])[] = [
    ["src/platform/guards/http/x.ts", "../../core/oauth/scopes.ts"],
    ["src/platform/core/consents/x.ts", "../../operations/cases/x.ts"],
    ["src/platform/core/consents/x.ts", "../../novelty/x.ts"],
    ["src/platform/novelty/x.ts", "../core/consents/consent.ts"],
    ["src/base/jose/x.ts", "../store/transaction.ts"],
    ["src/base/kernel/x.ts", "../../../tests/x.ts"],
    ["src/directory/participants/x.ts", "../reminders/reminder.ts"],
    ["scripts/operators/ops/x.ts", "../../proofs/prove/plan.ts"],
    ["scripts/command_line/x.ts", "../testing/keys.ts"],
  ];
  for (const [path, specifier] of rejected) {
    assertEquals(brokenImports(path, "", `import type { A } from "${specifier}";`), [2], path);
  }
});

Deno.test("house/imports keeps database, configuration, jose, Hono and node for the files that may import them", () => {
  const broken = brokenImports(
    "src/platform/core/consents/create_consent.ts",
    'import { openDenoKv } from "../../../base/store/deno_kv.ts";',
    'import { Store } from "../../../base/store/store.ts";',
    'import { readConfig } from "../../config/config.ts";',
    'import { compactVerify } from "jose";',
    'import type { Context } from "hono";',
    'import { z } from "@hono/zod-openapi";',
    'import https from "node:https";',
    'import { steps } from "support/steps.ts";',
    'import { good } from "testing/flows.ts";',
  );
  assertEquals(broken, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  const schema = "src/platform/core/consents/consent_schema.ts";
  assertEquals(
    brokenImports("src/platform/core/consents/routes.ts", 'import type { Context } from "hono";'),
    [],
  );
  assertEquals(brokenImports(schema, 'import { z } from "@hono/zod-openapi";'), []);
  assertEquals(brokenImports(schema, 'import { set } from "../../../base/store/transaction.ts";'), [1]);
  assertEquals(brokenImports("src/base/jose/x.ts", 'import { compactVerify } from "jose";'), []);
});

Deno.test("house/imports keeps the programs apart", () => {
  const broken = brokenImports(
    "src/sandbox/bank/x.ts",
    'import { a } from "../../client/party/profile.ts";',
    'import { b } from "../secrets.ts";',
    'import { c } from "jose";',
    'import { d } from "node:https";',
    'import { e } from "../../base/values/money.ts";',
    'import type { F } from "../../platform/config/paths.ts";',
  );
  assertEquals(broken, [5, 6]);
  const compose = "src/platform/process/compose.ts";
  assertEquals(brokenImports(compose, 'import { a } from "../../sandbox/main.ts";'), [1]);
  assertEquals(brokenImports(compose, 'import { a } from "../../directory/changes/directory.ts";'), [1]);
  assertEquals(brokenImports("src/directory/x.ts", 'import { a } from "../base/jose/rsa_key.ts";'), []);
  assertEquals(brokenImports("src/directory/x.ts", 'import { a } from "../platform/process/host.ts";'), [1]);
});

Deno.test("house/no-store-call finds calls of the store outside the stores", () => {
  const calls = (path: string): number[] =>
    brokenLines(
      "no-store-call",
      path,
      "await deps.store.get<Consent>(key);",
      "await store.commit(tx);",
      "await stores.get(key);",
      "await store",
      "  .list(keys);",
    );
  assertEquals(calls("src/platform/core/consents/x.ts"), [1, 2, 4]);
  for (const path of ["platform/core/consents/consent_store.ts", "base/store/x.ts", "sandbox/shop/x.ts"]) {
    assertEquals(calls(`src/${path}`), [], path);
  }
});

Deno.test("house/imports: documents of docs are imported by the portal's list of them alone [W4]", () => {
  const line = (path: string): number[] =>
    brokenLines("imports", path, 'export { default as a } from "../../docs/a.md" with { type: "text" };');
  assertEquals(line("src/portal/documents.ts"), []);
  assertEquals(line("src/portal/search.ts"), [1]);
  assertEquals(brokenLines("imports", "src/portal/documents.ts", 'import a from "../../docs/a.ts";'), [1]);
});

Deno.test("house/no-barrel finds files that only re-export", () => {
  const barrel = (path: string, ...lines: readonly string[]): number[] =>
    brokenLines("no-barrel", path, ...lines);
  const path = "src/base/kernel/x.ts";
  assertEquals(barrel("src/base/kernel/mod.ts", "export const a = 1;"), [1]);
  assertEquals(barrel(path, 'import "./b.ts";', 'export { a } from "./clock.ts";'), [2]);
  assertEquals(barrel(path, "export const a = 1;", 'export * from "./clock.ts";'), [2]);
  assertEquals(barrel(path, "export const a = 1;", 'export type { B } from "./clock.ts";'), []);
  assertEquals(barrel(path, "const a = 1;", "export { a };"), []);
  assertEquals(barrel(path, 'export { default as a } from "./a.md" with { type: "text" };'), []);
});

Deno.test("a circle of imports is found once, at the import that closes it", () => {
  const graph = new Map([["a.ts", ["b.ts", "d.ts"]], ["b.ts", ["c.ts"]], ["c.ts", ["a.ts"]], ["d.ts", []]]);
  assertEquals(importCircles(graph).map(({ where }) => where), ["c.ts:1"]);
  assertEquals(importCircles(new Map([["a.ts", ["a.ts"]]])).length, 1);
});

Deno.test("a circle of folders is found though no files form one, and a folder counts with those inside it", () => {
  const circle = new Map([
    ["src/platform/core/a/x.ts", ["src/platform/core/b/y.ts"]],
    ["src/platform/core/b/deep/z.ts", ["src/platform/core/a/w.ts"]],
  ]);
  assertEquals(importCircles(circle), []);
  assertEquals(importCircles(folderGraph(circle)).map(({ where }) => where), ["src/platform/core/b:1"]);
  const inside = new Map([["src/base/store/x.ts", ["src/base/store/postgres/y.ts"]], [
    "src/base/store/postgres/y.ts",
    ["src/base/store/z.ts"],
  ]]);
  assertEquals(importCircles(folderGraph(inside)), []);
});

Deno.test("the graph of imports has every file of src, with imports of types and dynamic imports", async () => {
  const graph = await importGraph();
  assertEquals([...graph.keys()].sort(), [
    ...listFiles("scripts", [".ts"]),
    ...listFiles("src", [".ts", ".tsx"]),
  ]);
  assertEquals(graph.get("src/sandbox/bank/page_frame.tsx")?.includes("src/sandbox/pages/reader.ts"), true);
  assertEquals(
    graph.get("src/platform/process/platform_parts.ts")?.includes("src/base/store/store.ts"),
    true,
    "a type",
  );
});
