/** Each test file belongs to one module of `deno task test`. */
import { assertEquals } from "@std/assert";
import { groupsOf } from "testing/group_tests.ts";

Deno.test("test files of a folder share a module, eight at most; those that start processes have their own", () => {
  const inProcess = Array.from({ length: 9 }, (_, index) => `platform/core/oauth/case${index}.test.ts`);
  const groups = groupsOf([
    ...inProcess,
    "journeys/pay.test.ts",
    "platform/process/serve/stop.test.ts",
    "attacks/jwt.test.ts",
    "attacks/fuzz.test.ts",
    "attacks/proxy_nginx.test.ts",
  ]);
  assertEquals(Object.fromEntries(groups), {
    "1 attacks/fuzz": ["attacks/fuzz.test.ts"],
    "1 journeys/pay": ["journeys/pay.test.ts"],
    "2 platform/process/serve 1": ["platform/process/serve/stop.test.ts"],
    "3 attacks 1": ["attacks/jwt.test.ts"],
    "3 attacks/proxy_nginx": ["attacks/proxy_nginx.test.ts"],
    "3 platform/core/oauth 1": inProcess.slice(0, 8),
    "3 platform/core/oauth 2": inProcess.slice(8),
  });
});
