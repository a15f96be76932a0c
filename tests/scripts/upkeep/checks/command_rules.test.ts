/** Commands with every permission, and comments that switch the linter off: which of the planted ones are found. */
import { assertEquals } from "@std/assert";
import { ignoreViolations, permissionViolations } from "../../../../scripts/upkeep/checks/main.ts";

Deno.test("a command that gives Deno every permission is found [F7]", () => {
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

Deno.test("a comment switches off only rules that have exceptions, and gives a reason", () => {
  const broken = (path: string, rest: string): number =>
    ignoreViolations(path, `a();\n  // deno-lint-${"ignore"}${rest}\nb();`).length;
  const bad = [
    "",
    "-file",
    "-file -- all of it",
    " house/imports -- a reason",
    "-file house/no-deno -- a reason",
    " require-await, house/imports -- a reason",
    " no-console -- a reason",
    " require-await",
    " require-await --",
    " no-explicit-any -- a reason",
    " explicit-module-boundary-types -- a reason",
  ];
  for (const rest of bad) assertEquals(broken("src/x.ts", rest), 1, rest);
  for (const rest of ["-file require-await -- a reason", " require-await -- a reason"]) {
    assertEquals(broken("src/x.ts", rest), 0, rest);
  }
  assertEquals(broken("tests/x.test.ts", " no-explicit-any -- a reason"), 0);
  const parts = "src/platform/process/shared_parts.ts";
  assertEquals(broken(parts, " explicit-module-boundary-types -- the list is the type"), 0);
});
